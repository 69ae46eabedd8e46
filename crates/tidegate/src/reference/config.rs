//! The page on the configuration file, generated from its JSON Schema.
//!
//! Must not know: any field by name, except `sources` and the fields that sources share.

use serde_json::{Map, Value};

use super::table::{code, heading, table};
use super::yaml;
use crate::config::{OVERRIDES, Target, display_default, schema};

const OPENING: &str = include_str!("config_opening.md");
const SOURCES: &str = "sources";
/// A section that is described once, although every source has it.
const SHARED_SECTION: &str = "endpoint";
const SOURCES_OPENING: &str = "\
Each source has an id of your choice: a lower-case letter, then up to 31 of a-z 0-9 -. The fields of a \
source depend on its kind.\n\n";

type Fields = Map<String, Value>;

/// The page.
pub(super) fn page() -> String {
    let schema = schema();
    let mut text = OPENING.to_owned();
    if let Some(fields) = properties(schema.as_value()) {
        text += &heading(2, "Fields");
        text += &field_table("", fields, &[]);
        let sections: Vec<&str> = fields
            .iter()
            .filter(|(_, schema)| json_type(schema) == Some("object"))
            .map(|(field, _)| field.as_str())
            .collect();
        text += &yaml::block(&[], fields, &sections);
        for (field, schema) in fields {
            text += &section(field, schema);
        }
    }
    text + &variables()
}

/// The section of a field that has fields itself.
fn section(name: &str, schema: &Value) -> String {
    let entries = schema.get("additionalProperties");
    if let Some(variants) = entries.and_then(|entries| entries.get("oneOf")) {
        return sources(variants.as_array().map(Vec::as_slice).unwrap_or_default());
    }
    let Some(fields) = properties(schema).or_else(|| properties(entries?)) else {
        return String::new();
    };
    let has_names = properties(schema).is_none();
    let title = match has_names {
        true => code(&format!("{name}.NAME")),
        false => code(name),
    };
    let mut text = heading(2, &title) + &field_table(name, fields, &required(schema));
    text += &match has_names {
        true => yaml::block(&[name, "example"], fields, &[]),
        false => yaml::block(&[name], fields, &[]),
    };
    text
}

/// One section for each form of each kind of source.
fn sources(variants: &[Value]) -> String {
    let mut text = heading(2, &code(SOURCES)) + SOURCES_OPENING;
    let rows: Vec<[String; 2]> = variants
        .iter()
        .map(|variant| [link(&source_title(variant)), description(variant)])
        .collect();
    text += &table(["kind", "meaning"], &rows);
    for variant in variants {
        let Some(fields) = properties(variant) else {
            continue;
        };
        text += &heading(3, &source_title(variant));
        text += &format!("{}\n\n", description(variant));
        text += &field_table("", fields, &required(variant));
        for (field, schema) in fields.iter().filter(|(field, _)| *field != SHARED_SECTION) {
            if let Some(fields) = properties(schema) {
                text += &format!("\nThe fields of {}:\n\n", code(field));
                text += &field_table("", fields, &required(schema));
            }
        }
        text += &yaml::block(&[SOURCES, "example"], fields, &[SHARED_SECTION]);
    }
    text
}

fn source_title(variant: &Value) -> String {
    let title = variant.get("title").and_then(Value::as_str);
    title.unwrap_or_default().to_owned()
}

/// A link to a heading, in the way GitHub makes anchors.
fn link(title: &str) -> String {
    let anchor: String = title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect();
    format!("[{title}](#{anchor})")
}

fn properties(schema: &Value) -> Option<&Fields> {
    schema.get("properties")?.as_object()
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn field_table(section: &str, fields: &Fields, required: &[&str]) -> String {
    let row = |(field, schema): (&String, &Value)| {
        let full = match section {
            "" => field.clone(),
            section => format!("{section}.{field}"),
        };
        let setting = OVERRIDES
            .iter()
            .find(|setting| setting.field() == Some(full.as_str()));
        let default = match required.contains(&field.as_str()) {
            true => "required".to_owned(),
            false => default(schema),
        };
        [
            code(field),
            type_name(schema),
            default,
            setting
                .map(|setting| code(setting.flag))
                .unwrap_or_default(),
            setting
                .map(|setting| code(setting.variable))
                .unwrap_or_default(),
            description(schema),
        ]
    };
    let rows: Vec<_> = fields.iter().map(row).collect();
    table(
        ["field", "type", "default", "flag", "variable", "meaning"],
        &rows,
    )
}

/// The default of a field; empty if its description explains it.
fn default(schema: &Value) -> String {
    let text = match schema.get("default") {
        Some(empty @ (Value::Array(_) | Value::Object(_))) => Some(empty.to_string()),
        _ => display_default(schema),
    };
    text.map(|text| code(&text)).unwrap_or_default()
}

/// The name of a type for people.
fn type_name(schema: &Value) -> String {
    if let Some(value) = schema.get("const").and_then(Value::as_str) {
        return code(value);
    }
    if let Some(title) = schema.get("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().filter_map(Value::as_str).map(code).collect();
        return values.join(", ");
    }
    match json_type(schema) {
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            let items = schema.get("items").map(type_name);
            format!("list of {}", items.unwrap_or_default())
        }
        Some("object") => match schema.get("additionalProperties") {
            Some(values) if values.get("oneOf").is_some() => "mapping of ids to sources".to_owned(),
            Some(values @ Value::Object(_)) => format!("mapping of names to {}", type_name(values)),
            _ => "section".to_owned(),
        },
        other => other.unwrap_or("any").to_owned(),
    }
}

/// The type, without the `null` that every optional field also accepts.
fn json_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        _ => None,
    }
}

fn variables() -> String {
    let rows: Vec<[String; 3]> = OVERRIDES
        .iter()
        .flat_map(|setting| setting.variables().map(move |variable| (setting, variable)))
        .map(|(setting, variable)| {
            let sets = match setting.target {
                Target::File => "the configuration file".to_owned(),
                Target::Field(field) => code(field),
                Target::IndexField(field) => format!("{} of the capability index", code(field)),
            };
            [code(variable), code(setting.flag), sets]
        })
        .collect();
    heading(2, "Variables and flags") + &table(["variable", "flag", "sets"], &rows)
}
