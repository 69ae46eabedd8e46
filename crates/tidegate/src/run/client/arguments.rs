//! Arguments of tools and prompts, from the command line.
//!
//! Must not know: the gateway. The schema of a tool is passed in.

use serde_json::Value;
use tidegate_core::{Object, RawJson};

/// The arguments of a tool as they were written.
#[derive(Debug)]
pub(super) enum ToolArguments {
    /// One JSON object.
    Object(RawJson),
    /// Names and the text of their values.
    Pairs(Vec<(String, String)>),
}

impl ToolArguments {
    pub(super) fn parse(arguments: &[String]) -> Result<Self, String> {
        match arguments {
            [json] if json.trim_start().starts_with('{') => {
                parse_object(json.trim()).map(Self::Object)
            }
            pairs => parse_pairs(pairs).map(Self::Pairs),
        }
    }

    /// Whether the schema of the tool decides how some value is passed.
    pub(super) fn depend_on_schema(&self) -> bool {
        match self {
            Self::Object(_) => false,
            Self::Pairs(pairs) => pairs.iter().any(|(_, text)| {
                let json = RawJson::parse(text.trim().to_owned());
                json.is_ok_and(|json| !json.as_str().starts_with('"'))
            }),
        }
    }

    /// The arguments for a tool with this input schema. A value that is valid JSON is passed as
    /// JSON, unless the tool expects a string there.
    pub(super) fn to_json(&self, schema: &Value) -> RawJson {
        let pairs = match self {
            Self::Object(object) => return object.clone(),
            Self::Pairs(pairs) => pairs,
        };
        let mut members = Object::default();
        for (name, text) in pairs {
            let property = &schema["properties"][name];
            let json = RawJson::parse(text.trim().to_owned());
            let json = json.ok().filter(|json| accepts(property, json.as_str()));
            let json = json.unwrap_or_else(|| RawJson::string(text));
            members.set(name, json.as_str().to_owned());
        }
        members.write()
    }
}

/// Whether a property may be this JSON value rather than a string with its text.
fn accepts(property: &Value, json: &str) -> bool {
    let (string, null) = (has_type(property, "string"), has_type(property, "null"));
    let others = ["boolean", "integer", "number", "array", "object"];
    let only_string = string && !others.iter().any(|other| has_type(property, other));
    !only_string || json.starts_with('"') || (null && json == "null")
}

/// Whether a schema allows a type, itself or in one of its alternatives.
fn has_type(schema: &Value, name: &str) -> bool {
    let declared = match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == name),
        single => single == name,
    };
    let mut alternatives = ["anyOf", "oneOf"]
        .iter()
        .filter_map(|keyword| schema[keyword].as_array())
        .flatten();
    declared || alternatives.any(|one| one["type"] == name || !one["type"].is_string())
}

fn parse_object(text: &str) -> Result<RawJson, String> {
    let invalid = |error: &dyn std::fmt::Display| {
        format!("the arguments are not a valid JSON object: {error}")
    };
    Object::parse(text).map_err(|error| invalid(&error))?;
    RawJson::parse(text.to_owned()).map_err(|error| invalid(&error))
}

fn parse_pairs(arguments: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for argument in arguments {
        let (name, text) = argument
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("invalid argument `{argument}`; write it as NAME=VALUE"))?;
        if pairs.iter().any(|(known, _)| known == name) {
            return Err(format!("the argument `{name}` is given twice"));
        }
        pairs.push((name.to_owned(), text.to_owned()));
    }
    Ok(pairs)
}

/// The arguments of a prompt, which are always strings.
pub(super) fn prompt_arguments(arguments: &[String]) -> Result<RawJson, String> {
    let pairs = parse_pairs(arguments)?;
    let mut members = Object::default();
    for (name, text) in &pairs {
        members.set(name, RawJson::string(text).as_str().to_owned());
    }
    Ok(members.write())
}

/// The parameters of a request for a tool or prompt.
pub(super) fn named_params(name: &str, arguments: &RawJson) -> RawJson {
    let mut params = Object::default();
    params.set("name", RawJson::string(name).as_str().to_owned());
    params.set("arguments", arguments.as_str().to_owned());
    params.write()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<ToolArguments, String> {
        let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
        ToolArguments::parse(&arguments)
    }

    fn without_schema(arguments: &[&str]) -> Result<String, String> {
        parse(arguments).map(|arguments| arguments.to_json(&Value::Null).to_string())
    }

    #[test]
    fn passes_valid_json_as_json() {
        let arguments = [
            "a=1.50", "b=x=y", "c=\"2\"", "d=", "e=[1]", "f=true", "g=tr ue",
        ];
        let expected = r#"{"a":1.50,"b":"x=y","c":"2","d":"","e":[1],"f":true,"g":"tr ue"}"#;
        assert_eq!(without_schema(&arguments).unwrap(), expected);
        assert_eq!(without_schema(&[]).unwrap(), "{}");
        assert_eq!(without_schema(&[" {\"a\": 1} "]).unwrap(), "{\"a\": 1}");
    }

    #[test]
    fn passes_a_string_where_the_tool_expects_one() {
        let schema = json!({ "properties": {
            "text": { "type": "string" },
            "maybe": { "type": ["string", "null"] },
            "choice": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            "either": { "type": ["string", "number"] },
            "any": {},
            "deep": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/other" }] },
        } });
        for (argument, json) in [
            ("text=5", r#"{"text":"5"}"#),
            ("text=null", r#"{"text":"null"}"#),
            ("text=\"5\"", r#"{"text":"5"}"#),
            ("text={\"a\": 1}", r#"{"text":"{\"a\": 1}"}"#),
            ("maybe=5", r#"{"maybe":"5"}"#),
            ("maybe=null", r#"{"maybe":null}"#),
            ("choice=true", r#"{"choice":"true"}"#),
            ("choice=null", r#"{"choice":null}"#),
            ("either=5", r#"{"either":5}"#),
            ("any=5", r#"{"any":5}"#),
            ("deep=5", r#"{"deep":5}"#),
            ("other=5", r#"{"other":5}"#),
        ] {
            let parsed = parse(&[argument]).unwrap();
            assert_eq!(parsed.to_json(&schema).to_string(), json, "{argument}");
        }
    }

    #[test]
    fn needs_the_schema_only_for_ambiguous_values() {
        for (argument, depends) in [
            ("a=5", true),
            ("a=b", false),
            ("a=\"5\"", false),
            ("{}", false),
        ] {
            let parsed = parse(&[argument]).unwrap();
            assert_eq!(parsed.depend_on_schema(), depends, "{argument}");
        }
    }

    #[test]
    fn rejects_invalid_arguments() {
        for (arguments, part) in [
            (&["{\"a\": }"][..], "not a valid JSON object"),
            (&["{\"a\": 1, \"a\": 2}"], "not a valid JSON object"),
            (&["a"], "NAME=VALUE"),
            (&["=1"], "NAME=VALUE"),
            (&["a=1", "a=2"], "twice"),
            (&["{}", "a=2"], "NAME=VALUE"),
        ] {
            let message = without_schema(arguments).unwrap_err();
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}
