//! The JSON of a scripted source's lists and reads.
//!
//! Must not know: who the caller is.

use serde_json::json;
use tidegate_core::{CatalogEntry, RawJson};

pub(super) fn prompt(name: &str) -> CatalogEntry {
    let definition = json!({ "name": name, "description": "echoes its arguments" });
    entry(name, definition)
}

pub(super) fn resource(uri: &str) -> CatalogEntry {
    let definition = json!({ "uri": uri, "name": uri, "mimeType": "text/plain" });
    entry(uri, definition)
}

pub(super) fn template(text: &str) -> CatalogEntry {
    let definition = json!({ "uriTemplate": text, "name": text });
    entry(text, definition)
}

pub(super) fn contents(uri: &str, text: &str) -> RawJson {
    json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] }).into()
}

pub(super) fn messages(name: &str, params: &RawJson) -> RawJson {
    let given = params
        .object()
        .and_then(|params| params.get("arguments").map(str::to_owned))
        .unwrap_or_else(|| "{}".to_owned());
    let text = format!("{name} {given}");
    json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] }).into()
}

pub(super) fn completion() -> RawJson {
    json!({ "completion": { "values": ["one", "two"], "total": 2, "hasMore": false } }).into()
}

fn entry(key: &str, definition: serde_json::Value) -> CatalogEntry {
    CatalogEntry {
        key: key.to_owned(),
        definition: definition.into(),
    }
}
