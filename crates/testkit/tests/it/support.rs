//! What these tests share.

mod asker;
mod lines;
mod suite;

pub(crate) use asker::Asker;
pub(crate) use lines::Lines;
pub(crate) use suite::Suite;

use serde_json::Value;

/// The first text of a tool's result.
#[track_caller]
pub(crate) fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer}"))
        .to_owned()
}

/// The names in a list.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let all = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    let names = all
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned());
    names.collect()
}
