//! One-shot commands, in a temporary gateway and at a running one.

use std::io::pipe;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::messages::and_gateway_tools;
use crate::support::proc::{Proc, has_child_guard, poll_for};
use crate::support::tools::Tools;
use crate::support::{Ended, Home, Running, Server};

/// Runs the program with these arguments.
type Run<'a> = dyn Fn(&[&str]) -> Ended + 'a;

/// A home whose configuration has the demo server and additional sources.
fn home(more: &str) -> Home {
    let home = Home::new();
    let command = demo_command(&home);
    let program = command.get_program().to_str().unwrap();
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_str().unwrap())
        .collect();
    let demo = json!({ "command": program, "args": args });
    write_config(&home, &demo, more);
    home
}

fn demo_command(home: &Home) -> Command {
    Tools::find().python_peer(home, "python-v1", "demo_server.py")
}

fn write_config(home: &Home, demo: &Value, more: &str) {
    // Small pages, so that every list has several.
    let limits = "limits: { startup_wait: 2m, page_size: 2 }";
    let text = format!("{limits}\nsources:\n  demo: {demo}\n{more}");
    home.write("tidegate.yaml", &text);
}

/// Checks a command in a temporary gateway and at a running one.
fn in_both_gateways(checks: &[fn(&Run<'_>)]) {
    let home = Home::new();
    // Over HTTP, because each temporary gateway would start another process.
    let demo = Running::start(demo_command(&home).arg("--http"));
    let url = demo.stdout.find("http://");
    write_config(&home, &json!({ "url": url }), "");
    let server = Server::start_in(home, &[]);
    // An invalid configuration file, which must not matter.
    let elsewhere = Home::with_config("wrong: yes");
    let url = server.url();
    for check in checks {
        check(&|args| server.home.run(args));
        check(&|args| elsewhere.run(&[args, &["--url", &url]].concat()));
    }
    server.stop();
}

#[track_caller]
fn assert_prints(ended: Ended, stdout: &str) {
    let ended = ended.expect_code(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), (stdout, ""));
}

#[track_caller]
fn parsed(ended: Ended) -> Value {
    let ended = ended.expect_code(0);
    assert_eq!(ended.stderr, "");
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Panics unless the command failed with this code and message and printed no data.
#[track_caller]
fn assert_fails(ended: Ended, code: i32, parts: &[&str]) {
    let ended = ended.expect_code(code);
    assert_eq!(ended.stdout, "");
    for part in parts {
        assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
    }
}

fn keys(entries: &Value, key: &str) -> Vec<String> {
    let entries = entries.as_array().unwrap().iter();
    let key = |entry: &Value| entry[key].as_str().unwrap().to_owned();
    entries.map(key).collect()
}

#[test]
fn everything_is_listed() {
    in_both_gateways(&[
        |run| {
            let all = parsed(run(&["sources", "--json"]));
            let demo = &all["sources"][0];
            assert_eq!(demo["status"], "healthy");
            assert_eq!(demo["message"], "ok");
            let listed = parsed(run(&["ls", "--json"]));
            let tools = keys(&listed["tools"], "name");
            let tools = tools.iter().filter(|name| name.starts_with("demo__"));
            assert_eq!(demo["tools"], tools.count());
            assert_eq!(demo["prompts"], listed["prompts"].as_array().unwrap().len());
            let templates = keys(&listed["templates"], "uriTemplate");
            let templates = templates.iter().filter(|text| text.starts_with("note://"));
            assert_eq!(demo["templates"], templates.count());
            assert_eq!(keys(&all["sources"], "name"), ["demo", "system"]);
            let text = run(&["sources"]).expect_code(0).stdout;
            assert!(text.contains("\ndemo    healthy  "), "{text}");
        },
        |run| {
            let all = parsed(run(&["ls", "--json"]));
            let tools = keys(&all["tools"], "name");
            assert_eq!(tools[..2], ["demo__add", "demo__process_id"]);
            let own = and_gateway_tools(&["system__health"]);
            assert_eq!(tools[tools.len() - own.len()..], own);
            assert_eq!(keys(&all["prompts"], "name"), ["demo/greet"]);
            let uris = keys(&all["resources"], "uri");
            for uri in ["note://hello", "resource://system/health"] {
                assert!(uris.iter().any(|one| one == uri), "{uris:?}");
            }
            let templates = keys(&all["templates"], "uriTemplate");
            assert_eq!(
                templates,
                ["note://of/{name}", "gateway://gateway/explain/{+uri}"]
            );
            let text = run(&["ls"]).expect_code(0).stdout;
            for part in [
                "tools\n  demo__add ",
                " Adds two numbers.\n",
                "\n\nprompts\n  demo/greet  Greets someone.\n",
                "\n\nresources\n  note://hello ",
                "\n\ntemplates\n  note://of/{name} ",
            ] {
                assert!(text.contains(part), "{part:?}: {text}");
            }
        },
        |run| {
            assert_prints(run(&["ls", "prompts"]), "demo/greet  Greets someone.\n");
            let one = parsed(run(&["ls", "templates", "--json"]));
            assert_eq!(one.as_object().unwrap().len(), 1, "{one}");
        },
    ]);
}

#[test]
fn everything_can_be_used() {
    in_both_gateways(&[
        |run| {
            assert_prints(run(&["read", "note://hello"]), "hi");
            assert_prints(run(&["read", "note://of/ada"]), "a note of ada");
            let read = parsed(run(&["read", "note://hello", "--json"]));
            assert_eq!(read["contents"][0]["text"], "hi");
        },
        |run| {
            let get = ["get", "demo/greet", "name=12"];
            assert_prints(run(&get), "user: Hello 12\n");
            let got = parsed(run(&[&get[..], &["--json"]].concat()));
            assert_eq!(got["messages"][0]["content"]["text"], "Hello 12");
        },
        |run| {
            assert_prints(run(&["call", "demo__add", "a=2", "b=3"]), "5\n");
            assert_prints(run(&["call", "add", r#"{"a": 2, "b": 3}"#]), "5\n");
            let called = parsed(run(&["call", "demo__add", "a=2", "b=3", "--json"]));
            assert_eq!(called["structuredContent"]["result"], 5);
        },
        |run| {
            let ended = run(&["call", "demo__count", "to=2"]).expect_code(0);
            assert_eq!(ended.stdout, "done\n");
            for part in ["progress 1.0 of 2.0\n", "progress 2.0 of 2.0\n"] {
                assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
            }
        },
    ]);
}

#[test]
fn search_finds_entries() {
    in_both_gateways(&[
        |run| {
            let found = run(&["search", "add", "numbers"]).expect_code(0).stdout;
            assert!(found.starts_with("tool  demo__add  "), "{found}");
        },
        |run| {
            let found = parsed(run(&["search", "health", "--json"]));
            assert!(found["results"][0]["name"].is_string(), "{found}");
        },
        |run| {
            assert_fails(
                run(&["search", "xylophone"]),
                1,
                &["nothing matches `xylophone`"],
            );
        },
    ]);
}

#[test]
fn unknown_names_get_suggestions() {
    in_both_gateways(&[
        |run| {
            let similar = ["no tool named `demo__ad`", "did you mean `demo__add`?"];
            assert_fails(run(&["call", "demo__ad"]), 1, &similar);
            assert_fails(run(&["call", "cuont"]), 1, &["`demo__count`?"]);
            let unknown = ["no tool named `nothing-like-it`", "tidegate ls tools"];
            assert_fails(run(&["call", "nothing-like-it"]), 1, &unknown);
        },
        |run| {
            let similar = ["no prompt named `gret`", "did you mean `demo/greet`?"];
            assert_fails(run(&["get", "gret"]), 1, &similar);
            let similar = ["the URI `note://helo`", "did you mean `note://hello`?"];
            assert_fails(run(&["read", "note://helo"]), 1, &similar);
        },
        |run| {
            let wrong = ["call", "demo__add", "a=x", "b=1"];
            assert_fails(run(&wrong), 1, &["validation error"]);
            let ended = run(&[&wrong[..], &["--json"]].concat()).expect_code(1);
            let stderr: Value = serde_json::from_str(&ended.stdout).unwrap();
            assert_eq!(stderr["isError"], true);
        },
        |run| {
            assert_fails(run(&["call", "demo__add", "a"]), 2, &["`a`", "NAME=VALUE"]);
            assert_fails(
                run(&["call", "demo__add", "{a}"]),
                2,
                &["not a valid JSON object"],
            );
            assert_fails(run(&["get", "demo/greet", "name"]), 2, &["NAME=VALUE"]);
            assert_fails(run(&["ls", "toolz"]), 2, &["toolz", "tools"]);
        },
    ]);
}

#[test]
fn binary_content_is_printed_unchanged() {
    let home = home("");
    let output = home.tidegate(&["read", "note://bytes"]).output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout),
        (Some(0), vec![0, 0xff, b'\n'])
    );
}

/// An endpoint of one source is a server like any other.
#[test]
fn any_mcp_server_can_be_used() {
    let server = Server::start_in(home(""), &[]);
    let url = format!("{}/demo", server.url());
    let run = |args: &[&str]| server.home.run(&[args, &["--url", &url]].concat());
    let sources = parsed(run(&["sources", "--json"]))["sources"].clone();
    assert_eq!(keys(&sources, "name"), [url.as_str()]);
    let tools = parsed(run(&["ls", "tools", "--json"]))["tools"].clone();
    assert_eq!(sources[0]["tools"], tools.as_array().unwrap().len());
    assert_prints(run(&["call", "add", "a=2", "b=3"]), "5\n");
    assert_fails(
        run(&["call", "ad"]),
        1,
        &["Unknown tool", "did you mean `add`?"],
    );
    server.stop();
}

#[test]
fn source_that_is_down_is_named() {
    let home = home("  gone: { command: /nowhere/at-all }\n");
    let missing = "source `gone` is unavailable: ";
    let listed = home.run(&["ls", "prompts"]).expect_code(0);
    assert_eq!(listed.stdout, "demo/greet  Greets someone.\n");
    assert!(listed.stderr.contains(missing), "{}", listed.stderr);
    assert_fails(home.run(&["call", "gone__x"]), 1, &["`gone`"]);
    let unknown = home.run(&["call", "x"]);
    assert!(!unknown.stderr.contains("lists all"), "{}", unknown.stderr);
    assert_fails(unknown, 1, &["no tool named `x`", "`gone`"]);
    let sources = home.run(&["sources", "--json"]).expect_code(0).stdout;
    let sources: Value = serde_json::from_str(&sources).unwrap();
    let gone = &sources["sources"][1];
    assert_eq!(
        (&gone["name"], &gone["status"]),
        (&json!("gone"), &json!("critical"))
    );
    assert_prints(
        home.run(&["call", "demo__add", "a=1", "b=1", "--log-level", "error"]),
        "2\n",
    );
}

#[test]
fn unreachable_gateway_is_reported() {
    let home = Home::new();
    for command in [&["sources"][..], &["ls"], &["read", "a:b"], &["call", "x"]] {
        let args = [command, &["--url", "http://127.0.0.1:9"]].concat();
        assert_fails(
            home.run(&args),
            1,
            &[
                "cannot connect to http://127.0.0.1:9/mcp: connection refused; is `tidegate serve` running?",
            ],
        );
    }
}

/// Without a key, the error names the variable to set.
#[test]
fn missing_key_names_the_variable() {
    const KEY: &str = "a-key-of-twenty-four-characters";
    let home = Home::with_config("auth: { keys: { ada: '${env:ADA_KEY}' } }\n");
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA_KEY", KEY));
    let server = Server::of(home, process);
    let home = Home::new();
    let base = format!("http://{}", server.address);
    assert_fails(home.run(&["ls", "--url", &base]), 1, &["TIDEGATE_KEY"]);
    let mut with_key = home.tidegate(&["ls", "--url", &format!("{base}/mcp/nobody")]);
    with_key.env("TIDEGATE_KEY", KEY);
    let stderr = String::from_utf8(with_key.output().unwrap().stderr).unwrap();
    let unknown = "no source named `nobody`; configured: memory, system";
    assert!(stderr.contains(unknown), "{stderr}");
    let mut with_wrong_key = home.tidegate(&["ls", "--url", &base]);
    with_wrong_key.env("TIDEGATE_KEY", "not-a-key-of-this-gateway");
    let stderr = String::from_utf8(with_wrong_key.output().unwrap().stderr).unwrap();
    assert!(
        stderr.contains("rejects the key in the variable TIDEGATE_KEY"),
        "{stderr}"
    );
    server.stop();
}

/// A bare name of several tools is reported as ambiguous.
#[test]
fn ambiguous_name_lists_the_candidates() {
    let demo = Home::new();
    let fixture = tidegate_testkit::fixture::program();
    let fixture = fixture.display();
    demo.write(
        "tidegate.yaml",
        &format!("sources: {{ a: {{ command: {fixture} }}, b: {{ command: {fixture} }} }}\n"),
    );
    let names = ["several sources have a tool `echo`", "`a__echo`, `b__echo`"];
    assert_fails(demo.run(&["call", "echo"]), 1, &names);
    let nowhere = demo
        .run(&["explain", "gateway://nobody/x:y"])
        .expect_code(1);
    let why = "not found: no source is named `nobody`";
    assert!(nowhere.stdout.contains(why), "{}", nowhere.stdout);
}

#[test]
fn invalid_configuration_is_reported() {
    let home = Home::with_config("wrong: yes");
    for command in [
        &["sources"][..],
        &["ls"],
        &["read", "a:b"],
        &["get", "x"],
        &["call", "x"],
    ] {
        assert_fails(
            home.run(command),
            2,
            &["tidegate.yaml:1:1", "unknown field `wrong`"],
        );
    }
}

/// A closed reader is neither an error nor worth a message.
#[test]
fn commands_end_quietly_without_a_reader() {
    let commands: [&[&str]; 4] = [
        &["sources"],
        &["ls", "--json"],
        &["read", "resource://system/health"],
        &["call", "system__health"],
    ];
    for args in commands {
        let (_, unread) = pipe().unwrap();
        let home = Home::new();
        let ended = Running::start_onto(&mut home.tidegate(args), unread).end();
        assert_eq!(ended.expect_code(0).stderr, "", "{args:?}");
    }
}

/// Asserts that a process has ended, or that a child guard is ending it.
#[track_caller]
fn assert_ends(pid: &str) {
    let pid = pid.trim().parse().unwrap();
    let is_guarded = has_child_guard(pid);
    let is_running = || Proc::find(pid).is_some_and(|process| process.runs());
    assert!(
        is_guarded || !is_running(),
        "process {pid} has no child guard"
    );
    poll_for(&format!("process {pid} to end"), || {
        (!is_running()).then_some(())
    });
}

#[test]
fn no_process_is_left_running() {
    let ended = home("").run(&["call", "demo__process_id"]).expect_code(0);
    assert_ends(&ended.stdout);
}

/// Not even programs that never respond, their children, or after an interruption.
#[test]
fn no_silent_process_is_left_running() {
    let script = "echo $$ > first; sleep 1000 & echo $! > second; wait";
    for (wait, interrupted) in [("1s", false), ("5m", true)] {
        let home = Home::new();
        let silent = json!({ "command": "sh", "args": ["-c", script], "cwd": home.path() });
        let limits = format!("limits: {{ startup_wait: {wait} }}");
        home.write(
            "tidegate.yaml",
            &format!("{limits}\nsources:\n  silent: {silent}\n"),
        );
        let process = Running::start(&mut home.tidegate(&["ls", "tools"]));
        let written =
            |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap_or_default();
        poll_for("the program to start", || {
            written("second").ends_with('\n').then_some(())
        });
        if interrupted {
            process.signal(Signal::INT);
        }
        let ended = process.end().expect_code(i32::from(interrupted));
        let expected = if interrupted {
            "stopped"
        } else {
            "source `silent` is still starting (waited 1s)"
        };
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        for name in ["first", "second"] {
            assert_ends(&written(name));
        }
    }
}
