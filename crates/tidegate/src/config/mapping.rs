//! A mapping of the file whose fields belong to several components: each reads its own fields, and
//! the remaining fields are unknown.

use serde::Deserializer;
use serde::de::{Deserialize, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use tidegate_config::{Checker, Section};

use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::read::read;
use super::suggest::unknown_field;
use super::tree::{Node, Value};

/// The fields that nothing has read yet.
pub(crate) struct Mapping<'a> {
    path: &'a [&'a str],
    node: Node,
    known: Vec<&'static str>,
}

impl<'a> Mapping<'a> {
    /// The mapping at this path; empty if the file has no mapping there.
    pub(crate) fn at(path: &'a [&'a str], diagnostics: &Diagnostics) -> Self {
        let written = diagnostics.tree().find(path);
        let empty = || Node::new(diagnostics.tree().position, Value::Map(Vec::new()));
        Self {
            path,
            // A value that is not a mapping was reported when the file was read.
            node: written
                .filter(|node| matches!(node.value, Value::Map(_)))
                .map_or_else(empty, Clone::clone),
            known: Vec::new(),
        }
    }

    pub(crate) fn path(&self) -> &'a [&'a str] {
        self.path
    }

    /// The keys that nothing has read yet.
    pub(crate) fn keys(&self) -> Vec<String> {
        match &self.node.value {
            Value::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Reads the fields of `T`.
    pub(crate) fn read<T>(&mut self, diagnostics: &mut Diagnostics) -> Option<T>
    where
        T: for<'de> Deserialize<'de>,
    {
        let fields = field_names::<T>();
        self.known.extend(fields);
        let Value::Map(entries) = &mut self.node.value else {
            return None;
        };
        let (of_section, others) = std::mem::take(entries)
            .into_iter()
            .partition(|entry| fields.contains(&entry.key.as_str()));
        *entries = others;
        let node = Node::new(self.node.position, Value::Map(of_section));
        read(node, &self.path.join("."), diagnostics)
    }

    /// Reads and checks a section.
    pub(crate) fn section<S: Section>(
        &mut self,
        context: &LoadContext<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<S::Config> {
        let section: S = self.read(diagnostics)?;
        let mut checker = Checker::new(self.path, context.environment, context.folder);
        let config = section.check(&mut checker);
        diagnostics.fields(checker.into_problems());
        config
    }

    /// Reports the fields that no section has.
    pub(crate) fn finish(self, diagnostics: &mut Diagnostics) {
        for key in self.keys() {
            let path = [self.path, &[key.as_str()]].concat();
            let message = unknown_field(&path.join("."), &key, &self.known);
            diagnostics.key(&path, message);
        }
    }
}

/// The names of a struct's fields in the file.
fn field_names<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Fails by design: the deserializer only records the requested fields.
    T::deserialize(FieldNames(&mut names)).ok();
    names
}

/// A deserializer that records the field names that serde passes to it.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Self::Error::custom("field names recorded"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("not a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
