//! `tidegate sources`: the processes and sessions of each source, and of whom they are.

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::proc::poll_for;
use crate::support::{Home, Running, Server, Session};

const ADA: &str = "key-of-ada-0123456789";
const BOB: &str = "key-of-bob-0123456789";

#[test]
fn shows_the_processes_of_each_source_and_to_administrators_of_whom() {
    let config = json!({
        "auth": { "keys": { "ada": "${env:ADA_KEY}", "bob": "${env:BOB_KEY}" }, "admins": ["ada"] },
        "limits": { "startup_wait": "2m" },
        "sources": { "fixture": { "command": program() }, "memory": { "kind": "memory" } },
    });
    let home = Home::with_config(&config.to_string());
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA_KEY", ADA).env("BOB_KEY", BOB));
    let server = Server::of(home, process);
    let sources = |key: &str, more: &[&str]| {
        let url = server.url();
        let args = [&["sources", "--url", &url], more].concat();
        let mut command = server.home.tidegate(&args);
        command.env("ADA_KEY", ADA).env("BOB_KEY", BOB);
        let ended = Running::start(command.env("TIDEGATE_KEY", key)).end();
        ended.expect_code(0).stdout
    };
    let fixture = |key: &str| -> Value {
        let all: Value = serde_json::from_str(&sources(key, &["--json"])).unwrap();
        let mut rows = all["sources"].as_array().unwrap().iter();
        let row = rows.find(|row| row["name"] == "fixture");
        row.unwrap()["connections"].clone()
    };
    // The process of the catalog connection.
    assert_eq!(fixture(ADA), json!({ "total": 1 }));
    let sessions = [(); 2].map(|()| {
        let session = Session::open_as(server.address, "/mcp", "2025-11-25", Some(BOB));
        let call = json!({ "name": "fixture__echo", "arguments": { "text": "x" } });
        session.request("tools/call", &call).result();
        session
    });
    let two = json!({ "total": 2, "principals": { "bob": 2 } });
    poll_for("both processes, and no other", || {
        (fixture(ADA) == two).then_some(())
    });
    assert_eq!(fixture(BOB), json!({ "total": 2 }));
    let table = sources(ADA, &[]);
    let line = table.lines().find(|line| line.starts_with("fixture"));
    assert!(line.unwrap().contains("  2 (bob 2)  "), "{table}");
    let line = table.lines().find(|line| line.starts_with("memory"));
    assert!(line.unwrap().contains("  -  "), "{table}");
    for session in sessions {
        session.end();
    }
    server.stop();
}
