//! Removes a declared difference from a record.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// What is done with a value that may differ.
pub(crate) enum Treatment {
    /// Not compared.
    LeftOut,
    /// Compared after this conversion.
    As(fn(&str) -> String),
    /// A list that the server does not support equals an empty list.
    AsEmptyList,
    /// Tools that only apps may call are removed.
    WithoutAppTools,
    /// Messages with this method or resources below this URI are removed.
    Without(&'static str),
}

impl Treatment {
    #[track_caller]
    pub(super) fn read(text: &'static str) -> Self {
        match text {
            "left out" => Self::LeftOut,
            "without app tools" => Self::WithoutAppTools,
            "as an empty list" => Self::AsEmptyList,
            "as of any time" => Self::As(any_time),
            "as of any day" => Self::As(any_day),
            "as of any session" => Self::As(any_session),
            "as untimed" => Self::As(untimed),
            "as untimed blob" => Self::As(untimed_blob),
            "as untimed lines" => Self::As(untimed_lines),
            _ => match text.strip_prefix("without ") {
                Some(what) => Self::Without(what),
                None => panic!("unknown comparison: {text}"),
            },
        }
    }

    /// Applies to the values at this path; `*` is any member. Returns whether there was one.
    pub(super) fn apply(&self, value: &mut Value, at: &[&str]) -> bool {
        match (at, value) {
            ([], there) => self.apply_here(there),
            (["*", rest @ ..], Value::Array(items)) => self.each(items.iter_mut(), rest),
            (["*", rest @ ..], Value::Object(members)) => self.each(members.values_mut(), rest),
            ([name, rest @ ..], Value::Object(members)) => {
                let found = members
                    .get_mut(*name)
                    .is_some_and(|value| self.apply(value, rest));
                let left_out = rest.is_empty() && matches!(self, Self::LeftOut);
                // An emptied container is removed too.
                if found && (left_out || members.get(*name).is_some_and(is_empty)) {
                    members.remove(*name);
                }
                found
            }
            _ => false,
        }
    }

    fn apply_here(&self, value: &mut Value) -> bool {
        match (self, value) {
            (Self::LeftOut, _) => true,
            (Self::AsEmptyList, outcome) => empty_list(outcome),
            (Self::As(convert), Value::String(text)) => {
                let before = std::mem::take(text);
                *text = convert(&before);
                *text != before
            }
            (Self::WithoutAppTools, Value::Array(tools)) => {
                let before = tools.len();
                tools.retain(|tool| !is_for_apps(tool));
                tools.len() < before
            }
            (Self::Without(what), Value::Array(items)) => {
                let before = items.len();
                items.retain(|item| {
                    !starts_with(&item["method"], what) && !starts_with(&item["uri"], what)
                });
                items.len() < before
            }
            _ => false,
        }
    }

    /// All of them, not only the first.
    fn each<'a>(&self, all: impl Iterator<Item = &'a mut Value>, rest: &[&str]) -> bool {
        all.fold(false, |found, value| self.apply(value, rest) | found)
    }
}

/// Whether only apps may call a tool.
pub(crate) fn is_for_apps(tool: &Value) -> bool {
    tool["_meta"]["ui"]["visibility"] == json!(["app"])
}

/// Replaces an empty list, and the error for an unknown method, by an empty result.
fn empty_list(outcome: &mut Value) -> bool {
    const METHOD_NOT_FOUND: i32 = -32601;
    let is_empty_list = |result: &serde_json::Map<String, Value>| {
        let mut lists = result.values().filter_map(Value::as_array);
        lists.any(Vec::is_empty)
    };
    let is_empty = outcome["error"]["code"] == METHOD_NOT_FOUND
        || outcome["result"].as_object().is_some_and(is_empty_list);
    if is_empty {
        *outcome = json!({ "result": {} });
    }
    is_empty
}

fn starts_with(value: &Value, start: &str) -> bool {
    value.as_str().is_some_and(|text| text.starts_with(start))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The text without dates.
fn any_day(text: &str) -> String {
    const DAYS: [&str; 7] = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ];
    let mut text = text.to_owned();
    for day in DAYS {
        text = text.replace(day, "a day");
    }
    // A date precedes the T of a time stamp.
    let parts: Vec<_> = text.split('T').map(undated).collect();
    parts.join("T")
}

fn undated(before: &str) -> &str {
    let date = before.len().saturating_sub("2026-01-02".len());
    match before.get(date..) {
        Some(end)
            if end
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-') =>
        {
            &before[..date]
        }
        _ => before,
    }
}

/// The text without times.
fn any_time(text: &str) -> String {
    any_day(text).replace(|c: char| c.is_ascii_digit(), "#")
}

/// The text without lines that contain times.
fn untimed_lines(text: &str) -> String {
    const TIMES: [&str; 3] = ["created:", "modified:", "accessed:"];
    let untimed = |line: &&str| !TIMES.iter().any(|time| line.starts_with(time));
    text.lines().filter(untimed).collect::<Vec<_>>().join("\n")
}

/// The text without the time at its end.
fn untimed(text: &str) -> String {
    let (before, _) = text.split_once(" created at ").unwrap_or((text, ""));
    before.to_owned()
}

/// The same for text in base64.
fn untimed_blob(blob: &str) -> String {
    let text = BASE64_STANDARD.decode(blob).unwrap_or_default();
    untimed(&String::from_utf8_lossy(&text))
}

/// The text without session ids.
fn any_session(text: &str) -> String {
    let is_id =
        |word: &&str| word.len() == 36 && word.bytes().filter(|byte| *byte == b'-').count() == 4;
    text.split(' ')
        .filter(|word| !is_id(word))
        .collect::<Vec<_>>()
        .join(" ")
}
