//! An unusable database: the gateway serves everything else and reports the problem.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::User;
use crate::support::messages::HEALTH;
use crate::support::proc::poll_for;
use crate::support::{Home, Running, Server};

/// The user `nobody`, because root can write anywhere.
const NOBODY: u32 = 65534;

fn data(home: &Home) -> PathBuf {
    let folder = home.path().join("data/tidegate");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Starts on this folder; checks that clients and the health get `message` and the log `cause`.
fn assert_reported(home: Home, change: impl FnOnce(&mut Command), message: &str, cause: &str) {
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    change(&mut command);
    let server = Server::of(home, Running::start(&mut command));
    let user = User::of(&server);
    let answer = user.tool("store", json!({ "key": "k", "value": 1 }));
    let error = &answer.json()["error"];
    // X2: a storage error is -32603 with its kind and without paths.
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
        "other sources are served"
    );
    let log = server.stop().stderr;
    assert!(log.contains(cause), "{log}");
}

/// One-shot commands report it too, even if nobody has used the memory yet.
#[track_caller]
fn assert_shown_by_commands(home: &Home, message: &str) {
    for args in [
        &["sources", "--temporary"][..],
        &["read", HEALTH, "--temporary"],
        &["call", "system__health", "--temporary"],
    ] {
        let ended = home.run(args).expect_code(0);
        assert!(ended.stdout.contains(message), "{args:?}: {}", ended.stdout);
    }
}

#[test]
fn database_is_a_folder() {
    let home = Home::new();
    fs::create_dir(data(&home).join("tidegate.db")).unwrap();
    assert_shown_by_commands(&home, "cannot open its database");
}

/// The file header identifies the application.
#[test]
fn database_of_another_sqlite_program() {
    let home = Home::new();
    home.run(&["memory", "export"]).expect_code(0);
    let file = data(&home).join("tidegate.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[68..72].copy_from_slice(&7_u32.to_be_bytes());
    fs::write(&file, &bytes).unwrap();
    assert_shown_by_commands(&home, "belongs to another program");
}

#[test]
fn file_of_another_program() {
    let home = Home::new();
    let file = data(&home).join("tidegate.db");
    fs::write(&file, "not a database, but someone's text").unwrap();
    assert_shown_by_commands(&home, "belongs to another program");
    assert_reported(
        home,
        |_| {},
        "belongs to another program",
        "this is not a Tidegate database",
    );
}

/// The file header contains the format version.
#[test]
fn database_of_a_newer_version() {
    let home = Home::new();
    home.run(&["memory", "export"]).expect_code(0);
    let file = data(&home).join("tidegate.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[60..64].copy_from_slice(&1000_u32.to_be_bytes());
    fs::write(&file, &bytes).unwrap();
    assert_reported(
        home,
        |_| {},
        "a newer Tidegate",
        "written by a newer Tidegate (format 1000",
    );
}

#[test]
fn database_is_damaged() {
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
    let expected = format!(
        "tidegate: {}: the file is damaged; restore it from a backup, or move it away to start with \
         an empty one\n",
        file.display()
    );
    assert_eq!(ended.stderr, expected, "one message without a cause");
    assert_shown_by_commands(&home, "damaged");
    assert_reported(home, |_| {}, "damaged", "restore it from a backup");
}

#[test]
fn folder_is_not_writable() {
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
    assert_reported(
        home,
        as_nobody,
        "cannot write its database",
        "Permission denied",
    );
    // Otherwise it could not be removed.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).ok();
}

/// A problem can be fixed while the gateway runs.
#[test]
fn problem_is_fixed_while_running() {
    let home = Home::new();
    let file = data(&home).join("tidegate.db");
    fs::write(&file, "in the way").unwrap();
    let server = Server::start_in(home, &[]);
    let user = User::of(&server);
    assert!(user.tool("list", json!({})).json()["error"].is_object());
    fs::remove_file(&file).unwrap();
    let works = || user.tool("list", json!({})).json()["result"].is_object();
    poll_for("the database to be usable", || works().then_some(()));
    user.store("k", json!(1));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.stop();
}

/// Writes after the files were removed are visible to all, and the removal is logged.
#[test]
fn database_is_removed_while_in_use() {
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
    let warnings = log.matches("database file was moved or replaced");
    assert!(warnings.count() >= 2, "{log}");
}
