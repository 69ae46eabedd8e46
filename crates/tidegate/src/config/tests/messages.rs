//! Every message about a file, with its place.

use super::{lines, load_text, only_problem};

fn expect(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(
            only_problem(load_text(text)),
            format!("tidegate.yaml:{expected}"),
            "{text}"
        );
    }
}

#[test]
fn of_the_notation() {
    expect(&[
        ("listen: [1\n", "1:9: unclosed bracket '['"),
        (
            "a:\n\tb: 1\n",
            "2:2: tabs disallowed within this context (block indentation)",
        ),
        (
            "listen: x\n---\n{}\n",
            "3:1: only single YAML document expected but multiple found",
        ),
        ("listen: *x\n", "1:9: reference to unknown value"),
        (
            "auth: { keys: { ada: ${env:X} } }\n",
            "1:23: while parsing a flow mapping, did not find expected ',' or '}'; write \
             references in quotes: \"${env:NAME}\"",
        ),
        (
            "- listen\n",
            "1:1: the file: expected a mapping of fields, found a list",
        ),
    ]);
}

#[test]
fn of_fields() {
    expect(&[
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
            "1:1: unknown field `servers`; `tidegate schema` prints the fields there are",
        ),
        (
            "log: { levle: info }\n",
            "1:8: unknown field `log.levle`; did you mean `level`?",
        ),
        (
            "log: { file: x }\n",
            "1:8: unknown field `log.file`; the fields here are level, format",
        ),
        (
            "limits:\n  tools: 5\n",
            "2:3: unknown field `limits.tools`; `tidegate schema` prints the fields there are",
        ),
        (
            "legacy_sse: true\nlegacy_sse: false\n",
            "2:1: `legacy_sse` is already set in line 1; keep one of the two",
        ),
        (
            "log:\n  level: info\n  format: json\n  level: warn\n",
            "4:3: `level` is already set in line 2; keep one of the two",
        ),
        (
            "1: x\n",
            "1:1: unknown field `1`; `tidegate schema` prints the fields there are",
        ),
    ]);
}

#[test]
fn of_types() {
    expect(&[
        (
            "legacy_sse: yes\n",
            "1:13: `legacy_sse`: expected true or false, found text",
        ),
        (
            "legacy_sse: 1\n",
            "1:13: `legacy_sse`: expected true or false, found a number",
        ),
        (
            "listen: [a]\n",
            "1:9: `listen`: expected text, found a list",
        ),
        ("listen: true\n", "1:9: `listen`: expected text, found true"),
        (
            "public_url: 1.5\n",
            "1:13: `public_url`: expected text, found a number with a fraction",
        ),
        (
            "allowed_hosts: a\n",
            "1:16: `allowed_hosts`: expected a list, found text",
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
        ("auth: {}\n", "1:7: `auth` needs the field `keys`"),
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
fn of_listen() {
    const EXAMPLE: &str = "write an IP address and a port such as `127.0.0.1:8080` (names other \
                           than `localhost` are not looked up)";
    const WHICH: &str = "does not say which address; write `127.0.0.1:8080` for this machine \
                         alone or `0.0.0.0:8080` for every network";
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
fn of_an_address_that_is_open_to_all() {
    for address in [
        "0.0.0.0:8080",
        "[::]:80",
        "192.168.1.5:8080",
        "[::ffff:10.0.0.1]:80",
    ] {
        let problem = only_problem(load_text(&format!("listen: '{address}'\n")));
        let expected = format!(
            "tidegate.yaml:1:9: anyone who reaches {address} could use this gateway; name keys \
             under `auth.keys`, or start with --insecure if the network keeps others out"
        );
        assert_eq!(problem, expected);
    }
}

#[test]
fn of_names_on_the_web() {
    expect(&[
        (
            "public_url: mcp.example.com\n",
            "1:13: `mcp.example.com` is not a URL; write it like `https://mcp.example.com`",
        ),
        (
            "allowed_hosts:\n  - ok.example\n  - a b\n",
            "3:5: `a b` is not a host; write `example.com` or `example.com:8443`",
        ),
        (
            "allowed_origins: ['*']\n",
            "1:19: `*` has a wildcard, which would let any web page in; write \
             `https://example.com`",
        ),
    ]);
}

#[test]
fn of_limits() {
    expect(&[
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
            "1:30: `limits.max_message_bytes` is 0; it must be from 1KiB to 1GiB",
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
            "limits: { keep_alive_interval: 0s }\n",
            "1:32: `limits.keep_alive_interval` is 0s; it must be from 100ms to 1h",
        ),
        (
            "limits: { max_concurrent_calls: 0 }\n",
            "1:33: `limits.max_concurrent_calls` is 0; it must be from 1 to 1000000",
        ),
        (
            "limits: { max_concurrent_calls: -1 }\n",
            "1:33: `limits.max_concurrent_calls`: expected a whole number, found a negative number",
        ),
        (
            "limits: { max_concurrent_calls: many }\n",
            "1:33: `limits.max_concurrent_calls`: expected a whole number, found text",
        ),
        (
            "limits: { call_timeout: 11m }\n",
            "1:25: `limits.call_timeout` (11m) is longer than `limits.max_call_duration` (10m); raise \
             the one or lower the other",
        ),
        (
            "limits: { max_call_duration: 30s }\n",
            "1:30: `limits.call_timeout` (1m) is longer than `limits.max_call_duration` (30s); raise the \
             one or lower the other",
        ),
    ]);
}

#[test]
fn of_kinds() {
    let kinds = "remote, files, capability-index, memory, prompts";
    let unknown = format!("1:23: `sources.a.kind`: unknown value `fiddle`; use one of {kinds}");
    let missing = format!("1:12: `sources.a` needs a `kind`: one of {kinds}");
    expect(&[
        ("sources: { a: { kind: fiddle } }\n", unknown.as_str()),
        ("sources: { a: {} }\n", missing.as_str()),
    ]);
}

#[test]
fn of_folders() {
    expect(&[
        (
            "sources: { a: { kind: memry } }\n",
            "1:23: `sources.a.kind`: unknown value `memry`; did you mean `memory`?",
        ),
        (
            "sources: { a: { kind: memory, quotas: {} } }\n",
            "1:31: unknown field `sources.a.quotas`; did you mean `quota`?",
        ),
        (
            "sources: { a: { kind: memory, quota: { max_entries: 0 } } }\n",
            "1:53: `sources.a.quota.max_entries` is 0; it must be from 1 to 1000000",
        ),
        (
            "sources: { a: { kind: memory, quota: { max_value_bytes: 1GiB } } }\n",
            "1:57: `sources.a.quota.max_value_bytes` is 1GiB; it must be from 64 to 64MiB",
        ),
        (
            "sources: { a: { kind: files } }\n",
            "1:15: `sources.a` needs the field `root`",
        ),
        (
            "sources: { a: { kind: files, root: '' } }\n",
            "1:36: `sources.a.root` is empty; name a folder",
        ),
        (
            "sources: { a: { kind: files, root: ., exclude: [x, '[z-a]'] } }\n",
            "1:52: `sources.a.exclude`: `[z-a]` is no pattern: invalid range; 'z' > 'a'",
        ),
        (
            "sources: { a: { kind: files, root: ., exclude: ['secret[0-9.txt'] } }\n",
            "1:49: `sources.a.exclude`: `secret[0-9.txt` is no pattern: a bracket is not closed",
        ),
        (
            "sources:\n  a:\n    kind: files\n    root: .\n    include:\n      - '*.md'\n      - '#x'\n",
            "7:9: `sources.a.include`: `#x` is no pattern: it is a comment; a name that begins with \
             `#` is written with `\\#`",
        ),
        (
            "sources: { a: { kind: files, root: ., max_file_bytes: 0 } }\n",
            "1:55: `sources.a.max_file_bytes` is 0; it must be from 1 to 256MiB",
        ),
        (
            "sources: { a: { kind: files, root: ., max_files: 0 } }\n",
            "1:50: `sources.a.max_files` is 0; it must be from 1 to 1000000",
        ),
        (
            "sources: { a: { kind: prompts, root: . } }\n",
            "1:32: unknown field `sources.a.root`; the fields here are folder",
        ),
        (
            "sources: { a: { kind: prompts, folder: '' } }\n",
            "1:40: `sources.a.folder` is empty; name a folder",
        ),
    ]);
}

#[test]
fn of_sources() {
    expect(&[
        (
            "sources: { a: { command: npx, url: \"http://x\" } }\n",
            "1:12: `sources.a` has both `command` and `url`; keep one",
        ),
        (
            "sources: { a: { kind: remote } }\n",
            "1:12: `sources.a` needs a `command` to run or the `url` of a server",
        ),
        (
            "sources: { a: { url: \"ftp://x\" } }\n",
            "1:12: `sources.a` has the url `ftp://x`, which is no http or https address",
        ),
        (
            "sources: { a: { url: \"https://ada:hunter2@x/mcp\" } }\n",
            "1:12: `sources.a` has a user name in its `url`; give it in `headers` instead",
        ),
        (
            "sources: { a: { url: \"https://ada:hun ter2@x/mcp\" } }\n",
            "1:12: `sources.a` has a `url` that is no http or https address",
        ),
        (
            "sources: { a: { url: \"http://x\", ca: b.pem } }\n",
            "1:12: `sources.a` has `ca`, which goes with a `url` of https",
        ),
        (
            "sources: { a: { command: npx, ca: b.pem } }\n",
            "1:12: `sources.a` has `headers` or `ca`, which go with `url`",
        ),
        (
            "sources: { a: { url: \"http://x\", headers: { \"bad header\": x } } }\n",
            "1:12: `sources.a` has the header `bad header`, which is no name of a header",
        ),
        (
            "sources: { a: { url: \"http://x\", headers: { Mcp-Method: x } } }\n",
            "1:12: `sources.a` has the header `Mcp-Method`, which the gateway sets itself",
        ),
        (
            "sources: { a: { url: \"http://x\", headers: { X-A: \"a\\nb\" } } }\n",
            "1:50: `sources.a.headers.X-A`: the value has a line break or another character that no \
             header can have",
        ),
        (
            "mcpServers: { a: { command: x, env: { T: \"x ${env:NOPE}\" } } }\n",
            "1:42: `mcpServers.a.env.T`: the environment variable `NOPE` is not set",
        ),
        (
            "sources: { a: { url: \"https://x\", ca: b.pem } }\n",
            "1:39: `sources.a.ca`: cannot read the file `b.pem`: No such file or directory (os \
             error 2)",
        ),
        (
            "sources: { a: { url: \"https://x\", ca: tidegate.yaml } }\n",
            "1:39: `sources.a.ca`: the file `tidegate.yaml` has no certificate in PEM form",
        ),
        (
            "sources: { a: { url: \"http://x\", args: [b] } }\n",
            "1:12: `sources.a` has `args`, `env` or `cwd`, which go with `command`",
        ),
        (
            "sources: { a: { command: npx, arg: [b] } }\n",
            "1:31: unknown field `sources.a.arg`; did you mean `args`?",
        ),
        (
            "sources: { a: { command: npx, env: { T: \"${env:NOPE}\" } } }\n",
            "1:41: `sources.a.env.T`: the environment variable `NOPE` is not set",
        ),
    ]);
    for id in ["gateway", "plugin", "system", "ui"] {
        let lines = lines(load_text(&format!("sources: {{ {id}: {{ kind: x }} }}\n")));
        let expected = format!(
            "tidegate.yaml:1:12: the id `{id}` is taken by Tidegate itself; choose another"
        );
        assert_eq!(lines[0], expected);
    }
    for id in ["A", "a_b", "1a", "a.b", &"a".repeat(33)] {
        let lines = lines(load_text(&format!("sources: {{ {id}: {{ kind: x }} }}\n")));
        let expected = format!(
            "tidegate.yaml:1:12: `{id}` cannot be the id of a source; use a lower-case letter, \
             then up to 31 of a-z 0-9 -"
        );
        assert_eq!(lines[0], expected);
    }
}

#[test]
fn of_servers_as_clients_write_them() {
    expect(&[
        (
            "sources: { a: { command: x } }\nmcpServers: { A: { command: y } }\n",
            "2:15: `A` would be the source `a`, which is there already; rename one of them",
        ),
        (
            "mcpServers: { System: { command: y } }\n",
            "1:15: the id `system` is taken by Tidegate itself; choose another",
        ),
        (
            "mcpServers: { a: { type: http } }\n",
            "1:15: `mcpServers.a` needs a `command` to run or the `url` of a server",
        ),
    ]);
    let text = r#"{"mcpServers": {"My Server": {"command": "npx", "args": ["-y", "x"], "alwaysAllow": []},
        "off": {"command": "x", "disabled": true}, "web": {"type": "http", "url": "https://x/mcp"}}}"#;
    let settings = load_text(text).unwrap();
    let ids: Vec<_> = settings
        .sources
        .iter()
        .map(|source| source.id.as_str())
        .collect();
    assert_eq!(ids, ["my-server", "web"]);
}

#[test]
fn all_at_once_in_the_order_of_the_file() {
    let text = "listen: :80\nlisen: x\nlimits:\n  max_concurrent_calls: 0\n  shutdown_timeout: 30\nlimits: {}\n\
                auth: { keys: { local: secret } }\nlegacy_sse: maybe\n";
    let starts: Vec<String> = lines(load_text(text))
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
fn never_show_a_secret() {
    for text in [
        "auth: { keys: { ada: hunter2hunter2hunter2 } }\n",
        "auth: { keys: { ada: [hunter2hunter2hunter2] } }\n",
        "auth: { keys: { ada: { hunter2hunter2hunter2: x } } }\n",
        "auth: { keys: { ada: '${vault:hunter2}' } }\n",
        "auth: { keys: hunter2 }\n",
        "auth: hunter2\n",
    ] {
        let shown = lines(load_text(text)).join("\n");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
