//! One text for all spellings of the same JSON: keys in order, no white space, strings written one
//! way. Numbers keep their text: `1.0` and `1` are not the same to everyone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::{Object, RawJson, bounded_list};

/// Deeper than anything that is meant to be read.
const DEEPEST: usize = 128;

const MOST_ITEMS: usize = 1_000_000;

/// The canonical text of a value; none if it is too deep, or an object has a key twice.
pub fn canonical_json(value: &RawJson) -> Option<String> {
    let mut text = String::with_capacity(value.as_str().len());
    write(value.as_str(), DEEPEST, &mut text)?;
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
            let items: Vec<&RawValue> = bounded_list(value, MOST_ITEMS).ok()?;
            text.push('[');
            for (index, item) in items.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item.get(), depth, text)?;
            }
            text.push(']');
        }
        b'"' => {
            let string: String = serde_json::from_str(value).ok()?;
            write!(text, "{}", serde_json::Value::from(string)).ok()?;
        }
        _ => text.push_str(value),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        canonical_json(&RawJson::copy_of(text))
    }

    #[test]
    fn spellings_of_the_same_are_the_same() {
        let plain = of(r#"{"a":[1,{"x":null,"y":"é"}],"b":1.50}"#);
        assert!(plain.is_some());
        assert_eq!(
            of(" {\"b\" : 1.50,\n\"a\":[ 1, {\"y\":\"\\u00e9\",\"x\":null} ] } "),
            plain
        );
        assert_ne!(of(r#"{"a":[1,{"x":null,"y":"é"}],"b":1.5}"#), plain);
        assert_eq!(of(r#"{"\u0061":1}"#), of(r#"{"a":1}"#));
    }

    #[test]
    fn what_nobody_means_has_none() {
        assert_eq!(of(r#"{"a":1,"a":2}"#), None);
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(of(&deep), None);
    }
}
