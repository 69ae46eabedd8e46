//! One prompt: a Markdown file with front matter.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use serde_saphyr::Spanned;
use tidegate_core::{CatalogEntry, Code, Error, Outcome, Result, truncate_for_message};

use super::argument::{Argument, RawArgument};
use super::front::{Parts, Wrong, in_file};
use super::text::{LONGEST, Text};
use crate::declarations::catalog_entry;

const LONGEST_NAME: usize = 128;
const MOST_ARGUMENTS: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    name: Option<Spanned<String>>,
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    arguments: Vec<RawArgument>,
    #[serde(default)]
    role: Role,
    messages: Option<Spanned<Vec<RawMessage>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMessage {
    #[serde(default)]
    role: Role,
    text: Spanned<String>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    #[default]
    User,
    Assistant,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) name: String,
    /// The line that says its name; the first where none does.
    pub(super) line: u64,
    title: Option<String>,
    description: Option<String>,
    arguments: Vec<Argument>,
    messages: Vec<(Role, Text)>,
}

impl Prompt {
    /// Reads a file. `name` is what the prompt is called if the file does not say it.
    pub(super) fn parse(parts: &Parts<'_>, whole: &str, name: &str) -> Result<Self, Wrong> {
        let front: Front = parts.read()?;
        let (name, line) = match &front.name {
            Some(name) => (name.value.as_str(), in_file(name.referenced.line())),
            None => (name, 1),
        };
        let name = checked_name(name, line)?;
        if let Some(first) = front.arguments.get(MOST_ARGUMENTS) {
            let message = format!("more than {MOST_ARGUMENTS} arguments");
            return Err(Wrong::new(first.line(), message));
        }
        let mut arguments: Vec<Argument> = Vec::new();
        for raw in front.arguments {
            let line = raw.line();
            let argument = raw.check()?;
            if arguments.iter().any(|one| one.name == argument.name) {
                let message = format!("the argument `{}` is there twice", argument.name);
                return Err(Wrong::new(line, message));
            }
            arguments.push(argument);
        }
        let messages = match front.messages {
            Some(messages) => listed(messages, front.role, parts, whole, &arguments)?,
            None => vec![(front.role, the_body(parts, &arguments)?)],
        };
        Ok(Self {
            name,
            line,
            title: front.title,
            description: front.description,
            arguments,
            messages,
        })
    }

    /// One without arguments, whose name is in this line.
    pub(super) fn plain(name: String, line: u64, description: String, text: &str) -> Self {
        let text = Text::verbatim(text);
        Self {
            name,
            line,
            title: None,
            description: Some(description),
            arguments: Vec::new(),
            messages: vec![(Role::User, text)],
        }
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let arguments = self.arguments.iter().map(Argument::definition);
        let mut definition = json!({ "name": self.name });
        if let Some(title) = &self.title {
            definition["title"] = title.as_str().into();
        }
        if let Some(description) = &self.description {
            definition["description"] = description.as_str().into();
        }
        definition["arguments"] = arguments.collect();
        catalog_entry(&self.name, definition)
    }

    /// The messages with these arguments, an object as text.
    pub(super) fn get(&self, given: &str) -> Result<Outcome> {
        let values = self.values(given).map_err(wrong)?;
        let mut messages = Vec::new();
        let mut length = 0;
        for (role, text) in &self.messages {
            let text = text.filled(&values).filter(|text| {
                length += text.len();
                length <= LONGEST
            });
            let text = text.ok_or_else(|| {
                wrong(format!(
                    "with these arguments the prompt has more than {LONGEST} bytes"
                ))
            })?;
            let content = json!({ "type": "text", "text": text });
            messages.push(json!({ "role": role.as_str(), "content": content }));
        }
        let mut result = json!({ "messages": messages });
        if let Some(description) = &self.description {
            result["description"] = description.as_str().into();
        }
        Ok(Outcome::complete(result.into()))
    }

    /// Every argument that has a value, or what is wrong with those that were given.
    fn values(&self, given: &str) -> Result<BTreeMap<String, String>, String> {
        let given: BTreeMap<String, Value> = serde_json::from_str(given)
            .map_err(|_| "the arguments of a prompt are text by name".to_owned())?;
        if let Some(unknown) = given.keys().find(|name| self.argument(name).is_none()) {
            let known: Vec<_> = self.arguments.iter().map(|one| one.name.as_str()).collect();
            let known = match known.is_empty() {
                true => "it has none".to_owned(),
                false => format!("it has {}", known.join(", ")),
            };
            return Err(format!(
                "this prompt has no argument `{}`; {known}",
                truncate_for_message(unknown)
            ));
        }
        let mut values = BTreeMap::new();
        for argument in &self.arguments {
            let name = &argument.name;
            let value = match given.get(name) {
                None if argument.required => {
                    return Err(format!("the argument `{name}` is missing"));
                }
                None => argument.default.clone(),
                Some(Value::String(text)) => Some(text.clone()),
                // By the book all are text; what is meant is plain.
                Some(other @ (Value::Number(_) | Value::Bool(_))) => Some(other.to_string()),
                Some(_) => return Err(format!("the argument `{name}` must be text")),
            };
            if let Some(value) = value {
                argument.check(&value)?;
                values.insert(name.clone(), value);
            }
        }
        Ok(values)
    }

    pub(super) fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|one| one.name == name)
    }
}

fn wrong(message: String) -> Error {
    Error::client(Code::InvalidParams, message)
}

fn checked_name(name: &str, line: u64) -> Result<String, Wrong> {
    let fits = !name.is_empty()
        && name.chars().count() <= LONGEST_NAME
        && !name.chars().any(char::is_control);
    match fits {
        true => Ok(name.to_owned()),
        false => Err(Wrong::new(
            line,
            format!("a name has 1 to {LONGEST_NAME} characters, all of which can be seen"),
        )),
    }
}

/// The body as the only message.
fn the_body(parts: &Parts<'_>, arguments: &[Argument]) -> Result<Text, Wrong> {
    let body = parts.body.trim_end();
    let text = body.trim_start();
    if text.is_empty() {
        let message = "the prompt is empty; write its text below the front matter";
        return Err(Wrong::new(parts.body_line, message));
    }
    let skipped = body[..body.len() - text.len()].matches('\n').count() as u64;
    Text::parse(text, parts.body_line + skipped, arguments)
}

/// The messages that the front matter lists.
fn listed(
    messages: Spanned<Vec<RawMessage>>,
    role: Role,
    parts: &Parts<'_>,
    whole: &str,
    arguments: &[Argument],
) -> Result<Vec<(Role, Text)>, Wrong> {
    let line = in_file(messages.referenced.line());
    if messages.value.is_empty() {
        return Err(Wrong::new(line, "`messages` is empty"));
    }
    if role != Role::default() {
        let message = "`role` goes with a prompt of one message; each of `messages` has its own";
        return Err(Wrong::new(line, message));
    }
    if !parts.body.trim().is_empty() {
        let message = "there are `messages` and a text below the front matter; keep one of the two";
        return Err(Wrong::new(parts.body_line, message));
    }
    let read = |message: RawMessage| {
        let text = message.text.value.trim_end();
        let line = in_file(message.text.referenced.line());
        let text =
            Text::parse(text, line, arguments).map_err(|wrong| found_in(whole, line, wrong))?;
        Ok((message.role, text))
    };
    messages.value.into_iter().map(read).collect()
}

/// Where a text begins in YAML depends on how it is written: the line is looked for.
fn found_in(whole: &str, from: u64, wrong: Wrong) -> Wrong {
    let Some(quoted) = wrong.message.split('`').nth(1) else {
        return wrong;
    };
    let lines = whole.lines().zip(1..).skip_while(|(_, line)| *line < from);
    let line = lines.filter(|(text, _)| text.contains(quoted));
    match line.map(|(_, line)| line).next() {
        Some(line) => Wrong { line, ..wrong },
        None => wrong,
    }
}
