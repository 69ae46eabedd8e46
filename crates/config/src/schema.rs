//! Adjustments of generated JSON Schemas.

use std::fmt::Display;
use std::ops::RangeInclusive;

use schemars::Schema;
use serde_json::{Value, json};

use crate::byte_size::ByteSize;
use crate::duration::HumanDuration;

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

/// A type whose values have an allowed range.
pub trait RangeBound: Copy + Display {
    /// The value as JSON Schema compares it; `None` if it is always written as text.
    fn as_number(self) -> Option<u64>;
}

impl RangeBound for u32 {
    fn as_number(self) -> Option<u64> {
        Some(self.into())
    }
}

impl RangeBound for usize {
    fn as_number(self) -> Option<u64> {
        u64::try_from(self).ok()
    }
}

impl RangeBound for ByteSize {
    fn as_number(self) -> Option<u64> {
        Some(self.into())
    }
}

impl RangeBound for HumanDuration {
    fn as_number(self) -> Option<u64> {
        None
    }
}

/// Adds the allowed range of a field to its schema: as `minimum` and `maximum` for numbers, and as
/// the last sentence of its description.
pub fn in_range<T: RangeBound>(range: RangeInclusive<T>) -> impl FnMut(&mut Schema) {
    let (min, max) = range.into_inner();
    move |schema| {
        if let (Some(min), Some(max)) = (min.as_number(), max.as_number()) {
            schema.insert("minimum".to_owned(), json!(min));
            schema.insert("maximum".to_owned(), json!(max));
        }
        let description = schema.get("description").and_then(Value::as_str);
        let description = description.unwrap_or_default();
        let description = format!("{description} Allowed: {min} to {max}.");
        schema.insert("description".to_owned(), json!(description.trim_start()));
    }
}
