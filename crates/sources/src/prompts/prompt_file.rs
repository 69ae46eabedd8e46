//! A prompt: a Markdown file with front matter.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use serde_saphyr::Spanned;
use tidegate_core::{CatalogEntry, Code, Error, Outcome, Result, truncate_for_message};

use super::argument::{FileArgument, RawArgument};
use super::front_matter::{LineProblem, MarkdownFile, file_line};
use super::text_template::{MAX_PROMPT_BYTES, TextTemplate};
use crate::declarations::catalog_entry;

const MAX_NAME_LENGTH: usize = 128;
const MAX_ARGUMENTS: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptFrontMatter {
    name: Option<Spanned<String>>,
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    arguments: Vec<RawArgument>,
    #[serde(default)]
    role: MessageRole,
    messages: Option<Spanned<Vec<RawMessage>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMessage {
    #[serde(default)]
    role: MessageRole,
    text: Spanned<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MessageRole {
    #[default]
    User,
    Assistant,
}

impl MessageRole {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PromptFile {
    pub(super) name: String,
    /// The line of its name in the file, or the first.
    pub(super) name_line: u64,
    title: Option<String>,
    description: Option<String>,
    arguments: Vec<FileArgument>,
    messages: Vec<(MessageRole, TextTemplate)>,
}

impl PromptFile {
    /// Parses a file with the text `text`. Without `name` in its front matter, the prompt has the
    /// default name.
    pub(super) fn parse(
        file: &MarkdownFile<'_>,
        text: &str,
        default_name: &str,
    ) -> Result<Self, LineProblem> {
        let front_matter: PromptFrontMatter = file.parse()?;
        let (name, name_line) = match &front_matter.name {
            Some(name) => (name.value.as_str(), file_line(name.referenced.line())),
            None => (default_name, 1),
        };
        check_name(name, name_line)?;
        let arguments = validate_arguments(front_matter.arguments)?;
        let messages = match front_matter.messages {
            Some(messages) => listed_messages(messages, front_matter.role, file, text, &arguments)?,
            None => vec![(front_matter.role, body_message(file, &arguments)?)],
        };
        Ok(Self {
            name: name.to_owned(),
            name_line,
            title: front_matter.title,
            description: front_matter.description,
            arguments,
            messages,
        })
    }

    pub(super) fn without_arguments(
        name: String,
        name_line: u64,
        description: String,
        text: &str,
    ) -> Self {
        Self {
            name,
            name_line,
            title: None,
            description: Some(description),
            arguments: Vec::new(),
            messages: vec![(MessageRole::User, TextTemplate::literal(text))],
        }
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let arguments = self.arguments.iter().map(FileArgument::definition);
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

    /// The messages with these arguments, which are the JSON text of an object.
    pub(super) fn get(&self, arguments: &str) -> Result<Outcome> {
        let values = self.argument_values(arguments).map_err(invalid_params)?;
        let mut messages = Vec::new();
        let mut length = 0;
        for (role, text) in &self.messages {
            let text = text.render(&values).filter(|text| {
                length += text.len();
                length <= MAX_PROMPT_BYTES
            });
            let text = text.ok_or_else(|| {
                invalid_params(format!(
                    "with these arguments the prompt exceeds the limit of {MAX_PROMPT_BYTES} bytes"
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

    /// The values of all arguments that have one. The error is a message for the caller.
    fn argument_values(&self, arguments: &str) -> Result<BTreeMap<String, String>, String> {
        let given: BTreeMap<String, Value> = serde_json::from_str(arguments)
            .map_err(|_| "`arguments` must be an object of strings".to_owned())?;
        if let Some(unknown) = given.keys().find(|name| self.argument(name).is_none()) {
            return Err(self.unknown_argument(unknown));
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
                // The specification requires strings, but some clients send plain values.
                Some(other @ (Value::Number(_) | Value::Bool(_))) => Some(other.to_string()),
                Some(_) => return Err(format!("the argument `{name}` must be a string")),
            };
            if let Some(value) = value {
                argument.check(&value)?;
                values.insert(name.clone(), value);
            }
        }
        Ok(values)
    }

    fn unknown_argument(&self, name: &str) -> String {
        let names = self.arguments.iter();
        let names: Vec<_> = names.map(|argument| argument.name.as_str()).collect();
        let expected = match names.is_empty() {
            true => "it has none".to_owned(),
            false => format!("expected {}", names.join(", ")),
        };
        let name = truncate_for_message(name);
        format!("this prompt has no argument `{name}`; {expected}")
    }

    pub(super) fn argument(&self, name: &str) -> Option<&FileArgument> {
        let mut arguments = self.arguments.iter();
        arguments.find(|argument| argument.name == name)
    }
}

fn invalid_params(message: String) -> Error {
    Error::client(Code::InvalidParams, message)
}

fn check_name(name: &str, line: u64) -> Result<(), LineProblem> {
    let is_valid = !name.is_empty()
        && name.chars().count() <= MAX_NAME_LENGTH
        && !name.chars().any(char::is_control);
    match is_valid {
        true => Ok(()),
        false => Err(LineProblem::new(
            line,
            format!("a name must have 1 to {MAX_NAME_LENGTH} characters and no control characters"),
        )),
    }
}

fn validate_arguments(raw_arguments: Vec<RawArgument>) -> Result<Vec<FileArgument>, LineProblem> {
    if let Some(first) = raw_arguments.get(MAX_ARGUMENTS) {
        let message = format!("more than {MAX_ARGUMENTS} arguments");
        return Err(LineProblem::new(first.line(), message));
    }
    let mut arguments: Vec<FileArgument> = Vec::new();
    for raw in raw_arguments {
        let line = raw.line();
        let argument = raw.validate()?;
        if arguments.iter().any(|other| other.name == argument.name) {
            let message = format!("duplicate argument `{}`", argument.name);
            return Err(LineProblem::new(line, message));
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

/// The body as the only message.
fn body_message(
    file: &MarkdownFile<'_>,
    arguments: &[FileArgument],
) -> Result<TextTemplate, LineProblem> {
    let body = file.body.trim_end();
    let text = body.trim_start();
    if text.is_empty() {
        let message = "the prompt is empty; write its text below the front matter";
        return Err(LineProblem::new(file.body_line, message));
    }
    let skipped_lines = body[..body.len() - text.len()].matches('\n').count() as u64;
    TextTemplate::parse(text, file.body_line + skipped_lines, arguments)
}

/// The messages in the front matter.
fn listed_messages(
    messages: Spanned<Vec<RawMessage>>,
    role: MessageRole,
    file: &MarkdownFile<'_>,
    text: &str,
    arguments: &[FileArgument],
) -> Result<Vec<(MessageRole, TextTemplate)>, LineProblem> {
    let line = file_line(messages.referenced.line());
    if messages.value.is_empty() {
        return Err(LineProblem::new(line, "`messages` is empty"));
    }
    if role != MessageRole::default() {
        let message = "`role` is for prompts without `messages`; set it on each message instead";
        return Err(LineProblem::new(line, message));
    }
    if !file.body.trim().is_empty() {
        let message = "the prompt has `messages` and a text below the front matter; remove one";
        return Err(LineProblem::new(file.body_line, message));
    }
    let parse = |message: RawMessage| {
        let message_text = message.text.value.trim_end();
        let line = file_line(message.text.referenced.line());
        let template = TextTemplate::parse(message_text, line, arguments);
        let template = template.map_err(|problem| locate(text, line, problem))?;
        Ok((message.role, template))
    };
    messages.value.into_iter().map(parse).collect()
}

/// Finds the line of a problem by the text that it quotes: where a YAML string starts depends on
/// its style.
fn locate(text: &str, first_line: u64, problem: LineProblem) -> LineProblem {
    let Some(quoted) = problem.message.split('`').nth(1) else {
        return problem;
    };
    let mut lines = text
        .lines()
        .zip(1..)
        .filter(|(_, line)| *line >= first_line);
    match lines.find(|(line_text, _)| line_text.contains(quoted)) {
        Some((_, line)) => LineProblem { line, ..problem },
        None => problem,
    }
}
