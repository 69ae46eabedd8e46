//! A database that cannot be used: the gateway serves the rest, and says what is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::User;
use crate::support::messages::HEALTH;
use crate::support::{Home, Running, Server};

/// Nobody's number, where tests run as root, who may write anywhere.
const NOBODY: u32 = 65534;

fn data(home: &Home) -> PathBuf {
    let folder = home.path().join("data/tidegate");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Starts on this folder, and checks that everyone is told `message`, and the log `cause`.
fn tells(home: Home, change: impl FnOnce(&mut Command), message: &str, cause: &str) {
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    change(&mut command);
    let server = Server::of(home, Running::start(&mut command));
    let user = User::of(&server);
    let answer = user.tool("store", json!({ "key": "k", "value": 1 }));
    let error = &answer.json()["error"];
    // X2: what a store cannot do is -32603 with its kind, and no path.
    assert_eq!(error["code"], -32603, "{error}");
    assert_eq!(error["data"]["kind"], "storage", "{error}");
    assert!(
        error["message"].as_str().unwrap().contains(message),
        "{error}"
    );
    assert!(!answer.body.contains("tidegate.db"), "{answer:?}");
    let health = server
        .modern("resources/read", json!({ "uri": HEALTH }))
        .result();
    let health: Value =
        serde_json::from_str(health["contents"][0]["text"].as_str().unwrap()).unwrap();
    let parts = health["components"].as_array().unwrap();
    let part = parts.iter().find(|part| part["name"] == "memory").unwrap();
    assert_eq!(part["status"], "Critical", "{part}");
    assert!(
        part["message"].as_str().unwrap().contains(message),
        "{part}"
    );
    assert_eq!(
        server.modern("tools/list", json!({})).status,
        200,
        "the rest is served"
    );
    let log = server.stop().stderr;
    assert!(log.contains(cause), "{log}");
}

#[test]
fn of_another_program() {
    let home = Home::new();
    let file = data(&home).join("tidegate.db");
    fs::write(&file, "not a database, but someone's text").unwrap();
    tells(
        home,
        |_| {},
        "a file of another program",
        "this is not a Tidegate database",
    );
}

/// The header of the file says which version has written it.
#[test]
fn of_a_newer_version() {
    let home = Home::new();
    home.run(&["memory", "export"]).expect_code(0);
    let file = data(&home).join("tidegate.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[60..64].copy_from_slice(&1000_u32.to_be_bytes());
    fs::write(&file, &bytes).unwrap();
    tells(
        home,
        |_| {},
        "a newer Tidegate",
        "a newer Tidegate has written it (format 1000",
    );
}

#[test]
fn that_is_damaged() {
    let home = Home::new();
    let lines: String = (0..200)
        .map(|n| {
            format!(
                "{}\n",
                json!({ "key": format!("k{n}"), "value": "word ".repeat(80) })
            )
        })
        .collect();
    home.write("entries.jsonl", &lines);
    home.run(&["memory", "import", "entries.jsonl"])
        .expect_code(0);
    let file = data(&home).join("tidegate.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[8192..40960].fill(0x5a);
    fs::write(&file, &bytes).unwrap();
    let ended = home.run(&["memory", "export"]).expect_code(1);
    assert!(
        ended.stderr.contains("the file is damaged"),
        "{}",
        ended.stderr
    );
    tells(home, |_| {}, "damaged", "put a copy of it back");
}

#[test]
fn in_a_folder_that_cannot_be_written() {
    let home = Home::new();
    let folder = data(&home);
    let is_root = rustix::process::geteuid().is_root();
    let mode = if is_root { 0o755 } else { 0o555 };
    fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let as_nobody = |command: &mut Command| {
        if is_root {
            command.uid(NOBODY);
        }
    };
    tells(
        home,
        as_nobody,
        "cannot write its database",
        "Permission denied",
    );
    // Or it could not be removed.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).ok();
}

/// What is wrong may be mended while the gateway runs.
#[test]
fn that_is_mended() {
    let home = Home::new();
    let file = data(&home).join("tidegate.db");
    fs::write(&file, "in the way").unwrap();
    let server = Server::start_in(home, &[]);
    let user = User::of(&server);
    assert!(user.tool("list", json!({})).json()["error"].is_object());
    fs::remove_file(&file).unwrap();
    let works = || user.tool("list", json!({})).json()["result"].is_object();
    while !works() {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    user.store("k", json!(1));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.stop();
}
