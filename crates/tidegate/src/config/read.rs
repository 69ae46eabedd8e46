//! Deserializes the tree into typed sections. Reads every value that fits and reports every value
//! that does not. Knows serde's data model, but no section.

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use tidegate_config::Scalar;

use super::diagnostics::Diagnostics;
use super::read_error::ReadError;
use super::tree::{Entry, Node, Value};

/// Limited because each problem costs another pass, and users fix a few problems at a time.
const MAX_ERRORS: usize = 100;

/// Reads a node. serde stops at the first value that does not fit, so that value is reported and
/// removed, and the node is read again until everything fits. Returns `None` if nothing is left, or
/// if there are too many errors.
///
/// `name` is the name of the node in messages; it is empty for the whole file.
pub(crate) fn read<T>(mut node: Node, name: &str, diagnostics: &mut Diagnostics) -> Option<T>
where
    T: for<'de> Deserialize<'de>,
{
    let mut parents_of_removed: Vec<Vec<usize>> = Vec::new();
    loop {
        let error = match T::deserialize(&node) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let path = error.path();
        // A missing field was most likely the one that was just removed from its mapping.
        if !(error.is_missing_field() && parents_of_removed.contains(&path)) {
            let message = error.message(&full_name(name, &node, &path));
            diagnostics.at(error.position(), message);
        }
        if !remove(&mut node, &path) || parents_of_removed.len() == MAX_ERRORS {
            return None;
        }
        parents_of_removed.extend(path.split_last().map(|(_, parent)| parent.to_vec()));
    }
}

/// The dotted name of the value at this path, such as `limits.max_message_bytes`. An item has the
/// name of its list.
fn full_name(name: &str, root: &Node, path: &[usize]) -> String {
    let mut full = name.to_owned();
    let mut node = Some(root);
    for &index in path {
        match node.map(|node| &node.value) {
            Some(Value::Map(entries)) => {
                let dot = if full.is_empty() { "" } else { "." };
                let entry = entries.get(index);
                full = format!("{full}{dot}{}", entry.map_or("?", |entry| &entry.key));
                node = entry.map(|entry| &entry.value);
            }
            Some(Value::List(items)) => node = items.get(index),
            _ => return full,
        }
    }
    full
}

/// Removes the value at this path from its list or mapping.
fn remove(node: &mut Node, path: &[usize]) -> bool {
    match (&mut node.value, path) {
        (Value::Map(entries), &[index]) if index < entries.len() => {
            entries.remove(index);
            true
        }
        (Value::List(items), &[index]) if index < items.len() => {
            items.remove(index);
            true
        }
        (Value::Map(entries), &[index, ref inner @ ..]) => entries
            .get_mut(index)
            .is_some_and(|entry| remove(&mut entry.value, inner)),
        (Value::List(items), &[index, ref inner @ ..]) => {
            items.get_mut(index).is_some_and(|item| remove(item, inner))
        }
        _ => false,
    }
}

impl Node {
    fn visit<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(integer) => visit_integer(*integer, visitor),
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Map(entries) => visitor.visit_map(Entries { entries, next: 0 }),
        }
    }
}

fn visit_integer<'de, V: Visitor<'de>>(integer: i128, visitor: V) -> Result<V::Value, ReadError> {
    match (u64::try_from(integer), i64::try_from(integer)) {
        (Ok(integer), _) => visitor.visit_u64(integer),
        (_, Ok(integer)) => visitor.visit_i64(integer),
        _ => visitor.visit_i128(integer),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.visit(visitor).map_err(|error| error.at(self.position))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// serde would accept a list of the values of the fields; in a file that is a mistake.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value {
            Value::List(_) => {
                Err(ReadError::invalid_type(Unexpected::Seq, &visitor).at(self.position))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let read = match &self.value {
            Value::Text(text) => visitor.visit_enum(
                IntoDeserializer::<ReadError>::into_deserializer(text.as_str()),
            ),
            _ => Err(ReadError::custom(format!(
                "expected one of {}",
                variants.join(", ")
            ))),
        };
        read.map_err(|error| error.at(self.position))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.written {
            // Numbers and booleans are text there, as they were written.
            Some(written) if name == Scalar::NAME => visitor.visit_str(written),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ReadError;

    fn next_element_seed<S>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError>
    where
        S: DeserializeSeed<'de>,
    {
        let Some(item) = self.items.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        seed.deserialize(item)
            .map(Some)
            .map_err(|error| error.under(self.next - 1))
    }
}

struct Entries<'de> {
    entries: &'de [Entry],
    /// The pair whose key is read next; its value follows.
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ReadError;

    fn next_key_seed<S>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError>
    where
        S: DeserializeSeed<'de>,
    {
        let Some(entry) = self.entries.get(self.next) else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, ReadError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key)
            .map(Some)
            .map_err(|error| error.at(entry.key_position).under(self.next))
    }

    fn next_value_seed<S>(&mut self, seed: S) -> Result<S::Value, ReadError>
    where
        S: DeserializeSeed<'de>,
    {
        let index = self.next;
        self.next += 1;
        match self.entries.get(index) {
            Some(entry) => seed
                .deserialize(&entry.value)
                .map_err(|error| error.under(index)),
            None => Err(ReadError::invalid_type(Unexpected::Unit, &"a value")),
        }
    }
}
