//! Headers that repeat arguments of a tool: `x-mcp-header` in its input schema names them, and they
//! must say what the body says.

use std::collections::BTreeMap;

use tidegate_core::{Object, RawJson, Result};

use super::headers::mismatch;
use super::{StandardHeaders, sentinel};

/// What marks an argument in a schema.
pub(super) const MARK: &str = "x-mcp-header";

/// Deeper than any schema that is meant to be read.
const DEEPEST: usize = 32;

/// Whether the definition of a tool may name any.
pub(super) fn are_in(definition: &RawJson) -> bool {
    definition.as_str().contains(MARK)
}

/// Checks the headers of a call against its arguments, by the definition of its tool.
pub fn check_param_headers(
    headers: &StandardHeaders,
    params: &RawJson,
    definition: &RawJson,
) -> Result<()> {
    if !are_in(definition) {
        return Ok(());
    }
    let (definition, params) = (definition.object(), params.object());
    let schema = definition.as_ref().and_then(|tool| tool.get("inputSchema"));
    let arguments = params.as_ref().and_then(|params| params.get("arguments"));
    match schema {
        Some(schema) => check_object(&headers.params, schema, arguments, DEEPEST),
        None => Ok(()),
    }
}

/// The headers that a call must carry, each with its value.
pub(super) fn repeated(definition: &RawJson, params: &RawJson) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (definition, params) = (definition.object(), params.object());
    let schema = definition.as_ref().and_then(|tool| tool.get("inputSchema"));
    let arguments = params.as_ref().and_then(|params| params.get("arguments"));
    if let (Some(schema), Some(arguments)) = (schema, arguments) {
        collect(schema, arguments, DEEPEST, &mut found);
    }
    found
}

fn collect(schema: &str, value: &str, depth: usize, found: &mut Vec<(String, String)>) {
    let schema = Object::parse(schema).ok();
    let properties = schema.as_ref().and_then(|schema| schema.get("properties"));
    let (Some(properties), Ok(value)) = (
        properties.and_then(|text| Object::parse(text).ok()),
        Object::parse(value),
    ) else {
        return;
    };
    for (name, property) in properties.iter() {
        let Some(value) = value.get(name).filter(|value| *value != "null") else {
            continue;
        };
        if let Some(header) = header_of(property) {
            let text = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
            found.push((header, text));
        }
        if depth > 0 {
            collect(property, value, depth - 1, found);
        }
    }
}

/// Only what is reached through `properties` can be named by a header.
fn check_object(
    headers: &BTreeMap<String, String>,
    schema: &str,
    value: Option<&str>,
    depth: usize,
) -> Result<()> {
    let schema = Object::parse(schema).ok();
    let properties = schema.as_ref().and_then(|schema| schema.get("properties"));
    let Some(properties) = properties.and_then(|text| Object::parse(text).ok()) else {
        return Ok(());
    };
    let value = value.and_then(|value| Object::parse(value).ok());
    for (name, property) in properties.iter() {
        let value = value
            .as_ref()
            .and_then(|value| value.get(name))
            .filter(|value| *value != "null");
        check_property(headers, property, value)?;
        if depth > 0 {
            check_object(headers, property, value, depth - 1)?;
        }
    }
    Ok(())
}

fn check_property(
    headers: &BTreeMap<String, String>,
    property: &str,
    value: Option<&str>,
) -> Result<()> {
    let Some(name) = header_of(property) else {
        return Ok(());
    };
    match (headers.get(&name.to_ascii_lowercase()), value) {
        (None, None) => Ok(()),
        (Some(header), Some(value)) if says(header, value) => Ok(()),
        (Some(_), _) => Err(mismatch(format!(
            "`Mcp-Param-{name}` is not what the body says"
        ))),
        (None, Some(_)) => Err(mismatch(format!(
            "the header `Mcp-Param-{name}` is missing"
        ))),
    }
}

/// The header that repeats a property; an annotation that is not valid names none.
fn header_of(property: &str) -> Option<String> {
    let property = Object::parse(property).ok()?;
    let name = property.string(MARK)?;
    let repeatable = matches!(
        property.string("type")?.as_str(),
        "string" | "integer" | "boolean"
    );
    (repeatable && is_header_name(&name)).then_some(name)
}

pub(super) fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

fn says(header: &str, value: &str) -> bool {
    let Some(header) = sentinel::decode(header) else {
        return false;
    };
    match serde_json::from_str::<String>(value) {
        Ok(text) => header == text,
        Err(_) => header == value || is_same_integer(&header, value),
    }
}

/// `42` and `42.0` are one integer.
fn is_same_integer(header: &str, value: &str) -> bool {
    let read = |text: &str| -> Option<i64> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        fraction
            .bytes()
            .all(|byte| byte == b'0')
            .then(|| whole.parse().ok())?
    };
    read(header).is_some() && read(header) == read(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(headers: &[(&str, &str)], arguments: &serde_json::Value) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()));
        let headers = StandardHeaders::read(headers).unwrap();
        let definition = json!({"name": "t", "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "ratio": {"type": "number", "x-mcp-header": "Ratio"},
            "where": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
        }}});
        let params = RawJson::from(json!({"name": "t", "arguments": arguments}));
        check_param_headers(&headers, &params, &definition.into()).is_ok()
    }

    #[test]
    fn a_header_says_what_the_body_says_or_the_call_is_refused() {
        assert!(check(&[], &json!({})));
        assert!(check(&[], &json!({"region": null})));
        assert!(check(
            &[("Mcp-Param-Region", "eu")],
            &json!({"region": "eu"})
        ));
        assert!(check(
            &[("mcp-param-region", "=?base64?w6k=?=")],
            &json!({"region": "é"})
        ));
        assert!(check(&[("Mcp-Param-Region", "")], &json!({"region": ""})));
        assert!(check(&[("Mcp-Param-Count", "42")], &json!({"count": 42.0})));
        assert!(check(&[("Mcp-Param-Dry", "true")], &json!({"dry": true})));
        assert!(check(
            &[("Mcp-Param-Zone", "b")],
            &json!({"where": {"zone": "b"}})
        ));
        assert!(
            check(&[], &json!({"ratio": 0.5})),
            "a number cannot be repeated"
        );
        assert!(
            check(&[("Mcp-Param-Other", "x")], &json!({})),
            "a header nobody names is let be"
        );
        assert!(!check(&[], &json!({"region": "eu"})));
        assert!(!check(
            &[("Mcp-Param-Region", "us")],
            &json!({"region": "eu"})
        ));
        assert!(!check(
            &[("Mcp-Param-Region", "EU")],
            &json!({"region": "eu"})
        ));
        assert!(!check(&[("Mcp-Param-Region", "eu")], &json!({})));
        assert!(!check(
            &[("Mcp-Param-Region", "=?base64?w6k?=")],
            &json!({"region": "é"})
        ));
        assert!(!check(&[("Mcp-Param-Dry", "True")], &json!({"dry": true})));
        assert!(!check(&[], &json!({"where": {"zone": "b"}})));
    }
}
