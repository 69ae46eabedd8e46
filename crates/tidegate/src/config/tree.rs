//! The file as a tree of values, each with the place it was written at.
//!
//! Knows YAML (and JSON, which is YAML), and nothing of what a setting means.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Location, Spanned, UserMessageFormatter};

use super::problem::Place;

/// A value and the place it was written at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) value: Value,
}

/// What a file can hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nothing,
    Flag(bool),
    Whole(i128),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One `key: value` of a mapping, in the order of the file. A key may be there twice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Place,
    pub(crate) value: Node,
}

/// Why a text is not a tree. One mistake hides all that follow it, so there is only one.
#[derive(Debug, PartialEq)]
pub(crate) struct NotATree {
    pub(crate) at: Option<Place>,
    pub(crate) message: String,
}

/// Reads a whole text.
pub(crate) fn parse(text: &str) -> Result<Node, NotATree> {
    // "Last wins" is what hands every pair of a mapping on, so that all duplicates can be told.
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let at = error.location().and_then(place);
        let message = error.render_with_formatter(&UserMessageFormatter);
        NotATree {
            at,
            message: format!("{}{}", without_place(message, at), hint(text, at)),
        }
    })
}

/// The parser ends its message with the place, which stands in front of ours.
fn without_place(message: String, at: Option<Place>) -> String {
    let Some(Place { line, column }) = at else {
        return message;
    };
    match message.strip_suffix(&format!(" at line {line}, column {column}")) {
        Some(text) => text.to_owned(),
        None => message,
    }
}

/// The brace of a reference ends or opens a mapping when it stands inside `{ }` unquoted.
fn hint(text: &str, at: Option<Place>) -> &'static str {
    let line = at.and_then(|at| {
        text.lines()
            .nth(usize::try_from(at.line).ok()?.checked_sub(1)?)
    });
    match line.is_some_and(|line| line.contains("${")) {
        true => "; write references in quotes: \"${env:NAME}\"",
        false => "",
    }
}

impl Node {
    /// The value under these keys, if it is there. In a list, the text of an item is its key.
    pub(crate) fn find(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| match &node.value {
            Value::List(items) => items.iter().find(|item| item.is_text(key)),
            _ => node.entry(key).map(|entry| &entry.value),
        })
    }

    /// Whether it stands for this text where text is wanted.
    fn is_text(&self, wanted: &str) -> bool {
        match &self.value {
            Value::Text(text) => text == wanted,
            Value::Whole(whole) => whole.to_string() == wanted,
            _ => false,
        }
    }

    /// The `key: value` with this key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }
}

/// A place that the parser does not know has line 0.
fn place(location: Location) -> Option<Place> {
    (location.line() > 0).then(|| Place {
        line: location.line(),
        column: location.column(),
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Spanned {
            value, referenced, ..
        } = Spanned::<Value>::deserialize(from)?;
        Ok(Self {
            at: place(referenced).unwrap_or(Place::START),
            value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, whole: i64) -> Result<Value, E> {
        Ok(Value::Whole(whole.into()))
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Value, E> {
        Ok(Value::Whole(whole.into()))
    }

    fn visit_i128<E>(self, whole: i128) -> Result<Value, E> {
        Ok(Value::Whole(whole))
    }

    fn visit_u128<E>(self, whole: u128) -> Result<Value, E> {
        // Too large for any setting; which of two such numbers it is does not matter.
        Ok(Value::Whole(i128::try_from(whole).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, real: f64) -> Result<Value, E> {
        Ok(Value::Real(real))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = pairs.next_key::<Spanned<String>>()? {
            let value: Node = pairs.next_value()?;
            let key_at = place(key.referenced).unwrap_or(value.at);
            entries.push(Entry {
                key: key.value,
                key_at,
                value,
            });
        }
        Ok(Value::Map(entries))
    }
}
