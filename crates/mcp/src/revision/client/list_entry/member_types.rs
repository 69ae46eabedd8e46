//! The types of the members of list entries, as the schemas of the protocol give them. A member of
//! another type is removed: SDKs of clients reject a whole list for it. Must not know: how a repair is
//! reported.

use std::borrow::Cow;

use serde_json::value::RawValue;
use tidegate_core::{List, Object, bounded_list};

/// Items of an array in one entry, such as the arguments of a prompt.
const MAX_ITEMS: usize = 10_000;

/// The type of a member.
enum Type {
    String,
    Boolean,
    Integer,
    /// A number from 0 to 1.
    Fraction,
    OneOf(&'static [&'static str]),
    Strings,
    /// An array of these strings.
    SomeOf(&'static [&'static str]),
    /// An object whose members are not checked.
    Object,
    Members(&'static [Member]),
    /// An array of objects; invalid items are removed.
    Items(&'static [Member]),
    /// JSON Schemas by name. `true` and `false` are written as objects, which clients of earlier
    /// revisions require.
    Schemas,
}

struct Member {
    name: &'static str,
    member_type: Type,
    is_required: bool,
}

const fn required(name: &'static str, member_type: Type) -> Member {
    Member {
        name,
        member_type,
        is_required: true,
    }
}

const fn optional(name: &'static str, member_type: Type) -> Member {
    Member {
        name,
        member_type,
        is_required: false,
    }
}

const ICON: &[Member] = &[
    required("src", Type::String),
    optional("mimeType", Type::String),
    optional("sizes", Type::Strings),
    optional("theme", Type::OneOf(&["light", "dark"])),
];

const TOOL: &[Member] = &[
    optional("title", Type::String),
    optional("description", Type::String),
    optional("inputSchema", Type::Members(SCHEMA)),
    optional("outputSchema", Type::Members(SCHEMA)),
    optional("annotations", Type::Members(TOOL_ANNOTATIONS)),
    optional("execution", Type::Members(TOOL_EXECUTION)),
    optional("icons", Type::Items(ICON)),
    optional("_meta", Type::Object),
];

const SCHEMA: &[Member] = &[
    optional("$schema", Type::String),
    optional("properties", Type::Schemas),
    optional("required", Type::Strings),
];

const TOOL_ANNOTATIONS: &[Member] = &[
    optional("title", Type::String),
    optional("readOnlyHint", Type::Boolean),
    optional("destructiveHint", Type::Boolean),
    optional("idempotentHint", Type::Boolean),
    optional("openWorldHint", Type::Boolean),
];

const TOOL_EXECUTION: &[Member] = &[optional(
    "taskSupport",
    Type::OneOf(&["forbidden", "optional", "required"]),
)];

const PROMPT: &[Member] = &[
    optional("title", Type::String),
    optional("description", Type::String),
    optional("arguments", Type::Items(PROMPT_ARGUMENT)),
    optional("icons", Type::Items(ICON)),
    optional("_meta", Type::Object),
];

const PROMPT_ARGUMENT: &[Member] = &[
    required("name", Type::String),
    optional("title", Type::String),
    optional("description", Type::String),
    optional("required", Type::Boolean),
];

const RESOURCE: &[Member] = &[
    optional("title", Type::String),
    optional("description", Type::String),
    optional("mimeType", Type::String),
    optional("size", Type::Integer),
    optional("annotations", Type::Members(ANNOTATIONS)),
    optional("icons", Type::Items(ICON)),
    optional("_meta", Type::Object),
];

const TEMPLATE: &[Member] = &[
    optional("title", Type::String),
    optional("description", Type::String),
    optional("mimeType", Type::String),
    optional("annotations", Type::Members(ANNOTATIONS)),
    optional("icons", Type::Items(ICON)),
    optional("_meta", Type::Object),
];

const ANNOTATIONS: &[Member] = &[
    optional("audience", Type::SomeOf(&["user", "assistant"])),
    optional("priority", Type::Fraction),
    optional("lastModified", Type::String),
];

/// Removes the members of an entry that have the wrong type, at any depth. Null counts as absent.
pub(super) fn remove_mistyped(list: List, entry: &mut Object<'_>) -> Removed {
    let members = match list {
        List::Tools => TOOL,
        List::Prompts => PROMPT,
        List::Resources => RESOURCE,
        List::Templates => TEMPLATE,
    };
    let mut removed = Removed::default();
    check_members(members, entry, &mut Vec::new(), &mut removed);
    removed
}

/// What was removed from an entry.
#[derive(Default)]
pub(super) struct Removed {
    /// The paths of members with the wrong type, such as `annotations.title`. Without those that were
    /// null.
    pub(super) mistyped: Vec<String>,
    /// Whether anything changed, also without loss.
    pub(super) is_changed: bool,
}

impl Removed {
    fn add(&mut self, path: &[&str], value: &str) {
        self.is_changed = true;
        if value != "null" {
            self.mistyped.push(path.join("."));
        }
    }
}

/// The result of checking a value.
enum Checked {
    Valid,
    Repaired(String),
    Invalid,
}

/// Checks the members of an object in place; false if a required one is missing or invalid.
fn check_members(
    members: &'static [Member],
    object: &mut Object<'_>,
    path: &mut Vec<&'static str>,
    removed: &mut Removed,
) -> bool {
    for member in members {
        let Some(value) = object.get(member.name) else {
            match member.is_required {
                true => return false,
                false => continue,
            }
        };
        path.push(member.name);
        match check(&member.member_type, value, path, removed) {
            Checked::Valid => {}
            Checked::Repaired(repaired) => object.set(member.name, repaired),
            Checked::Invalid if member.is_required => {
                path.pop();
                return false;
            }
            Checked::Invalid => {
                removed.add(path, value);
                object.remove(member.name);
            }
        }
        path.pop();
    }
    true
}

fn check(
    member_type: &'static Type,
    value: &str,
    path: &mut Vec<&'static str>,
    removed: &mut Removed,
) -> Checked {
    let is_valid = match member_type {
        Type::String => value.starts_with('"'),
        Type::Boolean => matches!(value, "true" | "false"),
        Type::Integer => number(value).is_some_and(|number| number.fract() == 0.0),
        Type::Fraction => number(value).is_some_and(|number| (0.0..=1.0).contains(&number)),
        Type::OneOf(known) => is_one_of(value, known),
        Type::Strings => {
            items(value).is_some_and(|items| items.iter().all(|item| item.starts_with('"')))
        }
        Type::SomeOf(known) => {
            items(value).is_some_and(|items| items.iter().all(|item| is_one_of(item, known)))
        }
        Type::Object => value.starts_with('{'),
        Type::Members(members) => return check_object(members, value, path, removed),
        Type::Items(members) => return check_items(members, value, path, removed),
        Type::Schemas => return check_schemas(value, removed),
    };
    match is_valid {
        true => Checked::Valid,
        false => Checked::Invalid,
    }
}

fn check_object(
    members: &'static [Member],
    value: &str,
    path: &mut Vec<&'static str>,
    removed: &mut Removed,
) -> Checked {
    let Ok(mut object) = Object::parse(value) else {
        return Checked::Invalid;
    };
    let mut inner = Removed::default();
    if !check_members(members, &mut object, path, &mut inner) {
        return Checked::Invalid;
    }
    let is_changed = inner.is_changed;
    removed.is_changed |= is_changed;
    removed.mistyped.append(&mut inner.mistyped);
    match is_changed {
        true => Checked::Repaired(object.write().as_str().to_owned()),
        false => Checked::Valid,
    }
}

fn check_items(
    members: &'static [Member],
    value: &str,
    path: &mut Vec<&'static str>,
    removed: &mut Removed,
) -> Checked {
    let Some(items) = items(value) else {
        return Checked::Invalid;
    };
    let mut is_changed = false;
    let mut kept = Vec::with_capacity(items.len());
    for item in items {
        match check_object(members, item, path, removed) {
            Checked::Valid => kept.push(Cow::Borrowed(item)),
            Checked::Repaired(repaired) => {
                is_changed = true;
                kept.push(Cow::Owned(repaired));
            }
            Checked::Invalid => {
                is_changed = true;
                removed.add(path, item);
            }
        }
    }
    match is_changed {
        true => Checked::Repaired(format!("[{}]", kept.join(","))),
        false => Checked::Valid,
    }
}

/// Every schema as an object. A value that is no schema accepts anything.
fn check_schemas(value: &str, removed: &mut Removed) -> Checked {
    let Ok(mut schemas) = Object::parse(value) else {
        return Checked::Invalid;
    };
    let others = schemas
        .iter()
        .filter(|(_, schema)| !schema.starts_with('{'));
    let others: Vec<_> = others
        .map(|(name, schema)| (name.to_owned(), schema == "false"))
        .collect();
    if others.is_empty() {
        return Checked::Valid;
    }
    for (name, is_false) in &others {
        schemas.set(name, if *is_false { r#"{"not":{}}"# } else { "{}" });
    }
    removed.is_changed = true;
    Checked::Repaired(schemas.write().as_str().to_owned())
}

fn number(value: &str) -> Option<f64> {
    let number: f64 = serde_json::from_str(value).ok()?;
    number.is_finite().then_some(number)
}

fn items(value: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = bounded_list(value, MAX_ITEMS).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

fn is_one_of(value: &str, known: &[&str]) -> bool {
    let value = serde_json::from_str::<Cow<'_, str>>(value);
    value.is_ok_and(|value| known.contains(&value.as_ref()))
}
