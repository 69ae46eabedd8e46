//! The JSON Schema of the file, generated from the sections. Must not know any field.

use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::document::Document;

/// The whole schema, without references.
pub(crate) fn schema() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Document>()
}

/// The default of a field such as `log.level`, as it would be written.
pub(crate) fn default_of(field: &str) -> Option<String> {
    // Generated once: the help texts of every command contain many defaults.
    static SCHEMA: LazyLock<Schema> = LazyLock::new(schema);
    let pointer: String = field
        .split('.')
        .map(|name| format!("/properties/{name}"))
        .collect();
    display_default(SCHEMA.pointer(&pointer)?)
}

/// The default in the schema of a field, as it would be written; `None` for an empty list or mapping.
pub(crate) fn display_default(field: &Value) -> Option<String> {
    match field.get("default")? {
        Value::String(text) => Some(text.clone()),
        scalar @ (Value::Bool(_) | Value::Number(_)) => Some(scalar.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
