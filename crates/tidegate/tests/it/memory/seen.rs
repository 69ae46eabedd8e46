//! What differs from one principal to another is kept for nobody else, and not told of.

use serde_json::{Value, json};

use super::principals::{ADA, BOB, serve};
use crate::support::messages::{Modern, watching};
use crate::support::{Events, Post, Server, Session};

const DUMP: &str = "plugin://memory/memory_dump";

fn post(server: &Server, key: &str) -> Post {
    let post = server.post().at("/mcp");
    post.header("Authorization", &format!("Bearer {key}"))
}

fn ask(server: &Server, key: &str, method: &str, params: Value) -> Value {
    Modern::new(method, params).post(post(server, key)).result()
}

/// X21: a shared cache must not hand one principal's answer to another.
#[test]
fn what_differs_by_principal_is_private() {
    let server = serve();
    let mut differ = 0;
    for method in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        let answers = [ADA, BOB].map(|key| ask(&server, key, method, json!({})));
        if answers[0] != answers[1] {
            differ += 1;
            for answer in &answers {
                assert_eq!(answer["cacheScope"], "private", "{method}: {answer}");
            }
        }
    }
    assert_eq!(differ, 2, "the resources, and what is said of them");
    server.stop();
}

/// What one may not read, one cannot subscribe to: it is as if it did not exist.
#[test]
fn what_is_not_ones_to_read_is_not_there() {
    let server = serve();
    let nowhere = "plugin://memory/nowhere";
    let qualified = &format!("gateway://memory/{DUMP}");
    let entry = "plugin://memory/entries/not-yet";
    let above = "plugin://memory";
    let agreed = |key| {
        let uris = [DUMP, nowhere, qualified, entry, above];
        let listen = Modern::new("subscriptions/listen", watching(&uris));
        let mut events = Events::of(listen.open(post(&server, key)));
        let agreed = events.find("notifications/subscriptions/acknowledged");
        let uris = &agreed["params"]["notifications"]["resourceSubscriptions"];
        let mut uris: Vec<_> = uris.as_array().unwrap().clone();
        uris.sort_by_key(ToString::to_string);
        uris
    };
    assert_eq!(agreed(BOB), [above, entry]);
    assert_eq!(agreed(ADA), [qualified, above, entry, DUMP]);
    let session = Session::open_as(server.address, "/mcp", "2025-06-18", Some(BOB));
    let refusal = |uri: &str| {
        let answer = session.request("resources/subscribe", &json!({ "uri": uri }));
        let mut error = answer.error();
        assert_eq!(error["data"]["uri"].take(), uri);
        error["data"] = Value::Null;
        error
    };
    assert_eq!(refusal(DUMP), refusal(nowhere));
    session.end();
    // `tidegate sources` counts what this report says.
    let counted = |key| {
        let health = json!({ "uri": "resource://system/health" });
        let report = ask(&server, key, "resources/read", health);
        let report = report["contents"][0]["text"].as_str().unwrap().to_owned();
        let report: Value = serde_json::from_str(&report).unwrap();
        let components = report["components"].as_array().unwrap();
        let memory = components.iter().find(|one| one["name"] == "memory");
        memory.unwrap()["metrics"]["resources"].clone()
    };
    assert_eq!((counted(ADA), counted(BOB)), (json!(3), json!(2)));
    server.stop();
}
