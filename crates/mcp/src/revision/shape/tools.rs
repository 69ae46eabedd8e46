//! Tool definitions in each revision.

use tidegate_core::Object;

use super::super::Revision;
use super::edit_items;

/// Takes from tool definitions what an older revision cannot express.
pub(super) fn older(revision: Revision, result: &mut Object<'_>) {
    let concerned =
        |tools: &str| !revision.has_tool_annotations() || tools.contains("\"outputSchema\"");
    edit_items(result, "tools", concerned, |tool| {
        if !revision.has_tool_annotations() {
            tool.remove("annotations");
        }
        match tool.get("outputSchema").map(object_schema) {
            None | Some(Schema::Object) if revision.has_structured_output() => {}
            Some(Schema::Wrapped(schema)) if revision.has_structured_output() => {
                tool.set("outputSchema", schema);
            }
            _ => drop(tool.remove("outputSchema")),
        }
    });
}

/// Takes from tool definitions how they must be called: whoever calls them here need not know.
pub(super) fn without_execution(result: &mut Object<'_>) {
    let concerned = |tools: &str| tools.contains("\"execution\"");
    edit_items(result, "tools", concerned, |tool| {
        drop(tool.remove("execution"));
    });
}

/// An output schema for a revision in which every output is an object.
enum Schema {
    Object,
    /// Another value, put into an object as its results are.
    Wrapped(String),
    /// It does not say what it is a schema of, or what it refers to would be elsewhere.
    Unknown,
}

fn object_schema(schema: &str) -> Schema {
    let kind = Object::parse(schema)
        .ok()
        .and_then(|members| members.string("type"));
    let refers = schema.contains("\"$ref\"") || schema.contains("\"$dynamicRef\"");
    match kind.as_deref() {
        Some("object") => Schema::Object,
        Some(_) if !refers => Schema::Wrapped(format!(
            r#"{{"type":"object","properties":{{"result":{schema}}},"required":["result"]}}"#
        )),
        _ => Schema::Unknown,
    }
}
