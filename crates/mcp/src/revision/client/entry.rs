//! One entry of a server's list, mended where it lacks what clients rely on: many refuse a whole
//! list for one entry that is not as it should be.

use serde_json::value::RawValue;
use tidegate_core::{CatalogEntry, List, Object, RawJson};

const OBJECT: &str = "\"object\"";

/// Reads an entry; none if it has no name to ask for it by. True if it had to be mended.
pub(super) fn entry(list: List, item: &RawValue) -> Option<(CatalogEntry, bool)> {
    let mut members = Object::parse(item.get()).ok()?;
    let key = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    let key = members.string(key).filter(|key| !key.is_empty())?;
    let mended = mend(list, &key, &mut members);
    let definition = match mended {
        true => members.write(),
        false => RawJson::copy_of(item.get()),
    };
    Some((CatalogEntry { key, definition }, mended))
}

fn mend(list: List, key: &str, members: &mut Object<'_>) -> bool {
    let nothing = without_nulls(members);
    let lacking = match list {
        List::Tools => takes_no_object(members),
        List::Resources | List::Templates => has_no_name(key, members),
        List::Prompts => false,
    };
    nothing || lacking
}

/// Members that are null say nothing, and are taken for wrong.
fn without_nulls(members: &mut Object<'_>) -> bool {
    let nulls = members.iter().filter(|(_, value)| *value == "null");
    let nulls: Vec<_> = nulls.map(|(name, _)| name.to_owned()).collect();
    for name in &nulls {
        members.remove(name);
    }
    !nulls.is_empty()
}

/// The arguments of a tool are an object, whatever else its schema says or does not.
fn takes_no_object(members: &mut Object<'_>) -> bool {
    let schema = members.get("inputSchema").unwrap_or_default().to_owned();
    let mut schema = Object::parse(&schema).unwrap_or_default();
    if schema.get("type") == Some(OBJECT) {
        return false;
    }
    schema.set("type", OBJECT);
    members.set("inputSchema", schema.write().as_str().to_owned());
    true
}

fn has_no_name(key: &str, members: &mut Object<'_>) -> bool {
    let lacks = members.string("name").is_none();
    if lacks {
        members.set("name", RawJson::string(key).as_str().to_owned());
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: List, text: &str) -> Option<(String, bool)> {
        let item: Box<RawValue> = serde_json::from_str(text).unwrap();
        let (entry, mended) = entry(list, &item)?;
        Some((entry.definition.as_str().to_owned(), mended))
    }

    #[test]
    fn what_is_good_is_not_touched() {
        for (list, good) in [
            (
                List::Tools,
                r#"{ "name":"a", "inputSchema":{"type":"object","$defs":{}} }"#,
            ),
            (List::Prompts, r#"{"name": "a"}"#),
            (List::Resources, r#"{"uri":"a:b","name":"b","size":1.0}"#),
            (List::Templates, r#"{"uriTemplate":"a:{b}","name":"b"}"#),
        ] {
            assert_eq!(read(list, good), Some((good.to_owned(), false)));
        }
    }

    #[test]
    fn what_clients_rely_on_is_added() {
        for (list, lacking, mended) in [
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
            assert_eq!(read(list, lacking), Some((mended.to_owned(), true)));
        }
    }

    #[test]
    fn what_cannot_be_asked_for_is_left_out() {
        for (list, nameless) in [
            (List::Tools, r#"{"name":""}"#),
            (List::Tools, r#"{"name":5}"#),
            (List::Prompts, r#""str""#),
            (List::Resources, r#"{"uri":"","name":"a"}"#),
        ] {
            assert_eq!(read(list, nameless), None, "{nameless}");
        }
    }
}
