//! One entry of a server's list. Repairs entries that lack members which clients rely on, or have
//! members of the wrong type: many clients reject a whole list for one malformed entry.

mod member_types;

use serde_json::value::RawValue;
use tidegate_core::{CatalogEntry, List, Object, RawJson};

use member_types::remove_mistyped;

const OBJECT_TYPE: &str = "\"object\"";

/// A valid entry, and how it was repaired.
#[derive(Debug)]
pub(super) struct ParsedEntry {
    pub(super) entry: CatalogEntry,
    /// Whether the definition differs from what the server sent.
    pub(super) is_repaired: bool,
    /// The members that were removed because they have the wrong type.
    pub(super) mistyped: Vec<String>,
}

/// Parses an entry. `None` if it has no name or URI.
pub(super) fn parse_entry(list: List, item: &RawValue) -> Option<ParsedEntry> {
    let mut members = Object::parse(item.get()).ok()?;
    let key = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    let key = members.string(key).filter(|key| !key.is_empty())?;
    let had_nulls = remove_nulls(&mut members);
    let removed = remove_mistyped(list, &mut members);
    let was_incomplete = match list {
        List::Tools => repair_input_schema(&mut members),
        List::Resources | List::Templates => add_name(&key, &mut members),
        List::Prompts => false,
    };
    let is_repaired = had_nulls || was_incomplete || removed.is_changed;
    let definition = match is_repaired {
        true => members.write(),
        false => RawJson::copy_of(item.get()),
    };
    Some(ParsedEntry {
        entry: CatalogEntry { key, definition },
        is_repaired,
        mistyped: removed.mistyped,
    })
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
        let parsed = parse_entry(list, &item)?;
        Some((
            parsed.entry.definition.as_str().to_owned(),
            parsed.is_repaired,
        ))
    }

    fn mistyped(list: List, text: &str) -> (String, Vec<String>) {
        let item: Box<RawValue> = serde_json::from_str(text).unwrap();
        let parsed = parse_entry(list, &item).unwrap();
        (parsed.entry.definition.as_str().to_owned(), parsed.mistyped)
    }

    #[test]
    fn removes_members_of_the_wrong_type() {
        for (list, given, repaired, paths) in [
            (
                List::Tools,
                r#"{"name":"a","description":5,"x":[1.50],"inputSchema":{"type":"object","required":"b"}}"#,
                r#"{"name":"a","x":[1.50],"inputSchema":{"type":"object"}}"#,
                vec!["description", "inputSchema.required"],
            ),
            (
                List::Tools,
                r#"{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":1,"readOnlyHint":true,"idempotentHint":null},"outputSchema":[]}"#,
                r#"{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
                vec!["outputSchema", "annotations.title"],
            ),
            (
                List::Prompts,
                r#"{"name":"a","arguments":[{"description":"x"},{"name":"b","required":"yes"},7]}"#,
                r#"{"name":"a","arguments":[{"name":"b"}]}"#,
                vec!["arguments", "arguments.required", "arguments"],
            ),
            (
                List::Prompts,
                r#"{"name":"a","icons":[{"src":1},{"src":"s","theme":"blue"}],"title":{}}"#,
                r#"{"name":"a","icons":[{"src":"s"}]}"#,
                vec!["title", "icons", "icons.theme"],
            ),
            (
                List::Resources,
                r#"{"uri":"a:b","name":"b","size":"big","mimeType":7,"annotations":{"priority":2,"audience":["user","all"]}}"#,
                r#"{"uri":"a:b","name":"b","annotations":{}}"#,
                vec![
                    "mimeType",
                    "size",
                    "annotations.audience",
                    "annotations.priority",
                ],
            ),
            (
                List::Templates,
                r#"{"uriTemplate":"a:{b}","name":5,"_meta":"x"}"#,
                r#"{"uriTemplate":"a:{b}","name":"a:{b}"}"#,
                vec!["_meta"],
            ),
        ] {
            let paths = paths.into_iter().map(ToOwned::to_owned).collect();
            assert_eq!(mistyped(list, given), (repaired.to_owned(), paths));
        }
    }

    /// Clients of earlier revisions accept only objects there.
    #[test]
    fn boolean_schemas_of_properties_become_objects() {
        let given = r#"{"name":"a","inputSchema":{"type":"object","properties":{"b":true,"c":false,"d":{"x":1.0}}}}"#;
        let repaired = r#"{"name":"a","inputSchema":{"type":"object","properties":{"b":{},"c":{"not":{}},"d":{"x":1.0}}}}"#;
        assert_eq!(mistyped(List::Tools, given), (repaired.to_owned(), vec![]));
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
