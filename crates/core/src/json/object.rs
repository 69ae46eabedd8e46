//! One JSON object as a list of members, each still text: look up, replace, write back.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::RawJson;

/// Limits the memory that a hostile object can cost.
const MAX_MEMBERS: usize = 10_000;

/// Up to this many, comparing each key is faster than a set.
const FEW_MEMBERS: usize = 16;

/// An object parsed one level deep. Members keep their order and their exact text.
#[derive(Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Object<'a> {
    /// Parses an object. A duplicate key is an error: two readers could disagree on its value.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let members = deserializer.deserialize_map(Members)?;
        deserializer.end()?;
        Ok(Self { members })
    }

    /// The text of a member.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.members
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_ref())
    }

    /// The value of a member that is a string.
    pub fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// Sets a member: in place if it exists, otherwise at the end.
    pub fn set(&mut self, key: &'a str, value: impl Into<Cow<'a, str>>) {
        match self.members.iter_mut().find(|(name, _)| name == key) {
            Some((_, slot)) => *slot = value.into(),
            None => self.members.push((Cow::Borrowed(key), value.into())),
        }
    }

    /// Removes a member.
    pub fn remove(&mut self, key: &str) -> Option<Cow<'a, str>> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(at).1)
    }

    /// The keys and the texts of the members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The text of the object.
    pub fn write(&self) -> RawJson {
        let size = self
            .members
            .iter()
            .map(|(key, value)| key.len() + value.len() + 4)
            .sum::<usize>();
        let mut text = String::with_capacity(size + 2);
        text.push('{');
        for (index, (key, value)) in self.members.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            push_key(&mut text, key);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        RawJson(text.into())
    }
}

fn push_key(text: &mut String, key: &str) {
    let plain = key
        .bytes()
        .all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if plain {
        text.push('"');
        text.push_str(key);
        text.push('"');
    } else {
        text.push_str(&serde_json::Value::from(key).to_string());
    }
}

/// The keys so far. No set is built for objects with few members, which are most.
#[derive(Default)]
struct KnownKeys<'de>(HashSet<Cow<'de, str>>);

impl<'de> KnownKeys<'de> {
    /// Adds a key; false if it exists already.
    fn insert(&mut self, members: &[(Cow<'de, str>, Cow<'de, str>)], key: &str) -> bool {
        if members.len() < FEW_MEMBERS {
            return members.iter().all(|(known, _)| known != key);
        }
        if members.len() == FEW_MEMBERS {
            self.0 = members.iter().map(|(known, _)| known.clone()).collect();
        }
        self.0.insert(Cow::Owned(key.to_owned()))
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(Cow<'de, str>, Cow<'de, str>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Self::Value = Vec::new();
        let mut keys = KnownKeys::default();
        while let Some((key, value)) = map.next_entry::<MemberKey<'de>, &'de RawValue>()? {
            if members.len() == MAX_MEMBERS {
                return Err(A::Error::custom(format_args!(
                    "more than {MAX_MEMBERS} members"
                )));
            }
            if !keys.insert(&members, &key.0) {
                return Err(A::Error::custom(format_args!("duplicate key `{}`", key.0)));
            }
            members.push((key.0, Cow::Borrowed(value.get())));
        }
        Ok(members)
    }
}

/// A key, borrowed where it has no escapes.
struct MemberKey<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for MemberKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = MemberKey<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(MemberKey(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(MemberKey(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// An object with one member changed; `None` if the member does not change.
pub(crate) fn map_member(
    text: &str,
    key: &str,
    map: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let mut object = Object::parse(text).ok()?;
    let changed = map(object.get(key)?)?;
    object.set(key, changed);
    Some(object.write().as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_members_keep_their_text_and_order() {
        let text = r#"{"z":1.50,"a":12345678901234567890,"name":"x","é\n":[ 1 ]}"#;
        let mut object = Object::parse(text).unwrap();
        object.set("name", "\"s__x\"");
        assert_eq!(
            object.write().as_str(),
            r#"{"z":1.50,"a":12345678901234567890,"name":"s__x","é\n":[ 1 ]}"#
        );
    }

    #[test]
    fn rejects_duplicate_keys_however_escaped() {
        assert!(Object::parse(r#"{"a":1,"a":2}"#).is_err());
        assert!(Object::parse(r#"{"a":1,"\u0061":2}"#).is_err());
        let many = |count: usize| {
            (0..count)
                .map(|n| format!("\"k{n}\":0,"))
                .collect::<String>()
        };
        assert!(Object::parse(&format!("{{{}\"last\":0}}", many(100))).is_ok());
        assert!(Object::parse(&format!("{{{}\"k7\":0}}", many(100))).is_err());
        assert!(Object::parse(&format!("{{{}\"last\":0}}", many(MAX_MEMBERS))).is_err());
        assert!(Object::parse("[1]").is_err());
        assert!(Object::parse("{} {}").is_err());
    }

    proptest! {
        #[test]
        fn writing_reverses_parsing(map in prop::collection::btree_map(".{0,8}", ".{0,8}", 0..8)) {
            let text = serde_json::to_string(&map).unwrap();
            let written = Object::parse(&text).unwrap().write();
            let again: std::collections::BTreeMap<String, String> = written.read().unwrap();
            prop_assert_eq!(again, map);
        }
    }
}
