//! What depends on the principal is not cached for others and not revealed.

use serde_json::{Value, json};

use super::principals::{ADA, BOB, serve};
use crate::support::messages::{Modern, watching};
use crate::support::{Events, Post, Server, Session};

const DUMP: &str = "plugin://memory/memory_dump";

fn post(server: &Server, key: &str) -> Post {
    let post = server.post().at("/mcp");
    post.header("Authorization", &format!("Bearer {key}"))
}

fn request(server: &Server, key: &str, method: &str, params: Value) -> Value {
    Modern::new(method, params).post(post(server, key)).result()
}

/// X21: a shared cache must not return one principal's response to another.
#[test]
fn principal_specific_results_are_private() {
    let server = serve();
    let mut differ = 0;
    for method in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        let answers = [ADA, BOB].map(|key| request(&server, key, method, json!({})));
        if answers[0] != answers[1] {
            differ += 1;
            for answer in &answers {
                assert_eq!(answer["cacheScope"], "private", "{method}: {answer}");
            }
        }
    }
    assert_eq!(differ, 2, "resources and discover");
    server.stop();
}

/// A principal cannot subscribe to what it cannot read: it does not exist.
#[test]
fn unreadable_resources_do_not_exist() {
    let server = serve();
    let nowhere = "plugin://memory/nowhere";
    let qualified = &format!("gateway://memory/{DUMP}");
    let entry = "plugin://memory/entries/mine";
    for key in [ADA, BOB] {
        let arguments = json!({ "key": "mine", "value": 1 });
        let call = json!({ "name": "memory__store", "arguments": arguments });
        request(&server, key, "tools/call", call);
    }
    let missing = "plugin://memory/entries/not-yet";
    let above = "plugin://memory";
    let accepted = |key| {
        let uris = [DUMP, nowhere, qualified, entry, missing, above];
        let listen = Modern::new("subscriptions/listen", watching(&uris));
        let mut events = Events::of(listen.open(post(&server, key)));
        let accepted = events.find("notifications/subscriptions/acknowledged");
        let uris = &accepted["params"]["notifications"]["resourceSubscriptions"];
        let mut uris: Vec<_> = uris.as_array().unwrap().clone();
        uris.sort_by_key(ToString::to_string);
        uris
    };
    assert_eq!(accepted(BOB), [entry]);
    assert_eq!(accepted(ADA), [qualified, entry, DUMP]);
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
    // `tidegate sources` prints the counts of this report.
    let counted = |key| {
        let health = json!({ "uri": "resource://system/health" });
        let report = request(&server, key, "resources/read", health);
        let report = report["contents"][0]["text"].as_str().unwrap().to_owned();
        let report: Value = serde_json::from_str(&report).unwrap();
        let components = report["components"].as_array().unwrap();
        let memory = components
            .iter()
            .find(|component| component["name"] == "memory");
        memory.unwrap()["metrics"]["resources"].clone()
    };
    assert_eq!((counted(ADA), counted(BOB)), (json!(3), json!(2)));
    server.stop();
}
