//! The messages about sources, with their positions.

use super::{expect_problems, load_text, problem_lines};

#[test]
fn unknown_and_missing_kinds() {
    let kinds = "remote, files, capability-index, memory, prompts";
    let unknown = format!("1:23: `sources.a.kind`: unknown value `fiddle`; use one of {kinds}");
    let missing = format!(
        "1:12: `sources.a`: `kind` is missing; use one of {kinds}, or name a server with `command` or `url`"
    );
    expect_problems(&[
        ("sources: { a: { kind: fiddle } }\n", unknown.as_str()),
        ("sources: { a: {} }\n", missing.as_str()),
        (
            "sources: { a: { comand: npx } }\n",
            "1:17: unknown field `sources.a.comand`; did you mean `command`?",
        ),
        (
            "sources: { a: { knd: memory } }\n",
            "1:17: unknown field `sources.a.knd`; did you mean `kind`?",
        ),
        (
            "sources: { a: { command: npx, endpont: {} } }\n",
            "1:31: unknown field `sources.a.endpont`; did you mean `endpoint`?",
        ),
        (
            "sources: { a: { command: npx, call_timout: 5s } }\n",
            "1:31: unknown field `sources.a.call_timout`; did you mean `call_timeout`?",
        ),
        (
            "sources: { a: { command: npx, quota: {} } }\n",
            "1:31: unknown field `sources.a.quota`; `tidegate schema` lists all fields",
        ),
        (
            "sources: { a: { kind: memory, command: npx } }\n",
            "1:31: unknown field `sources.a.command`; use one of kind, endpoint, quota",
        ),
    ]);
}

#[test]
fn fields_of_built_in_sources() {
    expect_problems(&[
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
            "1:53: `sources.a.quota.max_entries`: 0 is out of range; use 1 to 1000000",
        ),
        (
            "sources: { a: { kind: memory, quota: { max_value_bytes: 1GiB } } }\n",
            "1:57: `sources.a.quota.max_value_bytes`: 1GiB is out of range; use 64 to 64MiB",
        ),
        (
            "sources: { a: { kind: files } }\n",
            "1:15: `sources.a`: the field `folder` is missing; add it",
        ),
        (
            "sources: { a: { kind: files, folder: '' } }\n",
            "1:38: `sources.a.folder`: the path is empty; name a folder",
        ),
        (
            "sources: { a: { kind: files, folder: ., exclude: [x, '[z-a]'] } }\n",
            "1:54: `sources.a.exclude`: `[z-a]` is not a valid pattern: invalid range; 'z' > 'a'",
        ),
        (
            "sources: { a: { kind: files, folder: ., exclude: ['secret[0-9.txt'] } }\n",
            "1:51: `sources.a.exclude`: `secret[0-9.txt` is not a valid pattern: unclosed bracket",
        ),
        (
            "sources:\n  a:\n    kind: files\n    folder: .\n    include:\n      - '*.md'\n      - '#x'\n",
            "7:9: `sources.a.include`: `#x` is not a valid pattern: it is a comment; write `\\#` for a \
             name that starts with `#`",
        ),
        (
            "sources: { a: { kind: files, folder: ., max_file_bytes: 0 } }\n",
            "1:57: `sources.a.max_file_bytes`: 0 is out of range; use 1 to 256MiB",
        ),
        (
            "sources: { a: { kind: files, folder: ., max_files: 0 } }\n",
            "1:52: `sources.a.max_files`: 0 is out of range; use 1 to 1000000",
        ),
        (
            "sources: { a: { kind: prompts, folder: '' } }\n",
            "1:40: `sources.a.folder`: the path is empty; name a folder",
        ),
    ]);
}

#[test]
fn an_unknown_field_in_place_of_a_required_one() {
    let problems = problem_lines(load_text("sources: { a: { kind: prompts, root: . } }\n"));
    assert_eq!(
        problems,
        [
            "tidegate.yaml:1:15: `sources.a`: the field `folder` is missing; add it",
            "tidegate.yaml:1:32: unknown field `sources.a.root`; use one of kind, endpoint, folder",
            "2 problems in the configuration",
        ]
    );
}

#[test]
fn fields_of_remote_servers() {
    expect_problems(&[
        (
            "sources: { a: { command: npx, url: \"http://x\" } }\n",
            "1:12: `sources.a`: both `command` and `url` are set; keep one",
        ),
        (
            "sources: { a: { kind: remote } }\n",
            "1:12: `sources.a`: `command` or `url` is missing; name a program or a server",
        ),
        (
            "sources: { a: { url: \"ftp://x\" } }\n",
            "1:22: `sources.a.url`: `ftp://x` is not an http or https URL",
        ),
        (
            "sources: { a: { url: \"https://ada:hunter2@x/mcp\" } }\n",
            "1:22: `sources.a.url`: the URL contains a user name; send credentials in `headers` instead",
        ),
        (
            "sources: { a: { url: \"https://ada:hun ter2@x/mcp\" } }\n",
            "1:22: `sources.a.url`: not an http or https URL",
        ),
        (
            "sources: { a: { url: \"http://x\", ca: b.pem } }\n",
            "1:38: `sources.a.ca`: needs an `https` URL; remove it, or use https",
        ),
        (
            "sources: { a: { command: npx, ca: b.pem } }\n",
            "1:12: `sources.a`: `headers` and `ca` need a `url`; remove them, or replace `command` by `url`",
        ),
        (
            "sources: { a: { url: \"http://x\", headers: { \"bad header\": x } } }\n",
            "1:59: `sources.a.headers.bad header`: not a valid header name",
        ),
        (
            "sources: { a: { url: \"http://x\", headers: { Mcp-Method: x } } }\n",
            "1:57: `sources.a.headers.Mcp-Method`: the gateway sets this header itself; remove it",
        ),
        (
            "sources: { a: { url: \"http://x\", headers: { X-A: \"a\\nb\" } } }\n",
            "1:50: `sources.a.headers.X-A`: the value contains a line break or another character \
             that headers cannot carry",
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
            "1:39: `sources.a.ca`: the file `tidegate.yaml` contains no certificate in PEM format",
        ),
        (
            "sources: { a: { url: \"http://x\", args: [b] } }\n",
            "1:12: `sources.a`: `args`, `env` and `cwd` need a `command`; remove them, or replace `url` by `command`",
        ),
        (
            "sources: { a: { command: npx, args: [x, '${env:NOPE}'] } }\n",
            "1:41: `sources.a.args`: the environment variable `NOPE` is not set",
        ),
        (
            "sources: { a: { url: 'http://x/${env:NOPE}' } }\n",
            "1:22: `sources.a.url`: the environment variable `NOPE` is not set",
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
        let problems = problem_lines(load_text(&format!("sources: {{ {id}: {{ kind: x }} }}\n")));
        let expected =
            format!("tidegate.yaml:1:12: the source id `{id}` is reserved; choose another");
        assert_eq!(problems[0], expected);
    }
    for id in ["A", "a_b", "1a", "a.b", &"a".repeat(33)] {
        let problems = problem_lines(load_text(&format!("sources: {{ {id}: {{ kind: x }} }}\n")));
        let expected = format!(
            "tidegate.yaml:1:12: `{id}` is not a valid source id; use a lower-case letter, then \
             up to 31 of a-z 0-9 -"
        );
        assert_eq!(problems[0], expected);
    }
}

#[test]
fn servers_of_clients() {
    expect_problems(&[
        (
            "sources: { a: { command: x } }\nmcpServers: { a: { command: y } }\n",
            "2:15: `a`: the source id `a` is already used; rename one of them",
        ),
        (
            "mcpServers: { a: { comand: x } }\n",
            "1:20: unknown field `mcpServers.a.comand`; did you mean `command`?",
        ),
        (
            "mcpServers: { a: { command: x, arg: [y] } }\n",
            "1:32: unknown field `mcpServers.a.arg`; did you mean `args`?",
        ),
        (
            "mcpServers: { a: { type: http } }\n",
            "1:15: `mcpServers.a`: `command` or `url` is missing; name a program or a server",
        ),
    ]);
}
