//! Adapts tool definitions to a revision.

use tidegate_core::Object;

use super::super::version::Revision;
use super::edit::edit_items;

/// Removes or wraps members that a legacy revision cannot express.
pub(super) fn downgrade_definitions(revision: Revision, result: &mut Object<'_>) {
    let is_affected =
        |tools: &str| !revision.has_tool_annotations() || tools.contains("\"outputSchema\"");
    edit_items(result, "tools", is_affected, |tool| {
        if !revision.has_tool_annotations() {
            tool.remove("annotations");
        }
        match tool.get("outputSchema").map(as_object_schema) {
            None | Some(OutputSchema::Object) if revision.has_structured_output() => {}
            Some(OutputSchema::Wrapped(schema)) if revision.has_structured_output() => {
                tool.set("outputSchema", schema);
            }
            _ => drop(tool.remove("outputSchema")),
        }
    });
}

/// Removes `execution`: the gateway runs tasks itself, so clients need not know of them.
pub(super) fn remove_execution(result: &mut Object<'_>) {
    let is_affected = |tools: &str| tools.contains("\"execution\"");
    edit_items(result, "tools", is_affected, |tool| {
        drop(tool.remove("execution"));
    });
}

/// An output schema in a revision where every output is an object.
enum OutputSchema {
    Object,
    /// The schema of another value, wrapped in an object like the results themselves.
    Wrapped(String),
    /// Cannot be wrapped: it has no type, or references that would no longer resolve.
    Unknown,
}

fn as_object_schema(schema: &str) -> OutputSchema {
    let schema_type = Object::parse(schema)
        .ok()
        .and_then(|members| members.string("type"));
    let has_references = schema.contains("\"$ref\"") || schema.contains("\"$dynamicRef\"");
    match schema_type.as_deref() {
        Some("object") => OutputSchema::Object,
        Some(_) if !has_references => OutputSchema::Wrapped(format!(
            r#"{{"type":"object","properties":{{"result":{schema}}},"required":["result"]}}"#
        )),
        _ => OutputSchema::Unknown,
    }
}
