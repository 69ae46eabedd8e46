//! The file as a tree of values, each with its position. Knows YAML (and JSON, which is a subset),
//! but no setting.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Location, Spanned, UserMessageFormatter};

use super::position::Position;
use super::syntax_error::explain;

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) position: Position,
    pub(crate) value: Value,
    /// A number or boolean as it was written: `1.50`, `0x10`.
    pub(crate) written: Option<String>,
    /// The bytes of the file that the value was read from.
    span: Option<Range<usize>>,
}

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A `key: value` pair of a mapping, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_position: Position,
    pub(crate) value: Node,
}

/// A syntax error. The parser stops at the first one.
#[derive(Debug, PartialEq)]
pub(crate) struct SyntaxError {
    pub(crate) position: Option<Position>,
    pub(crate) message: String,
}

/// A key that its mapping already has.
#[derive(Debug, PartialEq)]
pub(crate) struct DuplicateKey {
    pub(crate) key: String,
    pub(crate) position: Position,
    pub(crate) first: Position,
}

/// Parses a file.
pub(crate) fn parse(text: &str) -> Result<Node, SyntaxError> {
    // "Last wins" makes the parser pass on every pair, so that all duplicates can be reported.
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    };
    let parsed: Result<Node, _> = serde_saphyr::from_str_with_options(text, options);
    let mut node = parsed.map_err(|error| {
        let position = error.location().and_then(to_position);
        let message = error.render_with_formatter(&UserMessageFormatter);
        SyntaxError {
            position,
            message: explain(&message, text, position),
        }
    })?;
    node.keep_written(text);
    Ok(node)
}

impl Node {
    /// A value that is not in the file.
    pub(crate) fn new(position: Position, value: Value) -> Self {
        Self {
            position,
            value,
            written: None,
            span: None,
        }
    }

    /// Stores how numbers and booleans were written.
    fn keep_written(&mut self, text: &str) {
        match &mut self.value {
            Value::Null | Value::Text(_) => {}
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) => {
                let written = self.span.clone().and_then(|span| text.get(span));
                self.written = written.map(|written| written.trim().to_owned());
            }
            Value::List(items) => items.iter_mut().for_each(|item| item.keep_written(text)),
            Value::Map(entries) => {
                let values = entries.iter_mut().map(|entry| &mut entry.value);
                values.for_each(|value| value.keep_written(text));
            }
        }
    }

    /// The value under these keys. Inside a list, the text of an item is its key.
    pub(crate) fn find(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| match &node.value {
            Value::List(items) => items.iter().find(|item| item.is_text(key)),
            _ => node.entry(key).map(|entry| &entry.value),
        })
    }

    /// Whether the value reads as this text where text is expected.
    fn is_text(&self, expected: &str) -> bool {
        match &self.value {
            Value::Text(text) => text == expected,
            _ => self.written.as_deref() == Some(expected),
        }
    }

    /// The pair with this key, if the value is a mapping.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Removes and returns every pair whose key its mapping already has.
    pub(crate) fn remove_duplicates(&mut self) -> Vec<DuplicateKey> {
        let mut duplicates = Vec::new();
        match &mut self.value {
            Value::List(items) => {
                for item in items {
                    duplicates.extend(item.remove_duplicates());
                }
            }
            Value::Map(entries) => {
                let mut first_positions: HashMap<String, Position> = HashMap::new();
                entries.retain_mut(|entry| {
                    duplicates.extend(entry.value.remove_duplicates());
                    let (key, position) = (entry.key.clone(), entry.key_position);
                    match first_positions.get(&key).copied() {
                        Some(first) => {
                            duplicates.push(DuplicateKey {
                                key,
                                position,
                                first,
                            });
                            false
                        }
                        None => first_positions.insert(key, position).is_none(),
                    }
                });
            }
            _ => {}
        }
        duplicates
    }
}

/// The parser uses line 0 for an unknown position.
fn to_position(location: Location) -> Option<Position> {
    (location.line() > 0).then(|| Position {
        line: location.line(),
        column: location.column(),
    })
}

fn byte_range(location: Location) -> Option<Range<usize>> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    Some(start..start + usize::try_from(span.byte_len()?).ok()?)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value,
            referenced,
            defined,
        } = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self {
            position: to_position(referenced).unwrap_or(Position::START),
            value,
            written: None,
            span: byte_range(defined),
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(Value::Integer(integer.into()))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value, E> {
        Ok(Value::Integer(integer.into()))
    }

    fn visit_i128<E>(self, integer: i128) -> Result<Value, E> {
        Ok(Value::Integer(integer))
    }

    fn visit_u128<E>(self, integer: u128) -> Result<Value, E> {
        // Larger than any setting allows, so the exact value does not matter.
        Ok(Value::Integer(i128::try_from(integer).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Value, E> {
        Ok(Value::Float(float))
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

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value: Node = map.next_value()?;
            let key_position = to_position(key.referenced).unwrap_or(value.position);
            entries.push(Entry {
                key: key.value,
                key_position,
                value,
            });
        }
        Ok(Value::Map(entries))
    }
}
