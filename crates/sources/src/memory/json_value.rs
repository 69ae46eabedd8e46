//! Any JSON value, with its exact text.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tidegate_core::RawJson;

/// Any value. Parsing and serializing preserve its text.
#[derive(Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct JsonValue(Box<RawValue>);

impl JsonValue {
    pub(super) fn to_raw(&self) -> RawJson {
        RawJson::copy_of(self.0.get())
    }
}

impl From<RawJson> for JsonValue {
    fn from(value: RawJson) -> Self {
        let text = RawValue::from_string(value.as_str().to_owned());
        // Stored values were valid JSON; null is the fallback if the database was edited.
        Self(text.unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl JsonSchema for JsonValue {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
