//! Which tools a stateless client over HTTP can call: those whose marks `x-mcp-header` name headers
//! that it can send. One wrong mark spoils a tool, for its server would refuse what is left out.

use std::collections::HashSet;

use serde_json::Value;
use tidegate_core::{RawJson, truncate_for_message};

use super::param_headers::{MARK, is_header_name};

/// Keywords of a schema that hold one schema, a list of them, or something that is none.
const SCHEMAS: [&str; 15] = [
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

/// Keywords that hold schemas by name.
const NAMED_SCHEMAS: [&str; 4] = [
    "$defs",
    "definitions",
    "patternProperties",
    "dependentSchemas",
];

/// What is wrong with the marks in a tool's definition, in words for the log; none if nothing is.
pub fn invalid_header_annotation(definition: &RawJson) -> Option<String> {
    if !definition.as_str().contains(MARK) {
        return None;
    }
    let definition: Value = serde_json::from_str(definition.as_str()).ok()?;
    let mut marks = Marks::default();
    marks.look(definition.get("inputSchema")?, true).err()
}

#[derive(Default)]
struct Marks {
    /// In lower case: headers do not tell cases apart.
    seen: HashSet<String>,
}

impl Marks {
    /// Looks at a schema and all that it holds. An argument is found through `properties` alone:
    /// what applies otherwise cannot be said by name.
    fn look(&mut self, schema: &Value, is_found: bool) -> Result<(), String> {
        let Some(members) = schema.as_object() else {
            return Ok(());
        };
        if let Some(mark) = members.get(MARK) {
            self.check(mark, members.get("type"), is_found)?;
        }
        for (keyword, held) in members {
            let (named, listed) = match keyword.as_str() {
                "properties" => (held.as_object(), None),
                keyword if NAMED_SCHEMAS.contains(&keyword) => (held.as_object(), None),
                keyword if SCHEMAS.contains(&keyword) => {
                    self.look(held, false)?;
                    (None, held.as_array())
                }
                _ => continue,
            };
            let is_found = is_found && keyword == "properties";
            let named = named.into_iter().flat_map(|named| named.values());
            for schema in named.chain(listed.into_iter().flatten()) {
                self.look(schema, is_found)?;
            }
        }
        Ok(())
    }

    fn check(&mut self, mark: &Value, kind: Option<&Value>, is_found: bool) -> Result<(), String> {
        let name = mark.as_str().unwrap_or_default();
        if !is_header_name(name) {
            return Err(format!(
                "{} cannot be a header's name",
                truncate_for_message(&mark.to_string())
            ));
        }
        let kind = kind.and_then(Value::as_str).unwrap_or_default();
        if !["string", "integer", "boolean"].contains(&kind) {
            return Err(format!("`{name}` marks what no header can repeat"));
        }
        if !is_found {
            return Err(format!("`{name}` marks what is not an argument by name"));
        }
        match self.seen.insert(name.to_ascii_lowercase()) {
            true => Ok(()),
            false => Err(format!("`{name}` marks two arguments")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_wrong(schema: &Value) -> bool {
        let definition = json!({ "name": "t", "inputSchema": schema });
        invalid_header_annotation(&definition.into()).is_some()
    }

    fn marked(kind: &str, mark: &str) -> Value {
        json!({ "type": kind, MARK: mark })
    }

    /// Whether a tool with this argument alone is wrong.
    fn is_wrong_with(argument: &Value) -> bool {
        is_wrong(&json!({ "type": "object", "properties": { "a": argument } }))
    }

    #[test]
    fn arguments_at_any_depth_can_be_marked() {
        assert!(!is_wrong_with(&json!({ "type": "number" })));
        for kind in ["string", "integer", "boolean"] {
            assert!(!is_wrong_with(&marked(kind, "X-Any.1")));
        }
        let properties = json!({ "zone": marked("string", "Zone") });
        let inner = json!({ "type": "object", "properties": properties });
        let both = json!({ "region": marked("string", "Region"), "where": inner });
        assert!(!is_wrong(&json!({ "properties": both })));
        // A property of this name is no mark, and neither is what stands in a value.
        let named = json!({ MARK: { "type": "number", "default": { MARK: "" } } });
        assert!(!is_wrong(&json!({ "properties": named })));
    }

    #[test]
    fn a_mark_names_a_header_once() {
        for name in ["", "My Region", "Region:Primary", "Région", "Region\t1"] {
            assert!(is_wrong_with(&marked("string", name)), "{name}");
        }
        assert!(is_wrong_with(&json!({ "type": "string", MARK: 7 })));
        for other in ["Region", "REGION"] {
            let two = json!({ "a": marked("string", "Region"), "b": marked("string", other) });
            assert!(is_wrong(&json!({ "properties": two })), "{other}");
        }
    }

    #[test]
    fn only_what_a_header_can_repeat_is_marked() {
        for kind in ["object", "array", "null", "number", "other"] {
            assert!(is_wrong_with(&marked(kind, "A")), "{kind}");
        }
        assert!(is_wrong_with(&json!({ MARK: "A" })));
        assert!(is_wrong(&marked("object", "A")));
    }

    #[test]
    fn only_arguments_by_name_are_marked() {
        let one = || marked("string", "A");
        for keyword in SCHEMAS {
            assert!(is_wrong(&json!({ keyword: one() })), "{keyword}");
            assert!(is_wrong(&json!({ keyword: [one()] })), "{keyword}");
            let below = json!({ "properties": { "a": one() } });
            assert!(is_wrong(&json!({ keyword: below })), "{keyword}");
        }
        for keyword in NAMED_SCHEMAS {
            assert!(is_wrong(&json!({ keyword: { "x": one() } })), "{keyword}");
        }
        assert!(is_wrong_with(&json!({ "type": "array", "items": one() })));
    }
}
