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

/// Whoever looks for a moment is told as well, each time, though nobody has used the memory yet.
#[track_caller]
fn is_seen(home: &Home, message: &str) {
    for look in [
        &["sources", "--here"][..],
        &["read", HEALTH, "--here"],
        &["call", "system__health", "--here"],
    ] {
        let ended = home.run(look).expect_code(0);
        assert!(ended.stdout.contains(message), "{look:?}: {}", ended.stdout);
    }
}

#[test]
fn that_is_a_folder() {
    let home = Home::new();
    fs::create_dir(data(&home).join("tidegate.db")).unwrap();
    is_seen(&home, "cannot reach its database");
}

/// The header of the file says whose it is.
#[test]
fn of_another_program_with_sqlite() {
    let home = Home::new();
    home.run(&["memory", "export"]).expect_code(0);
    let file = data(&home).join("tidegate.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[68..72].copy_from_slice(&7_u32.to_be_bytes());
    fs::write(&file, &bytes).unwrap();
    is_seen(&home, "belongs to another program");
}

#[test]
fn of_another_program() {
    let home = Home::new();
    let file = data(&home).join("tidegate.db");
    fs::write(&file, "not a database, but someone's text").unwrap();
    is_seen(&home, "belongs to another program");
    tells(
        home,
        |_| {},
        "belongs to another program",
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
        "written by a newer Tidegate (format 1000",
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
    let sentence = format!(
        "tidegate: {}: the file is damaged; restore it from a backup, or move it away to start with \
         an empty one\n",
        file.display()
    );
    assert_eq!(ended.stderr, sentence, "once, and in our words alone");
    is_seen(&home, "damaged");
    tells(home, |_| {}, "damaged", "restore it from a backup");
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

/// What is written after its files were removed is seen by all, and said in the log.
#[test]
fn that_is_removed_while_it_is_in_use() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    for round in 0..3 {
        let key = format!("k{round}");
        user.store(&key, json!(1));
        let export = server.home.run(&["memory", "export"]).expect_code(0);
        assert!(export.stdout.contains(&key), "{}", export.stdout);
        assert_eq!(user.keys(json!({})), [key]);
        for name in ["tidegate.db", "tidegate.db-wal", "tidegate.db-shm"] {
            fs::remove_file(data(&server.home).join(name)).unwrap();
        }
    }
    let log = server.stop().stderr;
    let said = log.matches("database file was moved or replaced");
    assert!(said.count() >= 2, "{log}");
}
