//! The headers `Mcp-Param-…`, which repeat arguments of a tool. The annotation `x-mcp-header` in
//! its input schema names them.

use std::collections::BTreeMap;

use tidegate_core::{Object, RawJson, Result};

use super::header_value;
use super::standard_headers::{StandardHeaders, header_mismatch};

/// The keyword in the schema of an argument.
pub(super) const ANNOTATION: &str = "x-mcp-header";

/// Nested schemas are checked down to this depth.
const MAX_DEPTH: usize = 32;

/// Whether the definition of a tool may have annotations.
pub(super) fn may_have_annotations(definition: &RawJson) -> bool {
    definition.as_str().contains(ANNOTATION)
}

/// Checks that the headers of a call match its arguments. `definition` is the definition of the
/// tool.
pub fn check_param_headers(
    headers: &StandardHeaders,
    params: &RawJson,
    definition: &RawJson,
) -> Result<()> {
    if !may_have_annotations(definition) {
        return Ok(());
    }
    let (definition, params) = (definition.object(), params.object());
    let schema = definition.as_ref().and_then(|tool| tool.get("inputSchema"));
    let arguments = params.as_ref().and_then(|params| params.get("arguments"));
    match schema {
        Some(schema) => check_object(&headers.params, schema, arguments, MAX_DEPTH),
        None => Ok(()),
    }
}

/// The headers of a call, without their prefix, and their values.
pub(super) fn headers_of_call(definition: &RawJson, params: &RawJson) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    let (definition, params) = (definition.object(), params.object());
    let schema = definition.as_ref().and_then(|tool| tool.get("inputSchema"));
    let arguments = params.as_ref().and_then(|params| params.get("arguments"));
    if let (Some(schema), Some(arguments)) = (schema, arguments) {
        collect_headers(schema, arguments, MAX_DEPTH, &mut headers);
    }
    headers
}

fn collect_headers(schema: &str, value: &str, depth: usize, headers: &mut Vec<(String, String)>) {
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
            headers.push((header, text));
        }
        if depth > 0 {
            collect_headers(property, value, depth - 1, headers);
        }
    }
}

/// Only arguments that are reached through `properties` have headers.
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
        (Some(header), Some(value)) if matches(header, value) => Ok(()),
        (Some(_), _) => Err(header_mismatch(format!(
            "header `Mcp-Param-{name}` does not match the argument in the body"
        ))),
        (None, Some(_)) => Err(header_mismatch(format!(
            "header `Mcp-Param-{name}` is missing"
        ))),
    }
}

/// The header of a property; `None` if it has no valid annotation.
fn header_of(property: &str) -> Option<String> {
    let property = Object::parse(property).ok()?;
    let name = property.string(ANNOTATION)?;
    let has_header_type = matches!(
        property.string("type")?.as_str(),
        "string" | "integer" | "boolean"
    );
    (has_header_type && is_header_name(&name)).then_some(name)
}

pub(super) fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

fn matches(header: &str, value: &str) -> bool {
    let Some(header) = header_value::decode(header) else {
        return false;
    };
    match serde_json::from_str::<String>(value) {
        Ok(text) => header == text,
        Err(_) => header == value || is_same_integer(&header, value),
    }
}

/// `42` and `42.0` are the same integer.
fn is_same_integer(header: &str, value: &str) -> bool {
    let parse = |text: &str| -> Option<i64> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        fraction
            .bytes()
            .all(|byte| byte == b'0')
            .then(|| whole.parse().ok())?
    };
    parse(header).is_some() && parse(header) == parse(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(headers: &[(&str, &str)], arguments: &serde_json::Value) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()));
        let headers = StandardHeaders::parse(headers).unwrap();
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
    fn headers_must_match_the_arguments() {
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
        assert!(check(&[], &json!({"ratio": 0.5})), "a number has no header");
        assert!(
            check(&[("Mcp-Param-Other", "x")], &json!({})),
            "unknown headers are ignored"
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
