//! Why a value of the tree does not fit a section: serde's errors in the terms of the file. Never
//! shows a value where it could be a secret.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use super::position::Position;
use super::suggest::{unknown_field, unknown_value};

/// A value that does not fit, and the path to it.
#[derive(Debug)]
pub(crate) struct ReadError {
    cause: Cause,
    position: Option<Position>,
    /// Indices in the lists and mappings around the value, the innermost first.
    reversed_path: Vec<usize>,
}

#[derive(Debug)]
enum Cause {
    UnknownField {
        name: String,
        known: &'static [&'static str],
    },
    MissingField(&'static str),
    Other(String),
}

impl ReadError {
    fn new(cause: Cause) -> Self {
        Self {
            cause,
            position: None,
            reversed_path: Vec::new(),
        }
    }

    /// The same error at this position, unless a position closer to the cause is known.
    pub(crate) fn at(mut self, position: Position) -> Self {
        self.position.get_or_insert(position);
        self
    }

    /// The same error, as seen by the list or mapping that contains the value at this index.
    pub(crate) fn under(mut self, index: usize) -> Self {
        self.reversed_path.push(index);
        self
    }

    pub(crate) fn position(&self) -> Position {
        self.position.unwrap_or(Position::START)
    }

    /// The path to the value, the outermost index first.
    pub(crate) fn path(&self) -> Vec<usize> {
        self.reversed_path.iter().rev().copied().collect()
    }

    pub(crate) fn is_missing_field(&self) -> bool {
        matches!(self.cause, Cause::MissingField(_))
    }

    /// The message for the value with this full name; the name is empty for the whole file.
    pub(crate) fn message(&self, name: &str) -> String {
        match &self.cause {
            Cause::UnknownField { name: field, known } => unknown_field(name, field, known),
            Cause::MissingField(field) => missing_field(name, field),
            Cause::Other(text) if name.is_empty() => format!("the file: {text}"),
            Cause::Other(text) => format!("`{name}`: {text}"),
        }
    }
}

pub(crate) fn missing_field(name: &str, field: &str) -> String {
    format!("`{name}`: the field `{field}` is missing; add it")
}

impl Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(""))
    }
}

impl std::error::Error for ReadError {}

impl Error for ReadError {
    fn custom<T: Display>(text: T) -> Self {
        Self::new(Cause::Other(text.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        Self::custom(format!(
            "expected {}, found {}{}",
            type_name(&expected),
            found_name(&found),
            fix(&expected, &found)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownField {
            name: name.to_owned(),
            known,
        })
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::custom(unknown_value(name, known))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(Cause::MissingField(name))
    }
}

/// serde names Rust's types; the file has YAML's.
fn type_name(expected: &str) -> &str {
    match expected {
        "a boolean" => "true or false",
        "a string" | "path string" => "text",
        "a sequence" => "a list",
        "usize" | "u32" => "a whole number",
        other => other,
    }
}

fn found_name(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(true) => "true",
        Unexpected::Bool(false) => "false",
        Unexpected::Signed(number) if *number < 0 => "a negative number",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a number",
        Unexpected::Float(_) => "a number with a fraction",
        Unexpected::Str(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "something else",
    }
}

/// What to write instead, where the mistake is a common one.
fn fix(expected: &str, found: &Unexpected<'_>) -> &'static str {
    use Unexpected::{Bool, Float, Signed, Str, Unsigned};

    match (type_name(expected), found) {
        ("true or false", Str("yes" | "on" | "true" | "True")) => "; did you mean `true`?",
        ("true or false", Str("no" | "off" | "false" | "False")) => "; did you mean `false`?",
        ("a list", Str(_)) => "; write it in brackets: `[a, b]`",
        ("text", Bool(_) | Float(_) | Signed(_) | Unsigned(_)) => "; write it in quotes",
        ("a whole number", Str(_)) => "; write it in digits, without quotes",
        _ => "",
    }
}
