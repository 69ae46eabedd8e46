//! Why a value of the tree does not fit a raw type: the words of serde, put for people.
//!
//! Knows what serde can complain of; never shows a value, for it could be a secret.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use super::problem::Place;
use super::suggest::nearest;

/// Above this, a list of names helps less than the reference does.
const LISTED: usize = 12;

/// One value that does not fit, and the way to it.
#[derive(Debug)]
pub(crate) struct ReadError {
    complaint: Complaint,
    at: Option<Place>,
    /// Positions in the lists and mappings on the way, the innermost first.
    steps: Vec<usize>,
}

#[derive(Debug)]
enum Complaint {
    UnknownField {
        name: String,
        known: &'static [&'static str],
    },
    MissingField(&'static str),
    Other(String),
}

impl ReadError {
    fn new(complaint: Complaint) -> Self {
        Self {
            complaint,
            at: None,
            steps: Vec::new(),
        }
    }

    /// The same error, at this place unless a place nearer to the cause is known.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.at.get_or_insert(place);
        self
    }

    /// The same error, seen from one level further out.
    pub(crate) fn under(mut self, position: usize) -> Self {
        self.steps.push(position);
        self
    }

    pub(crate) fn place(&self) -> Place {
        self.at.unwrap_or(Place::START)
    }

    /// The way to the value, from the outside in.
    pub(crate) fn path(&self) -> Vec<usize> {
        self.steps.iter().rev().copied().collect()
    }

    /// Whether a field was looked for in vain.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.complaint, Complaint::MissingField(_))
    }

    /// What to tell about the field with this full name; empty for the whole file.
    pub(crate) fn message(&self, field: &str) -> String {
        match &self.complaint {
            Complaint::UnknownField { name, known } => unknown_field(field, name, known),
            Complaint::MissingField(name) => format!("`{field}` needs the field `{name}`"),
            Complaint::Other(text) if field.is_empty() => format!("the file: {text}"),
            Complaint::Other(text) => format!("`{field}`: {text}"),
        }
    }
}

fn unknown_field(field: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown field `{field}`; did you mean `{near}`?"),
        None if known.len() > LISTED => {
            format!("unknown field `{field}`; `tidegate schema` prints the fields there are")
        }
        None => format!(
            "unknown field `{field}`; the fields here are {}",
            known.join(", ")
        ),
    }
}

impl Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(""))
    }
}

impl std::error::Error for ReadError {}

impl Error for ReadError {
    fn custom<T: Display>(text: T) -> Self {
        Self::new(Complaint::Other(text.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        Self::custom(format!(
            "expected {}, found {}",
            wanted(&expected),
            kind(found)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(Complaint::UnknownField {
            name: name.to_owned(),
            known,
        })
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::custom(unknown_word(name, known))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(Complaint::MissingField(name))
    }
}

/// What to say of a word that is not among the known ones.
pub(crate) fn unknown_word(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(near) => format!("unknown value `{word}`; did you mean `{near}`?"),
        None => format!("unknown value `{word}`; use one of {}", known.join(", ")),
    }
}

/// serde names Rust's types; people know others.
fn wanted(expected: &str) -> &str {
    match expected {
        "a boolean" => "true or false",
        "a string" => "text",
        "a sequence" => "a list",
        "usize" => "a whole number",
        other => other,
    }
}

fn kind(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(true) => "true",
        Unexpected::Bool(false) => "false",
        Unexpected::Signed(number) if number < 0 => "a negative number",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a number",
        Unexpected::Float(_) => "a number with a fraction",
        Unexpected::Str(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "something else",
    }
}
