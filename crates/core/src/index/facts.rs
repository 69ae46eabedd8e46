//! The parts of a definition that are searched and shown.

use serde_json::Value;

use super::terms::{Term, terms};
use crate::{List, RawJson, percent_decode};

/// The weights of terms by where they appear.
const NAME_WEIGHT: f32 = 4.0;
const TITLE_WEIGHT: f32 = 3.0;
const URI_WEIGHT: f32 = 2.0;
const DESCRIPTION_WEIGHT: f32 = 1.5;
const ARGUMENT_WEIGHT: f32 = 1.0;
const ARGUMENT_DESCRIPTION_WEIGHT: f32 = 0.5;

/// Only the beginning of a text is indexed.
const MAX_TEXT_BYTES: usize = 8_192;

const MAX_SENTENCE_CHARS: usize = 160;

/// The readable parts of a definition.
#[derive(Debug, Default)]
pub struct ElementFacts {
    /// The native name.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime: Option<String>,
    pub arguments: Vec<Argument>,
    /// Decoded, as people would write it.
    uri: Option<String>,
}

/// An argument of a tool or a prompt.
#[derive(Debug)]
pub struct Argument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
}

impl ElementFacts {
    pub fn of(list: List, definition: &RawJson) -> Self {
        let Ok(value) = definition.read::<Value>() else {
            return Self::default();
        };
        let text = |member: &str| value[member].as_str().map(str::to_owned);
        Self {
            name: text("name").unwrap_or_default(),
            title: text("title")
                .or_else(|| value["annotations"]["title"].as_str().map(str::to_owned)),
            description: text("description"),
            mime: text("mimeType"),
            arguments: match list {
                List::Tools => schema_properties(&value["inputSchema"]),
                List::Prompts => prompt_arguments(&value["arguments"]),
                List::Resources | List::Templates => Vec::new(),
            },
            uri: text("uri")
                .or_else(|| text("uriTemplate"))
                .map(|uri| String::from_utf8_lossy(&percent_decode(&uri)).into_owned()),
        }
    }

    /// The first sentence of the description, at most 160 characters of it.
    pub fn first_sentence(&self) -> &str {
        let text = self.description.as_deref().unwrap_or_default().trim();
        let line = text.lines().next().unwrap_or_default();
        let end = line.find(". ").map_or(line.len(), |at| at + 1);
        let sentence = &line[..end];
        match sentence.char_indices().nth(MAX_SENTENCE_CHARS) {
            Some((end, _)) => &sentence[..end],
            None => sentence,
        }
    }

    /// The search terms of the name.
    pub fn name_terms(&self) -> impl Iterator<Item = String> + '_ {
        terms(&self.name).map(|term| term.text)
    }

    /// The first search term of the description.
    pub fn first_description_term(&self) -> Option<String> {
        let term = terms(self.description.as_deref()?).next()?;
        Some(term.text)
    }

    /// Calls `visit` with each term and its weight.
    pub(crate) fn for_each_term(&self, mut visit: impl FnMut(&Term, f32)) {
        let mut visit_text = |text: &str, weight: f32| {
            let text = text.get(..MAX_TEXT_BYTES).unwrap_or(text);
            for term in terms(text) {
                visit(&term, weight);
            }
        };
        visit_text(&self.name, NAME_WEIGHT);
        for (text, weight) in [
            (&self.uri, URI_WEIGHT),
            (&self.title, TITLE_WEIGHT),
            (&self.description, DESCRIPTION_WEIGHT),
        ] {
            if let Some(text) = text {
                visit_text(text, weight);
            }
        }
        for argument in &self.arguments {
            visit_text(&argument.name, ARGUMENT_WEIGHT);
            if let Some(description) = &argument.description {
                visit_text(description, ARGUMENT_DESCRIPTION_WEIGHT);
            }
        }
    }
}

fn schema_properties(schema: &Value) -> Vec<Argument> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, property)| Argument {
            name: name.clone(),
            description: property["description"].as_str().map(str::to_owned),
            required: is_required(name),
        })
        .collect()
}

fn prompt_arguments(arguments: &Value) -> Vec<Argument> {
    let arguments = arguments.as_array().into_iter().flatten();
    arguments
        .filter_map(|argument| {
            Some(Argument {
                name: argument["name"].as_str()?.to_owned(),
                description: argument["description"].as_str().map(str::to_owned),
                required: argument["required"].as_bool().unwrap_or(false),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_indexed_by_its_decoded_words() {
        let definition = serde_json::json!({
            "uri": "file:///h/document%20number%207%20about%20caf%C3%A9.md",
            "name": "x",
        });
        let mut terms = Vec::new();
        ElementFacts::of(List::Resources, &definition.into())
            .for_each_term(|term, _| terms.push(term.text.clone()));
        assert_eq!(
            terms,
            [
                "x", "file", "h", "document", "number", "7", "about", "café", "md"
            ]
        );
    }
}
