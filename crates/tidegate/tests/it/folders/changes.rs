//! Changes in a folder are announced to subscribers of both eras.

use std::fs;

use serde_json::{Value, json};

use super::{start, uri, write};
use crate::support::messages::Modern;
use crate::support::{Events, Server, Session};

const UPDATED: &str = "notifications/resources/updated";
const RESOURCES: &str = "notifications/resources/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";

/// A subscription stream that is acknowledged.
fn listen(server: &Server, filter: &Value) -> Events {
    let listen = Modern::new("subscriptions/listen", json!({ "notifications": filter }));
    let mut events = Events::of(listen.open(server.post()));
    let first = events.next().unwrap();
    assert!(
        first["method"].as_str().unwrap().ends_with("acknowledged"),
        "{first}"
    );
    events
}

#[test]
fn update_carries_the_subscribed_uri() {
    let server = start();
    let home = server.home.path().to_owned();
    let spelled = [
        uri(&home, "notes/readme.md"),
        uri(&home, "notes/deep/er/a b.txt"),
        uri(&home, "notes/link.txt"),
    ];
    let mut events = listen(&server, &json!({ "resourceSubscriptions": spelled }));
    for (name, expected) in [
        ("notes/readme.md", vec![&spelled[0]]),
        ("notes/deep/er/a b.txt", vec![&spelled[1], &spelled[2]]),
    ] {
        write(&server.home, name, b"changed");
        // A file written in two steps can be announced twice.
        let mut missing = expected;
        while !missing.is_empty() {
            let updated = events.find(UPDATED)["params"]["uri"].clone();
            assert!(spelled.iter().any(|uri| updated == **uri), "{updated}");
            missing.retain(|uri| updated != **uri);
        }
    }
    let read = server
        .modern("resources/read", json!({ "uri": spelled[1] }))
        .result();
    assert_eq!(read["contents"][0]["text"], "changed");
    drop(events);
    server.stop();
}

#[test]
fn added_and_removed_files_change_the_list() {
    let server = start();
    let home = server.home.path().to_owned();
    let listed = |path: &str| {
        let list = server.modern("resources/list", json!({})).result();
        list.to_string().contains(&uri(&home, path))
    };
    let mut events = listen(&server, &json!({ "resourcesListChanged": true }));
    write(&server.home, "notes/new/er/file.md", b"new");
    events.find(RESOURCES);
    // The folder can be noticed before the file in it.
    while !listed("notes/new/er/file.md") {
        events.find(RESOURCES);
    }
    fs::remove_dir_all(home.join("notes/new")).unwrap();
    events.find(RESOURCES);
    while listed("notes/new/er/file.md") {
        events.find(RESOURCES);
    }
    drop(events);
    server.stop();
}

#[test]
fn sessions_are_notified() {
    let server = start();
    let session = Session::open(server.address, "/mcp", "2025-06-18");
    let readme = uri(server.home.path(), "notes/readme.md");
    session.subscribe(&readme);
    let mut events = session.listen();
    write(&server.home, "notes/readme.md", b"changed");
    assert_eq!(events.find(UPDATED)["params"]["uri"], readme);
    write(&server.home, "team/new.md", b"---\n---\nHello\n");
    let get = || {
        let params = json!({ "name": "team/new" });
        session.request("prompts/get", &params).json()
    };
    // The first notification may be about the initial list.
    let mut got = get();
    while got.get("result").is_none() {
        events.find(PROMPTS);
        got = get();
    }
    let got = &got["result"];
    assert_eq!(got["messages"][0]["content"]["text"], "Hello");
    drop(events);
    session.end();
    server.stop();
}

/// Hot reload: an invalid prompt keeps its previous version until it is fixed.
#[test]
fn invalid_prompt_keeps_its_previous_version() {
    let server = start();
    let text = |server: &Server| {
        let params = json!({ "name": "team/review", "arguments": { "language": "go" } });
        let got = server.modern("prompts/get", params).result();
        got["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut events = listen(&server, &json!({ "promptsListChanged": true }));
    write(
        &server.home,
        "team/review.md",
        b"---\narguments: [\n---\nbroken",
    );
    let line = server.process.stderr.find("review.md:");
    assert!(line.contains("stays in use"), "{line}");
    assert_eq!(text(&server), "Review this go code to depth 2.");
    let fixed = b"---\narguments: [{ name: language }]\n---\nNow {{language}}.\n";
    write(&server.home, "team/review.md", fixed);
    // The first notification may be about the initial list.
    while text(&server) != "Now go." {
        events.find(PROMPTS);
    }
    drop(events);
    server.stop();
}

/// A file that changes while a client pages through a list does not invalidate the cursor.
#[test]
fn cursor_stays_valid_while_names_do_not_change() {
    let config = format!("limits: {{ page_size: 2 }}\n{}", super::CONFIG);
    let server = Server::start_in(super::home_with(&config), &[]);
    let readme = uri(server.home.path(), "notes/readme.md");
    let page = |cursor: Option<&Value>| {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        server.modern("resources/list", params).result()
    };
    let cursor = page(None)["nextCursor"].clone();
    let mut events = listen(&server, &json!({ "resourceSubscriptions": [readme] }));
    write(&server.home, "notes/readme.md", b"much longer than before");
    events.find(UPDATED);
    assert_eq!(
        page(Some(&cursor))["resources"].as_array().map(Vec::len),
        Some(2)
    );
    drop(events);
    server.stop();
}
