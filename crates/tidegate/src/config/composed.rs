//! Mappings whose fields come from several sections: how such a mapping is described in the JSON
//! Schema. Its fields are read later, by [`Mapping`](super::mapping::Mapping).

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Describes the mapping that `Composed` stands for.
pub(crate) trait Describe {
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// A mapping of the file whose fields are read later.
#[derive(Debug)]
pub(crate) struct Composed<D>(PhantomData<D>);

impl<'de, D> Deserialize<'de> for Composed<D> {
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        deserializer.deserialize_map(ComposedVisitor)?;
        Ok(Self(PhantomData))
    }
}

struct ComposedVisitor;

impl<'de> Visitor<'de> for ComposedVisitor {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<D: Describe> JsonSchema for Composed<D> {
    fn schema_name() -> Cow<'static, str> {
        "Composed".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        D::schema(generator)
    }
}

/// One schema with the fields of all sections, and no others.
pub(crate) fn merge(sections: &[Schema]) -> Schema {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for section in sections {
        let fields = section.get("properties").and_then(Value::as_object);
        properties.extend(fields.cloned().unwrap_or_default());
        let names = section.get("required").and_then(Value::as_array);
        required.extend(names.cloned().unwrap_or_default());
    }
    let mut merged = json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        merged.insert("required".to_owned(), Value::Array(required));
    }
    merged
}
