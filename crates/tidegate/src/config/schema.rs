//! The JSON Schema of the file, made from the raw types.
//!
//! Knows no field by name.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::raw::Raw;

/// The whole schema, without references inside it.
pub(crate) fn schema() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Raw>()
}

/// The default of a field such as `log.level`, as it would be written, if it has one.
pub(crate) fn default_of(field: &str) -> Option<String> {
    let pointer: String = field
        .split('.')
        .map(|name| format!("/properties/{name}"))
        .collect();
    written(schema().pointer(&pointer)?.get("default")?)
}

/// A default as people write it; none for an empty list or mapping.
fn written(default: &Value) -> Option<String> {
    match default {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(default.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
