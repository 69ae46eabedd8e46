//! The page on the configuration file, made from its JSON Schema.
//!
//! Knows no field by name but those of the example.

use serde_json::{Map, Value};

use super::table::{code, heading, table};
use crate::config::{OVERRIDES, Sets, default_of, schema};

const OPENING: &str = include_str!("config_opening.md");

/// The page.
pub(super) fn page() -> String {
    let schema = schema();
    let mut sections = Vec::new();
    collect("", properties(schema.as_value()), &mut sections);
    let mut text = OPENING.to_owned();
    for (name, section) in sections {
        text += &render(&name, section);
    }
    text + &variables()
}

/// A section and those inside it, the outer ones first.
fn collect<'a>(
    name: &str,
    fields: Option<&'a Map<String, Value>>,
    sections: &mut Vec<(String, &'a Map<String, Value>)>,
) {
    let Some(fields) = fields else { return };
    sections.push((name.to_owned(), fields));
    for field in sorted(fields) {
        let (full, schema) = (full_name(name, field), &fields[field]);
        collect(&full, properties(schema), sections);
        let values = schema.get("additionalProperties");
        collect(
            &format!("{full}.NAME"),
            values.and_then(properties),
            sections,
        );
    }
}

/// The names in a fixed order, for that of the map depends on what else is built.
fn sorted(fields: &Map<String, Value>) -> Vec<&str> {
    let mut names: Vec<&str> = fields.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn full_name(section: &str, field: &str) -> String {
    if section.is_empty() {
        field.to_owned()
    } else {
        format!("{section}.{field}")
    }
}

fn render(name: &str, fields: &Map<String, Value>) -> String {
    let title = if name.is_empty() {
        "The fields".to_owned()
    } else {
        code(name)
    };
    let rows: Vec<_> = sorted(fields)
        .iter()
        .map(|field| row(name, field, &fields[*field]))
        .collect();
    heading(2, &title)
        + &table(
            ["field", "type", "default", "flag", "variable", "meaning"],
            &rows,
        )
}

fn row(section: &str, field: &str, schema: &Value) -> [String; 6] {
    let full = full_name(section, field);
    let setting = OVERRIDES
        .iter()
        .find(|setting| setting.field() == Some(full.as_str()));
    [
        code(field),
        type_of(schema),
        default_of(&full)
            .map(|text| code(&text))
            .unwrap_or_default(),
        setting
            .map(|setting| code(setting.flag))
            .unwrap_or_default(),
        setting
            .map(|setting| code(setting.variable))
            .unwrap_or_default(),
        schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
    ]
}

/// The type in words.
fn type_of(schema: &Value) -> String {
    if let Some(title) = schema.get("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(code).collect();
        return words.join(", ");
    }
    match main_type(schema) {
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            format!(
                "list of {}",
                schema.get("items").map(type_of).unwrap_or_default()
            )
        }
        Some("object") => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("mapping of names to {}", type_of(values)),
            _ => "section".to_owned(),
        },
        other => other.unwrap_or("anything").to_owned(),
    }
}

/// The type besides "nothing", which every field that may be left out also takes.
fn main_type(schema: &Value) -> Option<&str> {
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
        .map(|setting| {
            let sets = match setting.sets {
                Sets::File => "the file itself".to_owned(),
                Sets::Field(field) => code(field),
                Sets::OfIndex(field) => format!("{} of the capability index", code(field)),
            };
            [code(setting.variable), code(setting.flag), sets]
        })
        .collect();
    heading(2, "Variables and flags") + &table(["variable", "flag", "sets"], &rows)
}
