//! The commands that look into a gateway: into one of their own, and into one that runs.

use std::io::pipe;
use std::time::Instant;

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::{Value, json};

use crate::support::messages::and_own_tools;
use crate::support::tools::Tools;
use crate::support::{Ended, Home, PATIENCE, Running, Server};

/// Runs the program in some place.
type Run<'a> = dyn Fn(&[&str]) -> Ended + 'a;

/// A folder whose configuration has the demo server, and whatever else is written.
fn home(more: &str) -> Home {
    let home = Home::new();
    let command = Tools::find().python_peer(&home, "python-v1", "demo_server.py");
    let program = command.get_program().to_str().unwrap();
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_str().unwrap())
        .collect();
    let demo = json!({ "command": program, "args": args });
    // Small pages, so that every list has several.
    let limits = "limits: { startup_wait: 2m, page_size: 2 }";
    let text = format!("{limits}\nsources:\n  demo: {demo}\n{more}");
    home.write("tidegate.yaml", &text);
    home
}

/// Checks a command in a gateway of its own, and in one that runs: both must be the same.
fn both(checks: &[fn(&Run<'_>)]) {
    let server = Server::start_in(home(""), &[]);
    // Here the file is of no use, and must not matter.
    let elsewhere = Home::with_config("wrong: yes");
    let url = server.url();
    for check in checks {
        check(&|args| server.home.run(args));
        check(&|args| elsewhere.run(&[args, &["--url", &url]].concat()));
    }
    server.stop();
}

#[track_caller]
fn prints(ended: Ended, stdout: &str) {
    let ended = ended.expect_code(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), (stdout, ""));
}

#[track_caller]
fn parsed(ended: Ended) -> Value {
    let ended = ended.expect_code(0);
    assert_eq!(ended.stderr, "");
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Ends with this code and says this, with no data.
#[track_caller]
fn fails(ended: Ended, code: i32, parts: &[&str]) {
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
fn what_there_is_is_listed() {
    both(&[
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
            let own = and_own_tools(&["system__health"]);
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
            prints(run(&["ls", "prompts"]), "demo/greet  Greets someone.\n");
            let one = parsed(run(&["ls", "templates", "--json"]));
            assert_eq!(one.as_object().unwrap().len(), 1, "{one}");
        },
    ]);
}

#[test]
fn what_there_is_can_be_used() {
    both(&[
        |run| {
            prints(run(&["read", "note://hello"]), "hi");
            prints(run(&["read", "note://of/ada"]), "a note of ada");
            let read = parsed(run(&["read", "note://hello", "--json"]));
            assert_eq!(read["contents"][0]["text"], "hi");
        },
        |run| {
            let get = ["get", "demo/greet", "name=12"];
            prints(run(&get), "user: Hello 12\n");
            let got = parsed(run(&[&get[..], &["--json"]].concat()));
            assert_eq!(got["messages"][0]["content"]["text"], "Hello 12");
        },
        |run| {
            prints(run(&["call", "demo__add", "a=2", "b=3"]), "5\n");
            prints(run(&["call", "add", r#"{"a": 2, "b": 3}"#]), "5\n");
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
fn what_there_is_is_found_by_words() {
    both(&[
        |run| {
            let found = run(&["search", "add", "numbers"]).expect_code(0).stdout;
            assert!(found.starts_with("tool  demo__add  "), "{found}");
        },
        |run| {
            let found = parsed(run(&["search", "health", "--json"]));
            assert!(found["results"][0]["name"].is_string(), "{found}");
        },
        |run| {
            fails(
                run(&["search", "xylophone"]),
                1,
                &["nothing matches `xylophone`"],
            );
        },
    ]);
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    both(&[
        |run| {
            let near = ["no tool named `demo__ad`", "did you mean `demo__add`?"];
            fails(run(&["call", "demo__ad"]), 1, &near);
            fails(run(&["call", "cuont"]), 1, &["`demo__count`?"]);
            let far = ["no tool named `nothing-like-it`", "tidegate ls tools"];
            fails(run(&["call", "nothing-like-it"]), 1, &far);
        },
        |run| {
            let near = ["no prompt named `gret`", "did you mean `demo/greet`?"];
            fails(run(&["get", "gret"]), 1, &near);
            let near = ["the URI `note://helo`", "did you mean `note://hello`?"];
            fails(run(&["read", "note://helo"]), 1, &near);
        },
        |run| {
            let wrong = ["call", "demo__add", "a=x", "b=1"];
            fails(run(&wrong), 1, &["validation error"]);
            let ended = run(&[&wrong[..], &["--json"]].concat()).expect_code(1);
            let told: Value = serde_json::from_str(&ended.stdout).unwrap();
            assert_eq!(told["isError"], true);
        },
        |run| {
            fails(run(&["call", "demo__add", "a"]), 2, &["`a`", "NAME=VALUE"]);
            fails(
                run(&["call", "demo__add", "{a}"]),
                2,
                &["not a valid JSON object"],
            );
            fails(run(&["get", "demo/greet", "name"]), 2, &["NAME=VALUE"]);
            fails(run(&["ls", "toolz"]), 2, &["toolz", "tools"]);
        },
    ]);
}

#[test]
fn bytes_stay_bytes() {
    let home = home("");
    let output = home.tidegate(&["read", "note://bytes"]).output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout),
        (Some(0), vec![0, 0xff, b'\n'])
    );
}

/// One source of a gateway is a server like any other.
#[test]
fn a_server_that_is_no_gateway_can_be_looked_into() {
    let server = Server::start_in(home(""), &[]);
    let url = format!("{}/demo", server.url());
    let run = |args: &[&str]| server.home.run(&[args, &["--url", &url]].concat());
    let sources = parsed(run(&["sources", "--json"]))["sources"].clone();
    assert_eq!(keys(&sources, "name"), [url.as_str()]);
    let tools = parsed(run(&["ls", "tools", "--json"]))["tools"].clone();
    assert_eq!(sources[0]["tools"], tools.as_array().unwrap().len());
    prints(run(&["call", "add", "a=2", "b=3"]), "5\n");
    fails(
        run(&["call", "ad"]),
        1,
        &["Unknown tool", "did you mean `add`?"],
    );
    server.stop();
}

#[test]
fn a_source_that_is_down_is_named() {
    let home = home("  gone: { command: /nowhere/at-all }\n");
    let missing = "source `gone` is unavailable: ";
    let listed = home.run(&["ls", "prompts"]).expect_code(0);
    assert_eq!(listed.stdout, "demo/greet  Greets someone.\n");
    assert!(listed.stderr.contains(missing), "{}", listed.stderr);
    fails(home.run(&["call", "gone__x"]), 1, &["`gone`"]);
    let nothing = home.run(&["call", "x"]);
    assert!(!nothing.stderr.contains("lists all"), "{}", nothing.stderr);
    fails(nothing, 1, &["no tool named `x`", "`gone`"]);
    let sources = home.run(&["sources", "--json"]).expect_code(0).stdout;
    let sources: Value = serde_json::from_str(&sources).unwrap();
    let gone = &sources["sources"][1];
    assert_eq!(
        (&gone["name"], &gone["status"]),
        (&json!("gone"), &json!("critical"))
    );
    prints(
        home.run(&["call", "demo__add", "a=1", "b=1", "--log-level", "error"]),
        "2\n",
    );
}

#[test]
fn a_gateway_that_is_not_there_is_told() {
    let home = Home::new();
    for command in [&["sources"][..], &["ls"], &["read", "a:b"], &["call", "x"]] {
        let args = [command, &["--url", "http://127.0.0.1:9"]].concat();
        fails(
            home.run(&args),
            1,
            &[
                "cannot connect to http://127.0.0.1:9/mcp: connection refused; is `tidegate serve` running?",
            ],
        );
    }
}

/// Whoever has no key is told which variable wants one, and not about a source there is none of.
#[test]
fn a_gateway_that_wants_a_key_says_where_to_put_it() {
    const KEY: &str = "a-key-of-twenty-four-characters";
    let home = Home::with_config("auth: { keys: { ada: '${env:ADA_KEY}' } }\n");
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA_KEY", KEY));
    let server = Server::of(home, process);
    let home = Home::new();
    let base = format!("http://{}", server.address);
    fails(home.run(&["ls", "--url", &base]), 1, &["TIDEGATE_KEY"]);
    let mut with_key = home.tidegate(&["ls", "--url", &format!("{base}/mcp/nobody")]);
    with_key.env("TIDEGATE_KEY", KEY);
    let told = String::from_utf8(with_key.output().unwrap().stderr).unwrap();
    assert!(told.contains("unknown source"), "{told}");
    server.stop();
}

/// A bare name that several have is not simply unknown.
#[test]
fn a_name_that_several_have_is_told_with_all_of_them() {
    let demo = Home::new();
    let fixture = tidegate_testkit::fixture::program();
    let fixture = fixture.display();
    demo.write(
        "tidegate.yaml",
        &format!("sources: {{ a: {{ command: {fixture} }}, b: {{ command: {fixture} }} }}\n"),
    );
    let names = ["several sources have a tool `echo`", "`a__echo`, `b__echo`"];
    fails(demo.run(&["call", "echo"]), 1, &names);
    let nowhere = demo
        .run(&["explain", "gateway://nobody/x:y"])
        .expect_code(1);
    let why = "not found: no source is named `nobody`";
    assert!(nowhere.stdout.contains(why), "{}", nowhere.stdout);
}

#[test]
fn a_bad_configuration_is_no_gateway() {
    let home = Home::with_config("wrong: yes");
    for command in [
        &["sources"][..],
        &["ls"],
        &["read", "a:b"],
        &["get", "x"],
        &["call", "x"],
    ] {
        fails(
            home.run(command),
            2,
            &["tidegate.yaml:1:1", "unknown field `wrong`"],
        );
    }
}

/// A reader that left is no failure, and nothing to make words about.
#[test]
fn nobody_needs_to_read_it() {
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

fn is_there(process: &str) -> bool {
    let id = process.trim().parse().ok().and_then(Pid::from_raw).unwrap();
    test_kill_process(id).is_ok()
}

/// Whoever adopts an orphan may take a moment to notice its end.
#[track_caller]
fn goes_away(process: &str) {
    let started = Instant::now();
    while is_there(process) {
        assert!(started.elapsed() < PATIENCE, "{process} is still there");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn no_process_is_left_behind() {
    let ended = home("").run(&["call", "demo__process_id"]).expect_code(0);
    goes_away(&ended.stdout);
}

/// Neither a program that never answers nor what it started, and not even when it is interrupted.
#[test]
fn no_process_is_left_behind_that_never_answers() {
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
        let started = Instant::now();
        while !written("second").ends_with('\n') {
            assert!(started.elapsed() < PATIENCE, "the program does not start");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        if interrupted {
            process.signal(Signal::INT);
        }
        let ended = process.end().expect_code(i32::from(interrupted));
        let said = if interrupted {
            "stopped"
        } else {
            "source `silent` is still starting (waited 1s)"
        };
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        for name in ["first", "second"] {
            goes_away(&written(name));
        }
    }
}
