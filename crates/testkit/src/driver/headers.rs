//! The `Mcp-Param-*` headers of a tool call, as a modern client writes them.
//!
//! Must not know: who reads them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The headers for a call with these arguments, according to the schema of the tool.
pub(super) fn parameter_headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties {
        let value = match &arguments[name] {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if let Some(marked) = property["x-mcp-header"].as_str() {
            headers.push((format!("Mcp-Param-{marked}"), encode(&value)));
        }
        headers.extend(parameter_headers(property, &arguments[name]));
    }
    headers
}

/// A value encoded for a header.
fn encode(value: &str) -> String {
    let plain = value.chars().all(|char| matches!(char, ' '..='~')) && value.trim() == value;
    match plain {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(value)),
    }
}
