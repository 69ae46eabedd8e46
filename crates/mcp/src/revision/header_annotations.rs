//! Validates the `x-mcp-header` annotations of tools. A tool with one invalid annotation cannot be
//! called over HTTP in the modern era: its server rejects calls without the header.

use std::collections::HashSet;

use serde_json::Value;
use tidegate_core::{RawJson, truncate_for_message};

use super::param_headers::{ANNOTATION, is_header_name};

/// Schema keywords whose value is or may be a schema or a list of schemas.
const SUBSCHEMA_KEYWORDS: [&str; 15] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];

/// Schema keywords whose value is a map of schemas.
const SUBSCHEMA_MAP_KEYWORDS: [&str; 4] = [
    "$defs",
    "definitions",
    "patternProperties",
    "dependentSchemas",
];

/// What is wrong with the annotations in a tool's definition, for the log; `None` if they are
/// valid.
pub fn invalid_header_annotation(definition: &RawJson) -> Option<String> {
    if !definition.as_str().contains(ANNOTATION) {
        return None;
    }
    let definition: Value = serde_json::from_str(definition.as_str()).ok()?;
    let mut annotations = HeaderAnnotations::default();
    annotations
        .check_schema(definition.get("inputSchema")?, true)
        .err()
}

#[derive(Default)]
struct HeaderAnnotations {
    /// In lower case: header names are case-insensitive.
    header_names: HashSet<String>,
}

impl HeaderAnnotations {
    /// Checks a schema and its subschemas. Only an argument that is reached solely through
    /// `properties` can have a header.
    fn check_schema(&mut self, schema: &Value, is_named: bool) -> Result<(), String> {
        let Some(members) = schema.as_object() else {
            return Ok(());
        };
        if let Some(annotation) = members.get(ANNOTATION) {
            self.check_annotation(annotation, members.get("type"), is_named)?;
        }
        for (keyword, value) in members {
            let (map, list) = match keyword.as_str() {
                "properties" => (value.as_object(), None),
                keyword if SUBSCHEMA_MAP_KEYWORDS.contains(&keyword) => (value.as_object(), None),
                keyword if SUBSCHEMA_KEYWORDS.contains(&keyword) => {
                    self.check_schema(value, false)?;
                    (None, value.as_array())
                }
                _ => continue,
            };
            let is_named = is_named && keyword == "properties";
            let mapped = map.into_iter().flat_map(|map| map.values());
            for schema in mapped.chain(list.into_iter().flatten()) {
                self.check_schema(schema, is_named)?;
            }
        }
        Ok(())
    }

    fn check_annotation(
        &mut self,
        annotation: &Value,
        schema_type: Option<&Value>,
        is_named: bool,
    ) -> Result<(), String> {
        let name = annotation.as_str().unwrap_or_default();
        if !is_header_name(name) {
            return Err(format!(
                "{} is not a valid header name",
                truncate_for_message(&annotation.to_string())
            ));
        }
        let schema_type = schema_type.and_then(Value::as_str).unwrap_or_default();
        if !["string", "integer", "boolean"].contains(&schema_type) {
            return Err(format!(
                "`{name}` annotates a property that is not a string, integer or boolean"
            ));
        }
        if !is_named {
            return Err(format!(
                "`{name}` annotates a property that is not reached through `properties` alone"
            ));
        }
        match self.header_names.insert(name.to_ascii_lowercase()) {
            true => Ok(()),
            false => Err(format!("`{name}` annotates two properties")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_invalid(schema: &Value) -> bool {
        let definition = json!({ "name": "t", "inputSchema": schema });
        invalid_header_annotation(&definition.into()).is_some()
    }

    fn annotated(schema_type: &str, header: &str) -> Value {
        json!({ "type": schema_type, ANNOTATION: header })
    }

    /// Whether a tool with only this argument is invalid.
    fn is_invalid_with(argument: &Value) -> bool {
        is_invalid(&json!({ "type": "object", "properties": { "a": argument } }))
    }

    #[test]
    fn arguments_at_any_depth_can_be_annotated() {
        assert!(!is_invalid_with(&json!({ "type": "number" })));
        for schema_type in ["string", "integer", "boolean"] {
            assert!(!is_invalid_with(&annotated(schema_type, "X-Any.1")));
        }
        let properties = json!({ "zone": annotated("string", "Zone") });
        let inner = json!({ "type": "object", "properties": properties });
        let both = json!({ "region": annotated("string", "Region"), "where": inner });
        assert!(!is_invalid(&json!({ "properties": both })));
        // Neither a property of this name nor a value inside `default` is an annotation.
        let named = json!({ ANNOTATION: { "type": "number", "default": { ANNOTATION: "" } } });
        assert!(!is_invalid(&json!({ "properties": named })));
    }

    #[test]
    fn header_names_must_be_valid_and_unique() {
        for name in ["", "My Region", "Region:Primary", "Région", "Region\t1"] {
            assert!(is_invalid_with(&annotated("string", name)), "{name}");
        }
        assert!(is_invalid_with(&json!({ "type": "string", ANNOTATION: 7 })));
        for other in ["Region", "REGION"] {
            let properties =
                json!({ "a": annotated("string", "Region"), "b": annotated("string", other) });
            assert!(is_invalid(&json!({ "properties": properties })), "{other}");
        }
    }

    #[test]
    fn only_strings_integers_and_booleans_can_be_annotated() {
        for schema_type in ["object", "array", "null", "number", "other"] {
            assert!(
                is_invalid_with(&annotated(schema_type, "A")),
                "{schema_type}"
            );
        }
        assert!(is_invalid_with(&json!({ ANNOTATION: "A" })));
        assert!(is_invalid(&annotated("object", "A")));
    }

    #[test]
    fn only_arguments_reached_through_properties_can_be_annotated() {
        let schema = || annotated("string", "A");
        for keyword in SUBSCHEMA_KEYWORDS {
            assert!(is_invalid(&json!({ keyword: schema() })), "{keyword}");
            assert!(is_invalid(&json!({ keyword: [schema()] })), "{keyword}");
            let below = json!({ "properties": { "a": schema() } });
            assert!(is_invalid(&json!({ keyword: below })), "{keyword}");
        }
        for keyword in SUBSCHEMA_MAP_KEYWORDS {
            assert!(
                is_invalid(&json!({ keyword: { "x": schema() } })),
                "{keyword}"
            );
        }
        assert!(is_invalid_with(
            &json!({ "type": "array", "items": schema() })
        ));
    }
}
