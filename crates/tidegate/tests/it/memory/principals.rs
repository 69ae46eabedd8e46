//! Each principal has a memory of its own, and sees no other's in any way.

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

fn user<'a>(server: &'a Server, key: &'static str) -> User<'a> {
    User {
        server,
        key: Some(key),
    }
}

#[test]
fn nobody_sees_what_another_keeps() {
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

/// Only those who run the gateway see everything, and only they see that there is such a thing.
#[test]
fn a_dump_is_for_admins() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    bob.store("k", json!(1));
    let dump = "plugin://memory/memory_dump";
    let listed = |user: &User<'_>| user.ask("resources/list", json!({})).body.contains(dump);
    assert!(listed(&ada));
    assert!(!listed(&bob));
    let item = ada.read(dump);
    let text = item["text"].as_str().unwrap();
    let all: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(all["total_entries"], 1);
    assert_eq!(all["truncated"], false);
    assert_eq!(all["entries"][0]["principal"], "bob");
    assert_eq!(all["entries"][0]["value"], 1);
    server.stop();
}

/// Who writes what, and when, is nobody else's business.
#[test]
fn nobody_hears_what_another_does() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    let uri = "plugin://memory/entries/k";
    let watch = |user: &User<'_>| {
        let listen = Modern::new("subscriptions/listen", watching(&[uri, STATS]));
        let mut events = Events::of(listen.open(user.post()));
        events.find("notifications/subscriptions/acknowledged");
        events
    };
    let mut heard = watch(&bob);
    let dump = "plugin://memory/memory_dump";
    let listen = Modern::new("subscriptions/listen", watching(&[dump]));
    let mut of_all = Events::of(listen.open(ada.post()));
    of_all.find("notifications/subscriptions/acknowledged");
    let mut of_none = Events::of(listen.open(bob.post()));
    of_none.find("notifications/subscriptions/acknowledged");
    ada.store("k", json!("secret"));
    ada.store("k", json!("secret again"));
    // Whatever came of that comes before what comes of this.
    bob.store("other", json!(1));
    assert_eq!(heard.find(UPDATED)["params"]["uri"], STATS);
    bob.store("k", json!(2));
    assert_eq!(heard.find(UPDATED)["params"]["uri"], uri);
    assert_eq!(heard.find(UPDATED)["params"]["uri"], STATS);
    // Those who run the gateway hear that there is something new in what they alone see.
    assert_eq!(of_all.find(UPDATED)["params"]["uri"], dump);
    server.process.signal(rustix::process::Signal::TERM);
    while let Some(message) = of_none.next() {
        assert_ne!(message["method"], UPDATED, "{message}");
    }
    server.process.end().expect_code(0);
}

/// When too much changes to be named, one who watches everything hears of it, and not of what
/// others watch.
#[test]
fn what_others_watch_is_not_told() {
    let server = serve();
    let (ada, bob) = (user(&server, ADA), user(&server, BOB));
    let listen = |user: &User<'_>, uri: &str| {
        let listen = Modern::new("subscriptions/listen", watching(&[uri]));
        let mut events = Events::of(listen.open(user.post()));
        events.find("notifications/subscriptions/acknowledged");
        events
    };
    let _adas = listen(&ada, "plugin://memory/entries/acquisition");
    let mut bobs = listen(&bob, "plugin://memory");
    for number in 0..250 {
        bob.store(&format!("k{number}"), json!(number));
    }
    assert_eq!(bob.call("clear", json!({}))["cleared"], 250);
    loop {
        let updated = bobs.find(UPDATED);
        let uri = updated["params"]["uri"].as_str().unwrap();
        assert!(!uri.contains("acquisition"), "{updated}");
        if uri == "plugin://memory" {
            break;
        }
    }
    // What comes after it has been told would have come by now.
    bob.store("last", json!(0));
    loop {
        let updated = bobs.find(UPDATED);
        let uri = updated["params"]["uri"].as_str().unwrap();
        assert!(!uri.contains("acquisition"), "{updated}");
        if uri.ends_with("/last") {
            break;
        }
    }
    server.stop();
}
