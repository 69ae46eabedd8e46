//! Servers that fail or hang: what commands and the log show, and that other sources are not
//! affected.

use serde_json::json;

use crate::support::messages::Modern;
use crate::support::proc::poll_for;
use crate::support::{Home, Server};

/// A server that writes thirty lines and exits.
fn failing() -> String {
    let script = "echo x >> attempts; for n in $(seq 1 30); do echo \"line $n.\" >&2; done; exit 3";
    json!({ "command": "sh", "args": ["-c", script], "cwd": "." }).to_string()
}

#[test]
fn output_of_a_failed_server_is_shown_once_below_the_table() {
    let home = Home::with_config(&format!("sources:\n  bad: {}\n", failing()));
    let shown = home.run(&["sources"]).expect_code(0).stdout;
    let (table, below) = shown.split_once("\n\n").unwrap();
    assert!(table.contains("(exit status: 3)"), "{table}");
    assert!(!table.contains("line "), "{table}");
    assert!(below.starts_with("bad\n  command: sh -c echo x"), "{below}");
    assert!(below.contains("  stderr:\n  line 11.\n"), "{below}");
    assert_eq!(shown.matches("line 30.").count(), 1, "{shown}");
}

#[test]
fn output_of_a_failed_server_is_logged_once() {
    let server = Server::with_config(&format!("sources:\n  bad: {}\n", failing()));
    server.process.stderr.find("line 30.");
    let attempts = server.home.path().join("attempts");
    poll_for("further attempts", || {
        let attempts = std::fs::read_to_string(&attempts).unwrap_or_default();
        (attempts.lines().count() >= 6).then_some(())
    });
    let log = server.stop().stderr;
    assert_eq!(log.matches("line 30.").count(), 1, "{log}");
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let home = Home::with_config("sources: { bad: { command: no-such-program } }\n");
    let shown = home.run(&["sources"]).expect_code(0).stdout;
    let message = "command not found: no-such-program (looked in PATH)";
    assert!(shown.contains(message), "{shown}");
}

#[test]
fn a_missing_working_directory_is_named() {
    let home = Home::with_config("sources: { bad: { command: sh, cwd: ./nowhere } }\n");
    let shown = home.run(&["sources"]).expect_code(0).stdout;
    let folder = home.path().join("nowhere");
    let message = format!(
        "the working directory `{}` does not exist; check `cwd`",
        folder.display()
    );
    assert!(shown.contains(&message), "{shown}");
}

/// A server that never answers, before the others, and a longer wait than any test has.
fn with_hanging_server() -> Home {
    let hanging = json!({ "command": "sleep", "args": ["1000"] });
    Home::with_config(&format!(
        "limits: {{ startup_wait: 5m }}\nsources:\n  hanging: {hanging}\n  memory: {{ kind: memory }}\n"
    ))
}

#[test]
fn a_hanging_server_does_not_delay_calls_to_other_sources() {
    let server = Server::start_in(with_hanging_server(), &[]);
    let call = json!({ "name": "memory__list", "arguments": {} });
    let answer = Modern::new("tools/call", call).post(server.post());
    assert_eq!(answer.status, 200, "{answer:?}");
    let read = json!({ "uri": "plugin://memory/memory_stats" });
    server.modern("resources/read", read).result();
    let list = Modern::new("tools/list", json!({})).post(server.post().at("/mcp/memory"));
    assert_eq!(list.status, 200, "{list:?}");
    let ready = server.post().at("/readyz").method("GET").send(b"");
    assert_eq!(ready.status, 503, "a source is still starting");
    server.process.signal(rustix::process::Signal::KILL);
}

#[test]
fn a_hanging_server_does_not_delay_commands_for_other_sources() {
    let home = with_hanging_server();
    home.run(&["call", "memory__store", "key=a", "value=1"])
        .expect_code(0);
    let read = home.run(&["read", "plugin://memory/entries/a"]);
    assert_eq!(read.expect_code(0).stdout, "1");
}
