//! Child processes: neither they nor their own children outlive the gateway, however it ends.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::messages::Modern;
use crate::support::proc::{Proc, descendants, poll_for};
use crate::support::{Home, Running, Server};

/// A fixture as a source.
fn fixture(args: &[&str]) -> Value {
    json!({ "command": tidegate_testkit::fixture::program(), "args": args })
}

/// A shell that runs a script which contains or starts a fixture.
fn shell(script: &str) -> Value {
    let program = tidegate_testkit::fixture::program();
    let script = script.replace("FIXTURE", program.to_str().unwrap());
    json!({ "command": "sh", "args": ["-c", script] })
}

/// A gateway whose sources are all connected.
fn with_sources(home: Home, sources: &Value) -> Server {
    let limits = json!({ "startup_wait": "2m" });
    let config = json!({ "limits": limits, "sources": sources });
    home.write("tidegate.yaml", &config.to_string());
    let server = Server::start_in(home, &[]);
    let health = json!({ "name": "system__health", "arguments": {} });
    let health = server.modern("tools/call", health).result();
    let health = &health["structuredContent"];
    assert_eq!(health["overallStatus"], "Healthy", "{health}");
    server
}

/// Programs with various kinds of children.
fn all_kinds() -> Value {
    json!({
        "plain": fixture(&["--era", "legacy"]),
        "modern": fixture(&["--era", "modern"]),
        "unkillable": fixture(&["--ignore-termination"]),
        "wrapper": shell("FIXTURE; true"),
        "parent": shell("sleep 1000 & exec FIXTURE"),
        "parent-of-orphan": shell("(sleep 1000 &); exec FIXTURE"),
        "parent-of-session": shell("setsid sleep 1000 & exec FIXTURE"),
        "parent-of-daemon": shell("setsid sh -c 'sleep 1000 & sleep 1000' & exec FIXTURE"),
        "session": shell("exec setsid -w FIXTURE --ignore-termination"),
        "deaf-parent": shell("trap '' TERM; (sleep 1000 &); exec FIXTURE"),
    })
}

/// All descendants of a gateway with these programs, once all of them run.
fn all_started(gateway: &Running) -> Vec<Proc> {
    poll_for("all programs to run", || {
        let all = descendants(gateway.id());
        let sleeping = all
            .iter()
            .filter(|process| process.command.contains("sleep 1000"));
        // The shell that waits for one of them counts too.
        (sleeping.count() >= 6).then_some(all)
    })
}

#[test]
fn killed_gateway_leaves_no_processes() {
    let server = with_sources(Home::new(), &all_kinds());
    let all = all_started(&server.process);
    server.process.signal(Signal::KILL);
    for process in all {
        poll_for(&format!("the end of {process:?}"), || {
            (!process.runs()).then_some(())
        });
    }
}

#[test]
fn stopped_gateway_leaves_no_processes() {
    let server = with_sources(Home::new(), &all_kinds());
    let all = all_started(&server.process);
    server.stop();
    let left: Vec<_> = all.iter().filter(|process| process.runs()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Over stdio the end of the input stops the gateway.
#[test]
fn gateway_over_stdio_leaves_no_processes() {
    let home = Home::with_config(&json!({ "sources": all_kinds() }).to_string());
    let mut gateway = Running::start(&mut home.tidegate(&["stdio"]));
    let all = all_started(&gateway);
    gateway.close_stdin();
    assert!(gateway.wait().success());
    let left: Vec<_> = all.iter().filter(|process| process.runs()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn children_of_a_crashed_server_are_ended() {
    let server = with_sources(
        Home::new(),
        &json!({ "parent": shell("setsid sleep 1000 & FIXTURE") }),
    );
    let sleeping = |all: Vec<Proc>| {
        all.into_iter()
            .find(|process| process.command == "sleep 1000 ")
    };
    let first = poll_for("the first child", || {
        sleeping(descendants(server.process.id()))
    });
    let crash = json!({ "name": "fault_crash", "arguments": {} });
    Modern::new("tools/call", crash).post(server.post().at("/mcp/parent"));
    poll_for("the first child to end", || (!first.runs()).then_some(()));
    let second = poll_for("the second child", || {
        sleeping(descendants(server.process.id()))
    });
    assert_ne!(first, second);
    server.stop();
}

/// A program that writes its files when its input ends has time to do so.
#[test]
fn server_has_time_to_end_by_itself() {
    let home = Home::new();
    let bye = home.path().join("bye");
    let slow = format!("FIXTURE; sleep 1; echo bye > {}", bye.display());
    let server = with_sources(home, &json!({ "slow": shell(&slow) }));
    let Server { home, process, .. } = server;
    process.stop().expect_code(0);
    assert_eq!(fs::read_to_string(bye).unwrap(), "bye\n");
    drop(home);
}

/// A program inherits no files of the gateway: not its listener, not the pipes of other programs.
#[test]
fn program_inherits_only_its_three_pipes() {
    let home = Home::new();
    let written = home.path().join("open");
    let looks = format!(
        "(readlink /proc/$$/fd/* > {}); exec FIXTURE",
        written.display()
    );
    let sources = json!({ "other": fixture(&[]), "looks": shell(&looks) });
    let server = with_sources(home, &sources);
    let open = fs::read_to_string(&written).unwrap();
    // Files that were left open in the test process are open in all children.
    let ours: Vec<_> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|target| target.to_str().map(str::to_owned))
        .collect();
    let (pipes, more): (Vec<_>, Vec<_>) = open
        .lines()
        .filter(|open| !ours.iter().any(|ours| ours == open))
        .partition(|open| open.starts_with("pipe:"));
    assert_eq!((pipes.len(), more.len()), (3, 0), "{open}");
    server.stop();
}

/// Some programs exit on an unknown request; it is not sent to them again.
#[test]
fn program_that_exits_on_discover_is_not_asked_again() {
    for probe in ["exit", "method-not-found", "refused"] {
        let legacy = fixture(&["--era", "legacy", "--probe-response", probe]);
        let server = with_sources(Home::new(), &json!({ "legacy": legacy }));
        let call = json!({ "name": "legacy__test_simple_text", "arguments": {} });
        let answer = server.modern("tools/call", call).result();
        assert!(
            answer["content"][0]["text"].is_string(),
            "{probe}: {answer}"
        );
        server.stop();
    }
}
