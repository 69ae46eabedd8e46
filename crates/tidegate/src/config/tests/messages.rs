//! The messages about a file, with their positions. Messages about sources are in
//! `source_messages`.

use super::{expect_problems, load_text, only_problem, problem_lines};

#[test]
fn syntax_errors() {
    expect_problems(&[
        ("listen: [1\n", "1:9: the list `[` is not closed; add `]`"),
        (
            "a:\n\tb: 1\n",
            "2:2: tabs cannot be used for indentation; use spaces",
        ),
        (
            "listen: x\n---\n{}\n",
            "3:1: the file contains several YAML documents; remove the line `---`",
        ),
        (
            "listen: *x\n",
            "1:9: `*` refers to an anchor that the file does not define; write a text that starts \
             with `*` in quotes",
        ),
        (
            "listen: 'x\n",
            "2:1: the text in quotes is not closed; add the closing quote",
        ),
        (
            "listen: a: b\n",
            "1:10: unexpected `:`; write a value that contains `: ` in quotes, or check the \
             indentation",
        ),
        (
            "log:\n  level: info\n format: text\n",
            "3:2: expected `key: value`; check that the line is indented like the others of its mapping",
        ),
        (
            "auth: { keys: { ada: ${env:X} } }\n",
            "1:23: expected `,` or `}`; inside `{ }`, write text that contains `{`, `}` or `,` in \
             quotes; write references in quotes: \"${env:NAME}\"",
        ),
        (
            "- listen\n",
            "1:1: the file: expected a mapping of fields, found a list",
        ),
    ]);
}

#[test]
fn unknown_and_duplicate_fields() {
    expect_problems(&[
        (
            "\n  lisen: x\n",
            "2:3: unknown field `lisen`; did you mean `listen`?",
        ),
        (
            "publicUrl: x\n",
            "1:1: unknown field `publicUrl`; did you mean `public_url`?",
        ),
        (
            "servers: {}\n",
            "1:1: unknown field `servers`; `tidegate schema` lists all fields",
        ),
        (
            "log: { levle: info }\n",
            "1:8: unknown field `log.levle`; did you mean `level`?",
        ),
        (
            "log: { file: x }\n",
            "1:8: unknown field `log.file`; use one of level, format",
        ),
        (
            "limits:\n  tools: 5\n",
            "2:3: unknown field `limits.tools`; `tidegate schema` lists all fields",
        ),
        (
            "legacy_sse: true\nlegacy_sse: false\n",
            "2:1: `legacy_sse` is already set in line 1; remove one",
        ),
        (
            "log:\n  level: info\n  format: json\n  level: warn\n",
            "4:3: `level` is already set in line 2; remove one",
        ),
        (
            "1: x\n",
            "1:1: unknown field `1`; `tidegate schema` lists all fields",
        ),
    ]);
}

#[test]
fn wrong_types() {
    expect_problems(&[
        (
            "legacy_sse: yes\n",
            "1:13: `legacy_sse`: expected true or false, found text; did you mean `true`?",
        ),
        (
            "legacy_sse: 1\n",
            "1:13: `legacy_sse`: expected true or false, found a number",
        ),
        (
            "listen: [a]\n",
            "1:9: `listen`: expected text, found a list",
        ),
        (
            "listen: true\n",
            "1:9: `true` is not an address; write an IP address and a port such as \
             `127.0.0.1:8080` (host names other than `localhost` are not resolved)",
        ),
        (
            "public_url: 1.5\n",
            "1:13: `public_url`: expected text, found a number with a fraction; write it in quotes",
        ),
        (
            "allowed_hosts: a\n",
            "1:16: `allowed_hosts`: expected a list, found text; write it in brackets: `[a, b]`",
        ),
        (
            "allowed_hosts: [a, {}]\n",
            "1:20: `allowed_hosts`: expected text, found a mapping",
        ),
        (
            "log: debug\n",
            "1:6: `log`: expected a mapping of fields, found text",
        ),
        (
            "log: { level: 3 }\n",
            "1:15: `log.level`: expected one of error, warn, info, debug, trace",
        ),
        (
            "log: { level: wran }\n",
            "1:15: `log.level`: unknown value `wran`; did you mean `warn`?",
        ),
        (
            "log: { format: xml }\n",
            "1:16: `log.format`: unknown value `xml`; use one of text, json",
        ),
        (
            "auth:\n",
            "1:5: `auth`: expected a mapping of fields, found nothing",
        ),
        (
            "auth: {}\n",
            "1:7: `auth`: the field `keys` is missing; add it",
        ),
        (
            "auth: { keys: }\n",
            "1:13: `auth.keys`: expected a mapping, found nothing",
        ),
        (
            "sources: [a]\n",
            "1:10: `sources`: expected a mapping, found a list",
        ),
        (
            "sources: { a: b }\n",
            "1:15: `sources.a`: expected a mapping of fields, found text",
        ),
    ]);
}

#[test]
fn invalid_listen_addresses() {
    const EXAMPLE: &str = "write an IP address and a port such as `127.0.0.1:8080` (host names \
                           other than `localhost` are not resolved)";
    const WHICH: &str = "has no address; write `127.0.0.1:8080` for this machine only, or \
                         `0.0.0.0:8080` for all networks";
    for (value, expected) in [
        (":8080", format!("`:8080` {WHICH}")),
        ("8080", format!("`8080` {WHICH}")),
        (
            "127.0.0.1",
            "`127.0.0.1` has no port; write `127.0.0.1:8080`".to_owned(),
        ),
        ("'::1'", "`::1` has no port; write `[::1]:8080`".to_owned()),
        (
            "localhost",
            "`localhost` has no port; write `localhost:8080`".to_owned(),
        ),
        (
            "http://127.0.0.1:8080",
            "`http://127.0.0.1:8080` is a URL; write an address and a port such as \
             `127.0.0.1:8080` (the URL that clients use is `public_url`)"
                .to_owned(),
        ),
        (
            "example.com:80",
            format!("`example.com:80` is not an address; {EXAMPLE}"),
        ),
        (
            "localhost:99999",
            format!("`localhost:99999` is not an address; {EXAMPLE}"),
        ),
        ("''", format!("`` is not an address; {EXAMPLE}")),
    ] {
        let problem = only_problem(load_text(&format!("listen: {value}\n")));
        assert_eq!(problem, format!("tidegate.yaml:1:9: {expected}"));
    }
}

#[test]
fn addresses_that_need_authentication() {
    for address in [
        "0.0.0.0:8080",
        "[::]:80",
        "192.168.1.5:8080",
        "[::ffff:10.0.0.1]:80",
    ] {
        let problem = only_problem(load_text(&format!("listen: '{address}'\n")));
        let expected = format!(
            "tidegate.yaml:1:9: other machines can reach {address} without authentication; \
             add keys to `auth.keys`, or start with --insecure if the network itself is protected"
        );
        assert_eq!(problem, expected);
    }
}

#[test]
fn invalid_hosts_origins_and_urls() {
    expect_problems(&[
        (
            "public_url: mcp.example.com\n",
            "1:13: `public_url`: `mcp.example.com` is not a URL; write it like `https://mcp.example.com`",
        ),
        (
            "allowed_hosts:\n  - ok.example\n  - a b\n",
            "3:5: `allowed_hosts`: `a b` is not a host; write `example.com` or `example.com:8443`",
        ),
        (
            "allowed_origins: ['*']\n",
            "1:19: `allowed_origins`: `*` has a wildcard, which would accept any web page; write \
             `https://example.com`",
        ),
    ]);
}

#[test]
fn limits_out_of_range() {
    expect_problems(&[
        (
            "limits: { max_message_bytes: 4M }\n",
            "1:30: `limits.max_message_bytes`: `4M` is not a size; write `65536`, `64KiB`, `4MiB` or \
             `1GiB`",
        ),
        (
            "limits: { max_message_bytes: -4 }\n",
            "1:30: `limits.max_message_bytes`: expected a size such as `4MiB`, found a negative number",
        ),
        (
            "limits: { max_message_bytes: 0 }\n",
            "1:30: `limits.max_message_bytes`: 0 is out of range; use 1KiB to 1GiB",
        ),
        (
            "limits: { shutdown_timeout: 30 }\n",
            "1:29: `limits.shutdown_timeout`: `30` has no unit; for seconds write `30s`",
        ),
        (
            "limits: { shutdown_timeout: soon }\n",
            "1:29: `limits.shutdown_timeout`: `soon` is not a duration; write `500ms`, `30s`, `5m` or `1h`",
        ),
        (
            "limits: { shutdown_timeout: true }\n",
            "1:29: `limits.shutdown_timeout`: expected a duration such as `30s`, found true",
        ),
        (
            "limits: { shutdown_timeout: 2M }\n",
            "1:29: `limits.shutdown_timeout`: `2M`: the unit `M` is ambiguous; write `2m` for \
             minutes, or days (`d`) for longer times",
        ),
        (
            "limits: { keep_alive_interval: 0s }\n",
            "1:32: `limits.keep_alive_interval`: 0s is out of range; use 100ms to 1h",
        ),
        (
            "limits: { max_concurrent_calls: 0 }\n",
            "1:33: `limits.max_concurrent_calls`: 0 is out of range; use 1 to 1000000",
        ),
        (
            "limits: { max_concurrent_calls: -1 }\n",
            "1:33: `limits.max_concurrent_calls`: expected a whole number, found a negative number",
        ),
        (
            "limits: { max_concurrent_calls: many }\n",
            "1:33: `limits.max_concurrent_calls`: expected a whole number, found text; write it in digits, without quotes",
        ),
        (
            "limits: { call_timeout: 5h }\n",
            "1:25: `limits.call_timeout`: `call_timeout` (5h) is longer than `max_call_duration` \
             (4h); lower it, or raise `max_call_duration`",
        ),
        (
            "limits: { max_call_duration: 30s, call_timeout: 1m }\n",
            "1:49: `limits.call_timeout`: `call_timeout` (1m) is longer than `max_call_duration` \
             (30s); lower it, or raise `max_call_duration`",
        ),
    ]);
}

#[test]
fn all_problems_in_the_order_of_the_file() {
    let text = "listen: :80\nlisen: x\nlimits:\n  max_concurrent_calls: 0\n  shutdown_timeout: 30\nlimits: {}\n\
                auth: { keys: { local: secret } }\nlegacy_sse: maybe\n";
    let starts: Vec<String> = problem_lines(load_text(text))
        .iter()
        .map(|line| line.split_inclusive(['`', ' ']).take(4).collect::<String>())
        .collect();
    let places = ["1:9", "2:1", "4:25", "5:21", "6:1", "7:17", "7:24", "8:13"];
    assert_eq!(starts.len(), places.len() + 1, "{starts:#?}");
    for (start, place) in starts.iter().zip(places) {
        assert!(
            start.starts_with(&format!("tidegate.yaml:{place}: ")),
            "{start} is not {place}"
        );
    }
    assert!(starts[places.len()].starts_with("8 problems in the"));
}

#[test]
fn never_shows_a_secret() {
    for text in [
        "auth: { keys: { ada: hunter2hunter2hunter2 } }\n",
        "auth: { keys: { ada: [hunter2hunter2hunter2] } }\n",
        "auth: { keys: { ada: { hunter2hunter2hunter2: x } } }\n",
        "auth: { keys: { ada: '${vault:hunter2}' } }\n",
        "auth: { keys: hunter2 }\n",
        "auth: hunter2\n",
    ] {
        let shown = problem_lines(load_text(text)).join("\n");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
