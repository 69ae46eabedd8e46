//! Several processes on one data folder see each other's changes.

use serde_json::{Value, json};

use super::principals::store_and_wait;
use super::{STATS, User};
use crate::support::messages::{Modern, watching};
use crate::support::{Events, Home, Running, Server, Session, Stdio};

const UPDATED: &str = "notifications/resources/updated";
const ENTRY: &str = "plugin://memory/entries/a%20b";

/// Another gateway on the data folder of this one.
fn start_second(server: &Server) -> Stdio {
    let data = server.home.path().join("data/tidegate");
    let home = Home::new();
    let process =
        Running::start(&mut home.tidegate(&["stdio", "--data-dir", data.to_str().unwrap()]));
    Stdio::of(home, process)
}

fn call(stdio: &mut Stdio, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": format!("memory__{tool}") });
    params["arguments"] = arguments;
    let mut answer = stdio.modern("tools/call", params);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answer["result"]["structuredContent"].take()
}

#[test]
fn entries_are_shared_between_processes() {
    let server = Server::start_shipped();
    let mut other = start_second(&server);
    let user = User::of(&server);
    user.store("here", json!(1));
    assert_eq!(
        call(&mut other, "retrieve", json!({ "key": "here" }))["value"],
        1
    );
    call(&mut other, "store", json!({ "key": "there", "value": 2 }));
    assert_eq!(user.keys(json!({})), ["here", "there"]);
    call(&mut other, "delete", json!({ "key": "here" }));
    assert_eq!(user.keys(json!({})), ["there"]);
    other.end();
    server.stop();
}

/// The next two updates, in any order.
fn next_two_updates(events: &mut Events) -> [String; 2] {
    let mut uris = [events.find(UPDATED), events.find(UPDATED)]
        .map(|message| message["params"]["uri"].as_str().unwrap().to_owned());
    uris.sort();
    uris
}

#[test]
fn subscribers_are_notified_of_changes_by_any_process() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    // As listed, and without encoding.
    let spelled = "plugin://memory/entries/a b";
    store_and_wait(&user, "a b");
    let filter = watching(&[ENTRY, spelled]);
    let listen = Modern::new("subscriptions/listen", filter);
    let mut modern = Events::of(listen.open(user.post()));
    modern.find("notifications/subscriptions/acknowledged");
    let session = Session::open(server.address, "/mcp", "2025-11-25");
    session.subscribe(ENTRY);
    session.subscribe(STATS);
    let mut legacy = session.listen();
    let mut other = start_second(&server);

    let mut assert_notified = || {
        assert_eq!(next_two_updates(&mut modern), [spelled, ENTRY]);
        assert_eq!(next_two_updates(&mut legacy), [ENTRY, STATS]);
    };
    user.store("a b", json!(1));
    assert_notified();
    call(
        &mut other,
        "store",
        json!({ "key": "a b", "value": 2, "ttl": "1s" }),
    );
    assert_notified();
    // The entry expires.
    assert_notified();
    other.end();
    server.stop();
}
