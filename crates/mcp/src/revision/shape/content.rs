//! Content blocks for clients whose revision does not have them.

use tidegate_core::{Object, RawJson};

use super::super::Revision;
use super::edit_items;

/// The result of a tool.
pub(super) fn older_result(revision: Revision, result: &mut Object<'_>) {
    match result.get("structuredContent") {
        Some(_) if !revision.has_structured_output() => drop(result.remove("structuredContent")),
        // Before it could be anything, it was an object.
        Some(other) if !other.starts_with('{') => {
            let wrapped = format!(r#"{{"result":{other}}}"#);
            result.set("structuredContent", wrapped);
        }
        _ => {}
    }
    let concerned = |content: &str| is_concerned(revision, content);
    edit_items(result, "content", concerned, |block| {
        older_block(revision, block);
    });
}

/// The messages of a prompt.
pub(super) fn older_messages(revision: Revision, result: &mut Object<'_>) {
    let concerned = |messages: &str| is_concerned(revision, messages);
    edit_items(result, "messages", concerned, |message| {
        let Some(content) = message.get("content").map(str::to_owned) else {
            return;
        };
        if let Ok(mut block) = Object::parse(&content) {
            older_block(revision, &mut block);
            message.set("content", block.write().as_str().to_owned());
        }
    });
}

/// A cheap look before anything is taken apart.
fn is_concerned(revision: Revision, text: &str) -> bool {
    !revision.has_audio() && text.contains("\"audio\"")
        || !revision.has_resource_links() && text.contains("\"resource_link\"")
}

fn older_block(revision: Revision, block: &mut Object<'_>) {
    match block.string("type").as_deref() {
        Some("audio") if !revision.has_audio() => *block = embedded_audio(block),
        Some("resource_link") if !revision.has_resource_links() => *block = named_link(block),
        _ => {}
    }
}

/// Sound as an embedded resource: an older client can still save it.
fn embedded_audio(block: &Object<'_>) -> Object<'static> {
    let mut resource = Object::default();
    resource.set("uri", "\"audio:inline\"");
    resource.set(
        "mimeType",
        block.get("mimeType").unwrap_or("\"audio/*\"").to_owned(),
    );
    resource.set("blob", block.get("data").unwrap_or("\"\"").to_owned());
    let mut embedded = Object::default();
    embedded.set("type", "\"resource\"");
    embedded.set("resource", resource.write().as_str().to_owned());
    embedded
}

/// A link as text: what it leads to can be read by its URI.
fn named_link(block: &Object<'_>) -> Object<'static> {
    let uri = block.string("uri").unwrap_or_default();
    let name = block
        .string("title")
        .or_else(|| block.string("name"))
        .unwrap_or_default();
    let mut text = Object::default();
    text.set("type", "\"text\"");
    text.set(
        "text",
        RawJson::string(&format!("{name}: {uri}"))
            .as_str()
            .to_owned(),
    );
    text
}
