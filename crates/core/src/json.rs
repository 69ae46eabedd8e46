//! JSON that stays text. The gateway reads the few members it needs and forwards everything else byte
//! for byte: unknown members, key order, 20-digit integers and `1.50` survive.

mod canonical;
mod list;
mod object;

use std::fmt;

use bytestring::ByteString;
use serde_json::value::RawValue;

pub use canonical::canonical_json;
pub use list::{length as list_length, list as bounded_list};
pub use object::Object;
pub(crate) use object::map_member;

/// One valid JSON value as text. Cloning shares the bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(ByteString);

impl RawJson {
    /// Accepts text that is exactly one JSON value.
    pub fn parse(text: impl Into<ByteString>) -> serde_json::Result<Self> {
        let text = text.into();
        serde_json::from_str::<&RawValue>(&text)?;
        Ok(Self(text))
    }

    /// A JSON string with this text.
    pub fn string(text: &str) -> Self {
        Self(serde_json::Value::from(text).to_string().into())
    }

    /// A value inside `whole` that a parser has already validated. Not copied.
    pub fn part_of(whole: &ByteString, value: &str) -> Self {
        Self(whole.slice_ref(value))
    }

    /// A copy of a value that a parser has already validated.
    pub fn copy_of(value: &str) -> Self {
        Self(value.to_owned().into())
    }

    pub fn empty_object() -> Self {
        Self(ByteString::from_static("{}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The members of this value, if it is an object without duplicate keys.
    pub fn object(&self) -> Option<Object<'_>> {
        Object::parse(self.as_str()).ok()
    }

    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Deserializes this value.
    pub fn read<'a, T: serde::Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
