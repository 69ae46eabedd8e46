//! One entry of a server's list. Repairs entries that lack members which clients rely on: many
//! clients reject a whole list for one malformed entry.

use serde_json::value::RawValue;
use tidegate_core::{CatalogEntry, List, Object, RawJson};

const OBJECT_TYPE: &str = "\"object\"";

/// Parses an entry, and whether it had to be repaired. `None` if it has no name or URI.
pub(super) fn parse_entry(list: List, item: &RawValue) -> Option<(CatalogEntry, bool)> {
    let mut members = Object::parse(item.get()).ok()?;
    let key = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    let key = members.string(key).filter(|key| !key.is_empty())?;
    let is_repaired = repair(list, &key, &mut members);
    let definition = match is_repaired {
        true => members.write(),
        false => RawJson::copy_of(item.get()),
    };
    Some((CatalogEntry { key, definition }, is_repaired))
}

fn repair(list: List, key: &str, members: &mut Object<'_>) -> bool {
    let had_nulls = remove_nulls(members);
    let was_incomplete = match list {
        List::Tools => repair_input_schema(members),
        List::Resources | List::Templates => add_name(key, members),
        List::Prompts => false,
    };
    had_nulls || was_incomplete
}

/// Removes null members, which some clients reject. Returns whether there were any.
fn remove_nulls(members: &mut Object<'_>) -> bool {
    let nulls = members.iter().filter(|(_, value)| *value == "null");
    let nulls: Vec<_> = nulls.map(|(name, _)| name.to_owned()).collect();
    for name in &nulls {
        members.remove(name);
    }
    !nulls.is_empty()
}

/// Sets the type of the input schema to `object`, which some servers omit. Returns whether it
/// changed.
fn repair_input_schema(members: &mut Object<'_>) -> bool {
    let schema = members.get("inputSchema").unwrap_or_default().to_owned();
    let mut schema = Object::parse(&schema).unwrap_or_default();
    if schema.get("type") == Some(OBJECT_TYPE) {
        return false;
    }
    schema.set("type", OBJECT_TYPE);
    members.set("inputSchema", schema.write().as_str().to_owned());
    true
}

/// Uses the URI as the name if there is no name. Returns whether it was added.
fn add_name(key: &str, members: &mut Object<'_>) -> bool {
    let is_missing = members.string("name").is_none();
    if is_missing {
        members.set("name", RawJson::string(key).as_str().to_owned());
    }
    is_missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(list: List, text: &str) -> Option<(String, bool)> {
        let item: Box<RawValue> = serde_json::from_str(text).unwrap();
        let (entry, is_repaired) = parse_entry(list, &item)?;
        Some((entry.definition.as_str().to_owned(), is_repaired))
    }

    #[test]
    fn valid_entries_are_unchanged() {
        for (list, valid) in [
            (
                List::Tools,
                r#"{ "name":"a", "inputSchema":{"type":"object","$defs":{}} }"#,
            ),
            (List::Prompts, r#"{"name": "a"}"#),
            (List::Resources, r#"{"uri":"a:b","name":"b","size":1.0}"#),
            (List::Templates, r#"{"uriTemplate":"a:{b}","name":"b"}"#),
        ] {
            assert_eq!(parse(list, valid), Some((valid.to_owned(), false)));
        }
    }

    #[test]
    fn adds_members_that_clients_rely_on() {
        for (list, incomplete, repaired) in [
            (
                List::Tools,
                r#"{"name":"a"}"#,
                r#"{"name":"a","inputSchema":{"type":"object"}}"#,
            ),
            (
                List::Tools,
                r#"{"inputSchema":{"properties":{}},"name":"a","description":null}"#,
                r#"{"inputSchema":{"properties":{},"type":"object"},"name":"a"}"#,
            ),
            (
                List::Tools,
                r#"{"name":"a","inputSchema":[]}"#,
                r#"{"name":"a","inputSchema":{"type":"object"}}"#,
            ),
            (
                List::Resources,
                r#"{"uri":"a:b"}"#,
                r#"{"uri":"a:b","name":"a:b"}"#,
            ),
        ] {
            assert_eq!(parse(list, incomplete), Some((repaired.to_owned(), true)));
        }
    }

    #[test]
    fn drops_entries_without_a_name_or_uri() {
        for (list, nameless) in [
            (List::Tools, r#"{"name":""}"#),
            (List::Tools, r#"{"name":5}"#),
            (List::Prompts, r#""str""#),
            (List::Resources, r#"{"uri":"","name":"a"}"#),
        ] {
            assert_eq!(parse(list, nameless), None, "{nameless}");
        }
    }
}
