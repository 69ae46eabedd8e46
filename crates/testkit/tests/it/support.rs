//! Clients and helpers that these tests share.

mod stdio_client;
mod suite;

pub(crate) use stdio_client::StdioPeer;
pub(crate) use suite::Suite;

use serde_json::{Value, json};
use tidegate_testkit::{Events, Session};

/// The first text of a tool's result.
#[track_caller]
pub(crate) fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer}"))
        .to_owned()
}

/// The names of listed entries.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let all = list
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {list}"));
    let names = all
        .iter()
        .map(|entry| entry["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// Calls a tool in a session and reads the stream of the call.
pub(crate) async fn call_for_events(session: &Session, tool: &str) -> Events {
    session.call(tool, json!({})).send().await.events()
}

/// Answers a question in a session.
pub(crate) async fn answer(session: &Session, question: &Value, result: Value) {
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(session.post(&answer).send().await.status, 202);
}
