//! From the tree to the raw types: as much as fits is read, and all that does not is told.
//!
//! Knows serde's protocol; knows none of the raw types, nor what a setting means.

use std::collections::HashMap;

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::problem::{Diagnostics, Place};
use super::read_error::ReadError;
use super::tree::{Entry, Node, Value};

/// Nobody mends more than this before looking again, and each costs one more reading.
const MAX_ERRORS: usize = 100;

/// Reads a raw type. serde stops at the first value that does not fit, so that value is noted,
/// taken out, and the rest is read again, until all of it fits. `None` when nothing is left, or
/// when too much is wrong.
///
/// `name` is what the node is called in messages; it is empty for the whole file.
pub(crate) fn read<T>(mut node: Node, name: &str, diagnostics: &mut Diagnostics) -> Option<T>
where
    T: for<'de> Deserialize<'de>,
{
    let mut removed: Vec<Vec<usize>> = Vec::new();
    loop {
        let error = match T::deserialize(&node) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let path = error.path();
        // A field that is missing where one was taken out was most likely that one.
        if !(error.is_missing() && removed.contains(&path)) {
            diagnostics.place(error.place(), error.message(&full_name(name, &node, &path)));
        }
        if !take_out(&mut node, &path) || removed.len() == MAX_ERRORS {
            return None;
        }
        removed.extend(path.split_last().map(|(_, holder)| holder.to_vec()));
    }
}

/// Notes every key that is in its mapping already, and keeps the first of them.
pub(crate) fn refuse_duplicates(node: &mut Node, diagnostics: &mut Diagnostics) {
    match &mut node.value {
        Value::List(items) => {
            items
                .iter_mut()
                .for_each(|item| refuse_duplicates(item, diagnostics));
        }
        Value::Map(entries) => {
            let mut seen: HashMap<String, Place> = HashMap::new();
            entries.retain_mut(|entry| {
                refuse_duplicates(&mut entry.value, diagnostics);
                let first = seen.get(&entry.key).copied();
                match first {
                    Some(first) => diagnostics.place(entry.key_at, twice(&entry.key, first)),
                    None => drop(seen.insert(entry.key.clone(), entry.key_at)),
                }
                first.is_none()
            });
        }
        _ => {}
    }
}

fn twice(key: &str, first: Place) -> String {
    format!(
        "`{key}` is already set in line {}; keep one of the two",
        first.line
    )
}

/// The path in words, such as `limits.max_message_bytes`. An item has the name of its list.
fn full_name(name: &str, root: &Node, path: &[usize]) -> String {
    let mut words = name.to_owned();
    let mut node = Some(root);
    for &position in path {
        match node.map(|node| &node.value) {
            Some(Value::Map(entries)) => {
                let dot = if words.is_empty() { "" } else { "." };
                let entry = entries.get(position);
                words = format!("{words}{dot}{}", entry.map_or("?", |entry| &entry.key));
                node = entry.map(|entry| &entry.value);
            }
            Some(Value::List(items)) => node = items.get(position),
            _ => return words,
        }
    }
    words
}

/// Takes the value at this path out of the list or mapping that holds it.
fn take_out(node: &mut Node, path: &[usize]) -> bool {
    match (&mut node.value, path) {
        (Value::Map(entries), &[last]) if last < entries.len() => {
            entries.remove(last);
            true
        }
        (Value::List(items), &[last]) if last < items.len() => {
            items.remove(last);
            true
        }
        (Value::Map(entries), &[first, ref rest @ ..]) => entries
            .get_mut(first)
            .is_some_and(|entry| take_out(&mut entry.value, rest)),
        (Value::List(items), &[first, ref rest @ ..]) => items
            .get_mut(first)
            .is_some_and(|item| take_out(item, rest)),
        _ => false,
    }
}

// === impl Deserializer ===

impl Node {
    fn visit<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Nothing => visitor.visit_unit(),
            Value::Flag(flag) => visitor.visit_bool(*flag),
            Value::Whole(whole) => visit_whole(*whole, visitor),
            Value::Real(real) => visitor.visit_f64(*real),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Map(entries) => visitor.visit_map(Pairs { entries, next: 0 }),
        }
    }
}

fn visit_whole<'de, V: Visitor<'de>>(whole: i128, visitor: V) -> Result<V::Value, ReadError> {
    match (u64::try_from(whole), i64::try_from(whole)) {
        (Ok(whole), _) => visitor.visit_u64(whole),
        (_, Ok(whole)) => visitor.visit_i64(whole),
        _ => visitor.visit_i128(whole),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.visit(visitor).map_err(|error| error.at(self.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Nothing => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// A bare `8080` is a number to YAML; where text is wanted it is meant as text.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Whole(whole) => visitor
                .visit_string(whole.to_string())
                .map_err(|error: ReadError| error.at(self.at)),
            _ => self.deserialize_any(visitor),
        }
    }

    /// serde would take a list for the fields in their order; nobody means that.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value {
            Value::List(_) => Err(ReadError::invalid_type(Unexpected::Seq, &visitor).at(self.at)),
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
        read.map_err(|error| error.at(self.at))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str bytes byte_buf unit
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

struct Pairs<'de> {
    entries: &'de [Entry],
    /// The pair whose key comes next; its value follows.
    next: usize,
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = ReadError;

    fn next_key_seed<S>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError>
    where
        S: DeserializeSeed<'de>,
    {
        let Some(entry) = self.entries.get(self.next) else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, ReadError> = entry.key.as_str().into_deserializer();
        let read = seed.deserialize(key);
        read.map(Some)
            .map_err(|error| error.at(entry.key_at).under(self.next))
    }

    fn next_value_seed<S>(&mut self, seed: S) -> Result<S::Value, ReadError>
    where
        S: DeserializeSeed<'de>,
    {
        let position = self.next;
        self.next += 1;
        match self.entries.get(position) {
            Some(entry) => seed
                .deserialize(&entry.value)
                .map_err(|error| error.under(position)),
            None => Err(ReadError::invalid_type(Unexpected::Unit, &"a value")),
        }
    }
}
