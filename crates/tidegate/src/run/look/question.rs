//! What is asked, from the command line's words. Wrong words are found here, before anything starts.
//!
//! Knows no gateway.

use tidegate_core::{List, Object, RawJson};

use crate::cli::{Kind, Look};

/// One question.
#[derive(Debug)]
pub(super) enum Question {
    Sources,
    List(Vec<List>),
    Read { uri: String },
    Get { prompt: String, arguments: RawJson },
    Call { tool: String, arguments: RawJson },
    Search { words: String },
    Explain { uri: String },
}

impl Question {
    pub(super) fn of(look: &Look) -> Result<Self, String> {
        Ok(match look {
            Look::Sources { .. } => Self::Sources,
            Look::Ls { kind, .. } => Self::List(lists(*kind)),
            Look::Read { uri, .. } => Self::Read { uri: uri.clone() },
            Look::Search { words, .. } => Self::Search {
                words: words.join(" "),
            },
            Look::Explain { uri, .. } => Self::Explain { uri: uri.clone() },
            Look::Get {
                prompt, arguments, ..
            } => Self::Get {
                prompt: prompt.clone(),
                // The arguments of a prompt are strings, whatever they look like.
                arguments: named(arguments, RawJson::string)?,
            },
            Look::Call {
                tool, arguments, ..
            } => Self::Call {
                tool: tool.clone(),
                arguments: tool_arguments(arguments)?,
            },
        })
    }
}

fn lists(kind: Option<Kind>) -> Vec<List> {
    match kind {
        None => List::ALL.to_vec(),
        Some(Kind::Resources) => vec![List::Resources],
        Some(Kind::Templates) => vec![List::Templates],
        Some(Kind::Prompts) => vec![List::Prompts],
        Some(Kind::Tools) => vec![List::Tools],
    }
}

/// One JSON object, or names with values.
fn tool_arguments(words: &[String]) -> Result<RawJson, String> {
    match words {
        [whole] if whole.trim_start().starts_with('{') => object(whole.trim()),
        words => named(words, |value| {
            RawJson::parse(value.trim().to_owned()).unwrap_or_else(|_| RawJson::string(value))
        }),
    }
}

fn object(text: &str) -> Result<RawJson, String> {
    Object::parse(text).map_err(|error| format!("the arguments are no JSON object: {error}"))?;
    RawJson::parse(text.to_owned())
        .map_err(|error| format!("the arguments are no JSON object: {error}"))
}

fn named(words: &[String], value: impl Fn(&str) -> RawJson) -> Result<RawJson, String> {
    let mut members = Object::default();
    for word in words {
        let (name, text) = word
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("`{word}` is no argument; write it as NAME=VALUE"))?;
        if members.get(name).is_some() {
            return Err(format!("the argument `{name}` is given twice"));
        }
        members.set(name, value(text).as_str().to_owned());
    }
    Ok(members.write())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        tool_arguments(&words).map(|json| json.to_string())
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
