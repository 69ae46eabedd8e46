//! The arguments of a tool, from the command line's words.
//!
//! Knows no gateway: what the tool takes is handed in.

use serde_json::Value;
use tidegate_core::{Object, RawJson};

/// What was given.
#[derive(Debug)]
pub(super) enum Given {
    /// One JSON object.
    Whole(RawJson),
    /// Names with the text of their values.
    Named(Vec<(String, String)>),
}

impl Given {
    pub(super) fn of(words: &[String]) -> Result<Self, String> {
        match words {
            [whole] if whole.trim_start().starts_with('{') => object(whole.trim()).map(Self::Whole),
            words => named(words).map(Self::Named),
        }
    }

    /// Whether it matters for some value what the tool takes.
    pub(super) fn depends(&self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Named(values) => values.iter().any(|(_, text)| {
                let json = RawJson::parse(text.trim().to_owned());
                json.is_ok_and(|json| !json.as_str().starts_with('"'))
            }),
        }
    }

    /// The arguments for a tool with this input schema. A value that is JSON is taken as such,
    /// unless the tool wants a string there: then it is the text of one.
    pub(super) fn json(&self, schema: &Value) -> RawJson {
        let values = match self {
            Self::Whole(object) => return object.clone(),
            Self::Named(values) => values,
        };
        let mut members = Object::default();
        for (name, text) in values {
            let about = &schema["properties"][name];
            let json = RawJson::parse(text.trim().to_owned());
            let json = json.ok().filter(|json| fits(json.as_str(), about));
            let json = json.unwrap_or_else(|| RawJson::string(text));
            members.set(name, json.as_str().to_owned());
        }
        members.write()
    }
}

/// Whether JSON may stand for itself where this is wanted.
fn fits(json: &str, about: &Value) -> bool {
    let (text, null) = (takes(about, "string"), takes(about, "null"));
    let others = ["boolean", "integer", "number", "array", "object"];
    let only_text = text && !others.iter().any(|other| takes(about, other));
    !only_text || json.starts_with('"') || (null && json == "null")
}

/// Whether a schema names this type, itself or in one of its choices.
fn takes(about: &Value, kind: &str) -> bool {
    let named = match &about["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    };
    let choices = ["anyOf", "oneOf"].iter();
    let mut choices = choices.filter_map(|one| about[one].as_array()).flatten();
    named || choices.any(|one| one["type"] == kind || !one["type"].is_string())
}

fn object(text: &str) -> Result<RawJson, String> {
    Object::parse(text).map_err(|error| format!("the arguments are no JSON object: {error}"))?;
    RawJson::parse(text.to_owned())
        .map_err(|error| format!("the arguments are no JSON object: {error}"))
}

/// Names with values.
pub(super) fn named(words: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut members: Vec<(String, String)> = Vec::new();
    for word in words {
        let (name, text) = word
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("`{word}` is no argument; write it as NAME=VALUE"))?;
        if members.iter().any(|(known, _)| known == name) {
            return Err(format!("the argument `{name}` is given twice"));
        }
        members.push((name.to_owned(), text.to_owned()));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(words: &[&str]) -> Result<Given, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Given::of(&words)
    }

    fn call(words: &[&str]) -> Result<String, String> {
        given(words).map(|given| given.json(&Value::Null).to_string())
    }

    #[test]
    fn values_that_are_json_are_taken_as_such() {
        let given = [
            "a=1.50", "b=x=y", "c=\"2\"", "d=", "e=[1]", "f=true", "g=tr ue",
        ];
        let expected = r#"{"a":1.50,"b":"x=y","c":"2","d":"","e":[1],"f":true,"g":"tr ue"}"#;
        assert_eq!(call(&given).unwrap(), expected);
        assert_eq!(call(&[]).unwrap(), "{}");
        assert_eq!(call(&[" {\"a\": 1} "]).unwrap(), "{\"a\": 1}");
    }

    #[test]
    fn where_a_tool_wants_a_string_it_gets_one() {
        let schema = json!({ "properties": {
            "text": { "type": "string" },
            "maybe": { "type": ["string", "null"] },
            "choice": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            "either": { "type": ["string", "number"] },
            "any": {},
            "deep": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/other" }] },
        } });
        for (word, json) in [
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
            let given = given(&[word]).unwrap();
            assert_eq!(given.json(&schema).to_string(), json, "{word}");
        }
        for (word, depends) in [
            ("a=5", true),
            ("a=b", false),
            ("a=\"5\"", false),
            ("{}", false),
        ] {
            assert_eq!(given(&[word]).unwrap().depends(), depends, "{word}");
        }
    }

    #[test]
    fn wrong_words_are_told() {
        for (words, part) in [
            (&["{\"a\": }"][..], "no JSON object"),
            (&["{\"a\": 1, \"a\": 2}"], "no JSON object"),
            (&["a"], "NAME=VALUE"),
            (&["=1"], "NAME=VALUE"),
            (&["a=1", "a=2"], "twice"),
            (&["{}", "a=2"], "NAME=VALUE"),
        ] {
            let message = call(words).unwrap_err();
            assert!(message.contains(part), "{words:?}: {message}");
        }
    }
}
