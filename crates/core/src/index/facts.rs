//! What a definition says that is worth finding it by.

use serde_json::Value;

use super::words;
use crate::{List, RawJson, percent_decode};

/// What each part of a definition counts.
const NAME: f32 = 4.0;
const TITLE: f32 = 3.0;
const DESCRIPTION: f32 = 1.5;
const ARGUMENT: f32 = 1.0;
const ARGUMENT_DESCRIPTION: f32 = 0.5;

/// Longer texts than this are not read to their end: nobody looks for what stands there.
const LONGEST: usize = 8_192;

/// The readable parts of a definition.
#[derive(Debug, Default)]
pub struct ElementFacts {
    /// As its source calls it, or its URI.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime: Option<String>,
    pub arguments: Vec<Argument>,
    /// As people would write it.
    uri: Option<String>,
}

/// Something that a tool or a prompt takes.
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
                List::Tools => of_schema(&value["inputSchema"]),
                List::Prompts => of_list(&value["arguments"]),
                List::Resources | List::Templates => Vec::new(),
            },
            uri: text("uri")
                .or_else(|| text("uriTemplate"))
                .map(|uri| String::from_utf8_lossy(&percent_decode(&uri)).into_owned()),
        }
    }

    /// The first sentence of the description, or all of a short one.
    pub fn first_sentence(&self) -> &str {
        let text = self.description.as_deref().unwrap_or_default().trim();
        let line = text.lines().next().unwrap_or_default();
        let end = line.find(". ").map_or(line.len(), |at| at + 1);
        let gist = &line[..end];
        match gist.char_indices().nth(LONGEST_GIST) {
            Some((at, _)) => &gist[..at],
            None => gist,
        }
    }

    /// The words of its name.
    pub fn name_terms(&self) -> impl Iterator<Item = String> + '_ {
        words(&self.name)
    }

    /// The first word of its description.
    pub fn first_description_term(&self) -> Option<String> {
        words(self.description.as_deref()?).next()
    }

    /// Tells each word and what it counts.
    pub(crate) fn weigh(&self, mut count: impl FnMut(&str, f32)) {
        let mut tell = |text: &str, weight: f32| {
            let text = text.get(..LONGEST).unwrap_or(text);
            for word in words(text) {
                count(&word, weight);
            }
        };
        tell(&self.name, NAME);
        for (text, weight) in [
            (&self.uri, NAME / 2.0),
            (&self.title, TITLE),
            (&self.description, DESCRIPTION),
        ] {
            if let Some(text) = text {
                tell(text, weight);
            }
        }
        for argument in &self.arguments {
            tell(&argument.name, ARGUMENT);
            if let Some(description) = &argument.description {
                tell(description, ARGUMENT_DESCRIPTION);
            }
        }
    }
}

const LONGEST_GIST: usize = 160;

fn of_schema(schema: &Value) -> Vec<Argument> {
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

fn of_list(arguments: &Value) -> Vec<Argument> {
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

    /// What a URI is written with is no word.
    #[test]
    fn the_words_of_a_uri_are_those_that_people_read() {
        let definition = serde_json::json!({
            "uri": "file:///h/document%20number%207%20about%20caf%C3%A9.md",
            "name": "x",
        });
        let mut found = Vec::new();
        ElementFacts::of(List::Resources, &definition.into())
            .weigh(|word, _| found.push(word.to_owned()));
        assert_eq!(
            found,
            [
                "x", "file", "h", "document", "number", "7", "about", "café", "md"
            ]
        );
    }
}
