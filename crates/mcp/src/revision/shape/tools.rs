//! Tool definitions in each revision.

use std::borrow::Cow;

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
        if !revision.has_structured_output() {
            tool.remove("outputSchema");
        } else if let Some(schema) = tool.remove("outputSchema").and_then(object_schema) {
            tool.set("outputSchema", schema);
        }
    });
}

/// Takes from tool definitions what only an older revision has.
pub(super) fn modern(result: &mut Object<'_>) {
    let concerned = |tools: &str| tools.contains("\"execution\"");
    edit_items(result, "tools", concerned, |tool| {
        drop(tool.remove("execution"));
    });
}

/// A schema of an object: the output of a tool could be nothing else before it could be anything.
/// Another value is put into an object, as its results are; a schema that does not say what it is a
/// schema of is left out.
fn object_schema(schema: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let kind = Object::parse(&schema).ok()?.string("type")?;
    if kind == "object" {
        return Some(schema);
    }
    let properties = format!(r#"{{"result":{schema}}}"#);
    let wrapped = format!(r#"{{"type":"object","properties":{properties},"required":["result"]}}"#);
    Some(wrapped.into())
}
