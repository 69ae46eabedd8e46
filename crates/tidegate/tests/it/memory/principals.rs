//! Each principal has its own memory and cannot access others.

use serde_json::json;

use super::{STATS, User};
use crate::support::messages::{Modern, watching};
use crate::support::{Events, Home, Running, Server};

const CONFIG: &str = "auth: { keys: { ada: '${env:ADA_KEY}', bob: '${env:BOB_KEY}' }, admins: [ada] }\n\
    sources: { memory: { kind: memory } }\n";
pub(super) const ADA: &str = "key-of-ada-0123456789";
pub(super) const BOB: &str = "key-of-bob-0123456789";
const UPDATED: &str = "notifications/resources/updated";

pub(super) fn serve() -> Server {
    let home = Home::with_config(CONFIG);
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA_KEY", ADA).env("BOB_KEY", BOB));
    Server::of(home, process)
}

/// Stores an entry and waits until its notifications are delivered.
pub(super) fn store_and_wait(user: &User<'_>, key: &str) {
    let listen = Modern::new("subscriptions/listen", watching(&[STATS]));
    let mut events = Events::of(listen.open(user.post()));
    events.find("notifications/subscriptions/acknowledged");
    user.store(key, json!(0));
    events.find(UPDATED);
}

fn user<'a>(server: &'a Server, key: &'static str) -> User<'a> {
    User {
        server,
        key: Some(key),
    }
}

#[test]
fn memories_are_private() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    let secret = json!({ "key": "pin", "value": "hidden", "tags": ["t"], "namespace": "vault" });
    ada.call("store", secret);
    ada.store("pin", json!("hidden"));
    bob.store("mine", json!("open"));

    bob.fault("retrieve", json!({ "key": "pin" }));
    assert_eq!(bob.keys(json!({})), ["mine"]);
    assert_eq!(
        bob.keys(json!({ "namespace": "vault" })),
        Vec::<String>::new()
    );
    assert_eq!(bob.keys(json!({ "tags": ["t"] })), Vec::<String>::new());
    assert_eq!(bob.found("hidden pin t"), Vec::<String>::new());
    let stats = bob.stats();
    assert_eq!(stats["total_entries"], 1);
    assert!(stats["namespaces"].get("vault").is_none(), "{stats}");
    for uri in [
        "plugin://memory/entries/pin",
        "plugin://memory/namespaces/vault/entries/pin",
        "plugin://memory/memory_dump",
        "gateway://memory/plugin://memory/memory_dump",
    ] {
        let answer = bob.ask("resources/read", json!({ "uri": uri }));
        assert!(answer.json()["error"].is_object(), "{uri}: {answer:?}");
        assert!(!answer.body.contains("hidden"), "{answer:?}");
    }
    let template = "plugin://memory/namespaces/{namespace}/entries/{key}";
    assert_eq!(
        bob.completed(template, "namespace", "", json!({})),
        ["default"]
    );
    let vault = json!({ "namespace": "vault" });
    assert_eq!(
        bob.completed(template, "key", "", vault),
        Vec::<String>::new()
    );
    let prompt = json!({ "name": "memory_search", "arguments": { "query": "hidden" } });
    assert!(!bob.ask("prompts/get", prompt).body.contains("entries/pin"));
    assert_eq!(
        bob.call("delete", json!({ "key": "pin" }))["deleted"],
        false
    );
    assert_eq!(bob.call("clear", json!({}))["cleared"], 1);
    assert_eq!(ada.keys(json!({})), ["pin", "pin"]);
    server.stop();
}

/// Only admins can read and list everything.
#[test]
fn dump_is_only_for_admins() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    bob.store("k", json!(1));
    ada.store("own", json!(2));
    let dump = "plugin://memory/memory_dump";
    let listed = |user: &User<'_>| user.ask("resources/list", json!({})).body.contains(dump);
    assert!(listed(&ada));
    assert!(!listed(&bob));
    let item = ada.read(dump);
    let text = item["text"].as_str().unwrap();
    let all: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(all["total_entries"], 2);
    assert_eq!(all["truncated"], false);
    let of = |principal: &str| {
        let mut entries = all["entries"].as_array().unwrap().iter();
        entries
            .find(|entry| entry["principal"] == principal)
            .unwrap()
    };
    assert_eq!(of("bob")["value"], 1);
    // The URI of an entry leads to that of the reader, so it is not given for others.
    assert!(of("bob").get("uri").is_none());
    let uri = of("ada")["uri"].as_str().unwrap();
    assert_eq!(ada.read(uri)["text"].as_str(), None);
    server.stop();
}

/// Writes of a principal are not visible to others.
#[test]
fn notifications_are_private() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    let uri = "plugin://memory/entries/k";
    let watch = |user: &User<'_>| {
        let listen = Modern::new("subscriptions/listen", watching(&[uri, STATS]));
        let mut events = Events::of(listen.open(user.post()));
        events.find("notifications/subscriptions/acknowledged");
        events
    };
    store_and_wait(&bob, "k");
    let mut bob_events = watch(&bob);
    let dump = "plugin://memory/memory_dump";
    let listen = Modern::new("subscriptions/listen", watching(&[dump]));
    let mut dump_events = Events::of(listen.open(ada.post()));
    dump_events.find("notifications/subscriptions/acknowledged");
    let mut bob_dump_events = Events::of(listen.open(bob.post()));
    bob_dump_events.find("notifications/subscriptions/acknowledged");
    ada.store("k", json!("secret"));
    ada.store("k", json!("secret again"));
    // Notifications of the writes above would arrive before this one.
    bob.store("other", json!(1));
    assert_eq!(bob_events.find(UPDATED)["params"]["uri"], STATS);
    bob.store("k", json!(2));
    assert_eq!(bob_events.find(UPDATED)["params"]["uri"], uri);
    assert_eq!(bob_events.find(UPDATED)["params"]["uri"], STATS);
    // Admins are notified of changes of what only they can read.
    assert_eq!(dump_events.find(UPDATED)["params"]["uri"], dump);
    server.process.signal(rustix::process::Signal::TERM);
    while let Some(message) = bob_dump_events.next() {
        assert_ne!(message["method"], UPDATED, "{message}");
    }
    server.process.end().expect_code(0);
}

/// If there are too many changes to list, every subscriber is notified, but not of URIs that others
/// subscribed to.
#[test]
fn subscriptions_of_others_are_not_revealed() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    let listen = |user: &User<'_>, uri: &str| {
        let listen = Modern::new("subscriptions/listen", watching(&[uri]));
        let mut events = Events::of(listen.open(user.post()));
        events.find("notifications/subscriptions/acknowledged");
        events
    };
    ada.store("acquisition", json!("secret"));
    let _adas = listen(&ada, "plugin://memory/entries/acquisition");
    store_and_wait(&bob, "last");
    let last = "plugin://memory/entries/last";
    let mut bobs = listen(&bob, last);
    for number in 0..250 {
        bob.store(&format!("k{number}"), json!(number));
    }
    assert_eq!(bob.call("clear", json!({}))["cleared"], 251);
    assert_eq!(bobs.find(UPDATED)["params"]["uri"], last);
    // Later notifications would have arrived by now.
    bob.store("last", json!(1));
    assert_eq!(bobs.find(UPDATED)["params"]["uri"], last);
    server.stop();
}
