//! Canonical JSON: sorted keys, no white space, one way to escape strings. Numbers keep their text,
//! because some readers distinguish `1.0` and `1`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Object, RawJson};

const MAX_DEPTH: usize = 128;

/// The canonical text of a value; `None` if it is nested too deeply or has a duplicate key.
pub fn canonical_json(value: &RawJson) -> Option<String> {
    let mut text = String::with_capacity(value.as_str().len());
    write(value.as_str(), MAX_DEPTH, &mut text)?;
    Some(text)
}

fn write(value: &str, depth: usize, text: &mut String) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let value = value.trim();
    match value.as_bytes().first()? {
        b'{' => {
            let object = Object::parse(value).ok()?;
            let members: BTreeMap<_, _> = object.iter().collect();
            text.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write!(text, "{}:", serde_json::Value::from(key)).ok()?;
                write(member, depth, text)?;
            }
            text.push('}');
        }
        b'[' => {
            let mut array = serde_json::Deserializer::from_str(value);
            array.deserialize_seq(Items { depth, text }).ok()?;
            array.end().ok()?;
        }
        b'"' => {
            let string: String = serde_json::from_str(value).ok()?;
            write!(text, "{}", serde_json::Value::from(string)).ok()?;
        }
        _ => text.push_str(value),
    }
    Some(())
}

/// Writes the items of an array one by one: a list of them would be many times larger than the text.
struct Items<'t> {
    depth: usize,
    text: &'t mut String,
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.text.push('[');
        let mut is_first = true;
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            if !is_first {
                self.text.push(',');
            }
            is_first = false;
            let written = write(item.get(), self.depth, self.text);
            written.ok_or_else(|| A::Error::custom("not canonical"))?;
        }
        self.text.push(']');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        canonical_json(&RawJson::copy_of(text))
    }

    #[test]
    fn equal_values_have_equal_texts() {
        let plain = canonical(r#"{"a":[1,{"x":null,"y":"é"}],"b":1.50}"#);
        assert!(plain.is_some());
        assert_eq!(
            canonical(" {\"b\" : 1.50,\n\"a\":[ 1, {\"y\":\"\\u00e9\",\"x\":null} ] } "),
            plain
        );
        assert_ne!(canonical(r#"{"a":[1,{"x":null,"y":"é"}],"b":1.5}"#), plain);
        assert_eq!(canonical(r#"{"\u0061":1}"#), canonical(r#"{"a":1}"#));
    }

    #[test]
    fn rejects_duplicate_keys_and_deep_nesting() {
        assert_eq!(canonical(r#"{"a":1,"a":2}"#), None);
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(canonical(&deep), None);
    }
}
