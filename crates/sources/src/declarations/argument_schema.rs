//! The JSON schema of a tool's arguments, and their validation with messages for the model or user
//! who wrote them.
//!
//! Supports as much of JSON Schema as our own types generate.

use std::borrow::Cow;

use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};
use tidegate_core::{Object, truncate_for_message};

use super::value_type::ValueType;

/// Problems that one message reports.
const MAX_PROBLEMS: usize = 5;

/// The schema of an object with known members.
pub(crate) struct ArgumentSchema {
    schema: Schema,
    members: Vec<SchemaMember>,
    allows_unknown: bool,
}

struct SchemaMember {
    name: String,
    value_type: ValueType,
    required: bool,
}

impl ArgumentSchema {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let mut schema = schema_of::<T>();
        let object = schema.as_value();
        let required = object["required"].as_array().map(Vec::as_slice);
        let required = required.unwrap_or_default();
        let members = object["properties"].as_object().into_iter().flatten();
        let members = members.map(|(name, property)| SchemaMember {
            name: name.clone(),
            value_type: ValueType::from_schema(property),
            required: required.iter().any(|required| required == name),
        });
        let (members, allows_unknown) = (
            members.collect(),
            object["additionalProperties"] != Value::Bool(false),
        );
        RecursiveTransform(remove_type_unions).transform(&mut schema);
        Self {
            schema,
            members,
            allows_unknown,
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The JSON text in the form that the Rust type parses (`1.0` is an integer too), or a message
    /// with the problems.
    pub(crate) fn validate(&self, json: &str) -> Result<String, String> {
        let given = Object::parse(json).map_err(|error| describe_parse_error(&error))?;
        let mut problems: Vec<String> = Vec::new();
        let mut normalized = Object::default();
        for member in &self.members {
            let name = &member.name;
            match given.get(name) {
                None if member.required => problems.push(format!("`{name}` is missing")),
                None => {}
                Some(value) => match member.value_type.normalize(value) {
                    Some(value) => normalized.set(name, value),
                    None => problems.push(format!("`{name}` must be {}", member.value_type)),
                },
            }
        }
        for (name, value) in given.iter() {
            match self.members.iter().any(|member| member.name == name) {
                true => {}
                false if self.allows_unknown => normalized.set(name, Cow::Borrowed(value)),
                false => problems.push(self.unknown_member(name)),
            }
        }
        if problems.is_empty() {
            return Ok(normalized.write().to_string());
        }
        problems.truncate(MAX_PROBLEMS);
        Err(problems.join("; "))
    }

    fn unknown_member(&self, name: &str) -> String {
        let known = self.members.iter();
        let known: Vec<_> = known.map(|member| format!("`{}`", member.name)).collect();
        let name = truncate_for_message(name);
        format!("unknown field `{name}`; expected {}", known.join(", "))
    }
}

/// Arguments are usually one line, so the line number is omitted.
fn describe_parse_error(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("invalid JSON at column {}", error.column());
    }
    let text = error.to_string();
    match text.starts_with("invalid type") {
        true => "expected a JSON object".to_owned(),
        false => text.split(" at line ").next().unwrap_or(&text).to_owned(),
    }
}

/// The schema of a type, without references.
pub(super) fn schema_of<T: JsonSchema>() -> Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    RecursiveTransform(remove_format).transform(&mut schema);
    schema
}

/// schemars adds formats such as `uint32`, which JSON Schema does not define; clients warn about
/// them.
fn remove_format(schema: &mut Schema) {
    schema.remove("format");
}

/// Some clients fail on a `type` that is an array. An optional argument can be omitted, so its schema
/// need not mention `null`, although `null` is accepted; other unions become `anyOf`.
fn remove_type_unions(schema: &mut Schema) {
    let not_null = |schema: &Value| schema["type"] != "null";
    if let Some(Value::Array(options)) = schema.remove("anyOf") {
        let mut options: Vec<_> = options.into_iter().filter(not_null).collect();
        match (options.pop(), options.is_empty()) {
            (Some(Value::Object(only)), true) => {
                for (key, value) in only {
                    if schema.get(&key).is_none() {
                        schema.insert(key, value);
                    }
                }
            }
            (last, _) => {
                options.extend(last);
                schema.insert("anyOf".to_owned(), options.into());
            }
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(types)) = schema.get("type") else {
        return;
    };
    let mut types: Vec<_> = types
        .iter()
        .filter(|name| *name != "null")
        .cloned()
        .collect();
    if types.len() == 1 {
        schema.insert("type".to_owned(), types.swap_remove(0));
    } else {
        let options = types.into_iter().map(|name| json!({ "type": name }));
        let options = options.collect();
        schema.remove("type");
        schema.insert("anyOf".to_owned(), Value::Array(options));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct TestArguments {
        key: String,
        value: Value,
        #[serde(default)]
        tags: Vec<String>,
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u32>,
        offset: Option<usize>,
        kind: Option<TestKind>,
        #[serde(default)]
        names: BTreeMap<String, String>,
        deep: Option<bool>,
        #[serde(default)]
        #[schemars(extend("type" = ["number", "string"]))]
        expiry: Value,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum TestKind {
        Tool,
        Prompt,
    }

    fn validate(json: &str) -> Result<String, String> {
        ArgumentSchema::of::<TestArguments>().validate(json)
    }

    fn with_members(members: &str) -> String {
        format!("{{\"key\":\"k\",\"value\":1{members}}}")
    }

    #[test]
    fn reports_invalid_members_by_name() {
        let limit = "`limit` must be an integer from 1 to 100";
        for (members, message) in [
            (r#","limit":0"#, limit),
            (r#","limit":101"#, limit),
            (r#","limit":-1"#, limit),
            (r#","limit":1.5"#, limit),
            (r#","limit":1e300"#, limit),
            (r#","limit":"1""#, limit),
            (r#","limit":true"#, limit),
            (
                r#","offset":-1"#,
                "`offset` must be an integer of at least 0",
            ),
            (r#","tags":"a""#, "`tags` must be an array of strings"),
            (r#","tags":["a",1]"#, "`tags` must be an array of strings"),
            (r#","tags":null"#, "`tags` must be an array of strings"),
            (r#","kind":"x""#, "`kind` must be one of `tool`, `prompt`"),
            (
                r#","names":{"a":1}"#,
                "`names` must be an object of strings",
            ),
            (r#","deep":1"#, "`deep` must be true or false"),
        ] {
            let json = with_members(members);
            assert_eq!(validate(&json), Err(message.to_owned()), "{members}");
        }
        let duplicate = validate(&with_members(r#","key":"k""#)).unwrap_err();
        assert!(duplicate.contains("`key`"), "{duplicate}");
        let unknown = validate(&with_members(r#","kee":1"#)).unwrap_err();
        assert!(unknown.starts_with("unknown field `kee`; expected `key`, "));
        let two_problems = "`key` must be a string; `value` is missing";
        assert_eq!(validate(r#"{"key":1}"#), Err(two_problems.to_owned()));
        for not_an_object in ["[]", "null", "1"] {
            let message = Err("expected a JSON object".to_owned());
            assert_eq!(validate(not_an_object), message);
        }
        assert_eq!(validate("{x"), Err("invalid JSON at column 2".to_owned()));
    }

    #[test]
    fn the_schema_has_no_type_unions() {
        let arguments = ArgumentSchema::of::<TestArguments>();
        let properties = &arguments.schema().as_value()["properties"];
        for (name, expected) in [
            (
                "limit",
                json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
            ),
            ("offset", json!({ "type": "integer", "minimum": 0 })),
            (
                "kind",
                json!({ "type": "string", "enum": ["tool", "prompt"] }),
            ),
            ("deep", json!({ "type": "boolean" })),
            (
                "expiry",
                json!({ "default": null, "anyOf": [{ "type": "number" }, { "type": "string" }] }),
            ),
        ] {
            assert_eq!(properties[name], expected, "{name}");
        }
    }

    #[test]
    fn normalizes_valid_members() {
        for members in [
            "",
            r#","limit":1"#,
            r#","limit":100.0"#,
            r#","limit":1e1,"offset":1e30"#,
            r#","limit":null,"offset":null,"kind":null,"deep":null"#,
            r#","offset":0,"kind":"tool","tags":["a","b"],"names":{"a":"b"},"deep":true"#,
        ] {
            let normalized = validate(&with_members(members)).unwrap();
            serde_json::from_str::<TestArguments>(&normalized).unwrap();
        }
        let exact = r#"{"key":"k","value":{"z":1.50,"a":12345678901234567890}}"#;
        assert_eq!(validate(exact), Ok(exact.to_owned()));
    }
}
