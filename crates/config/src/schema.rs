//! Adjustments of generated JSON Schemas.

use schemars::Schema;
use serde_json::{Value, json};

/// Turns the schema of an enum with documented variants (`oneOf` of constants) into a plain
/// `enum`, so that its doc comments do not replace the doc comments of the fields that use it.
pub fn plain_enum(schema: &mut Schema) {
    let variants = schema.get("oneOf").and_then(Value::as_array);
    let Some(variants) = variants else { return };
    let names: Vec<Value> = variants
        .iter()
        .flat_map(
            |variant| match (variant.get("const"), variant.get("enum")) {
                (Some(name), _) => vec![name.clone()],
                (_, Some(Value::Array(names))) => names.clone(),
                _ => Vec::new(),
            },
        )
        .collect();
    *schema = schemars::json_schema!({ "type": "string", "enum": json!(names) });
}
