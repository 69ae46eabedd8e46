//! What changes in a folder is told to those who listen, of either era.

use std::fs;

use serde_json::{Value, json};

use super::{start, uri, write};
use crate::support::messages::Modern;
use crate::support::{Events, Server, Session};

const UPDATED: &str = "notifications/resources/updated";
const RESOURCES: &str = "notifications/resources/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";

/// A stream of the changes that a filter names, which are missed no more.
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
fn an_update_is_told_under_the_uri_that_was_asked_for() {
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
        // A file that is written in two steps may be told of twice.
        let mut missing = expected;
        while !missing.is_empty() {
            let heard = events.find(UPDATED)["params"]["uri"].clone();
            assert!(spelled.iter().any(|one| heard == **one), "{heard}");
            missing.retain(|one| heard != **one);
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
fn files_that_come_and_go_change_the_list() {
    let server = start();
    let home = server.home.path().to_owned();
    let listed = |path: &str| {
        let list = server.modern("resources/list", json!({})).result();
        list.to_string().contains(&uri(&home, path))
    };
    let mut events = listen(&server, &json!({ "resourcesListChanged": true }));
    write(&server.home, "notes/new/er/file.md", b"new");
    events.find(RESOURCES);
    // The folder may be seen before the file in it is.
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
fn a_session_hears_of_it_too() {
    let server = start();
    let session = Session::open(server.address, "/mcp", "2025-06-18");
    let readme = uri(server.home.path(), "notes/readme.md");
    session.subscribe(&readme);
    let mut events = session.listen();
    write(&server.home, "notes/readme.md", b"changed");
    assert_eq!(events.find(UPDATED)["params"]["uri"], readme);
    write(&server.home, "team/new.md", b"---\n---\nHello\n");
    let get = || {
        let asked = json!({ "name": "team/new" });
        session.request("prompts/get", &asked).json()
    };
    // That the list is there at all may be told late.
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

/// Hot reload: a prompt that breaks stays as it was until it is mended.
#[test]
fn a_prompt_is_never_lost_while_it_is_written() {
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
    let told = server.process.stderr.find("review.md:");
    assert!(told.contains("stays in use"), "{told}");
    assert_eq!(text(&server), "Review this go code to depth 2.");
    let mended = b"---\narguments: [{ name: language }]\n---\nNow {{language}}.\n";
    write(&server.home, "team/review.md", mended);
    // That the list is there at all may be told late.
    while text(&server) != "Now go." {
        events.find(PROMPTS);
    }
    drop(events);
    server.stop();
}

/// A file that grows while a client walks through a long list does not stop the walk.
#[test]
fn a_cursor_stays_good_while_the_names_do() {
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
