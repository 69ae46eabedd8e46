//! Examples in YAML: every field of a section with the example or the default of its schema.
//!
//! Must not know: any field.

use serde_json::{Map, Value};

/// A code block with all fields of the section at this path, except the excluded ones.
pub(super) fn block(path: &[&str], fields: &Map<String, Value>, excluded: &[&str]) -> String {
    let mut text = "\n```yaml\n".to_owned();
    for (depth, key) in path.iter().enumerate() {
        text += &format!("{}{key}:\n", "  ".repeat(depth));
    }
    let shown = fields
        .iter()
        .filter(|(field, _)| !excluded.contains(&field.as_str()));
    for (field, schema) in shown {
        text += &entry(path.len(), field, schema);
    }
    text + "```\n"
}

/// A field and its example; nothing for a field that has neither an example nor a default.
fn entry(depth: usize, field: &str, schema: &Value) -> String {
    let indent = "  ".repeat(depth);
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        let entries: String = fields
            .iter()
            .map(|(field, schema)| entry(depth + 1, field, schema))
            .collect();
        return format!("{indent}{field}:\n{entries}");
    }
    let examples = schema.get("examples").and_then(Value::as_array);
    let example = examples.and_then(|examples| examples.first());
    match example.or_else(|| schema.get("default")) {
        Some(value) => format!("{indent}{field}: {}\n", flow(value)),
        None => String::new(),
    }
}

/// A value in one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) || is_number(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) if !fields.is_empty() => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{key}: {}", flow(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// Whether the text is a size without a unit, which needs no quotes.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether YAML reads the text as a string without quotes.
fn is_plain(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '.'));
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "/._-: ".contains(c);
    let is_duration = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphabetic());
    (starts_well || is_duration)
        && text.chars().all(is_safe)
        && !text.contains(": ")
        && !matches!(text, "true" | "false" | "null")
}
