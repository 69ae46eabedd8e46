//! Clients and helpers that these tests share.

mod answering_client;
mod stdio_client;
mod suite;

pub(crate) use answering_client::AnsweringClient;
pub(crate) use stdio_client::StdioPeer;
pub(crate) use suite::Suite;

use serde_json::Value;

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
        .map(|one| one["name"].as_str().unwrap().to_owned());
    names.collect()
}
