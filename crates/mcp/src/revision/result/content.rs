//! Replaces content blocks that a revision does not have.

use tidegate_core::{Object, RawJson};

use super::super::version::Revision;
use super::edit::edit_items;

pub(super) fn downgrade_tool_result(revision: Revision, result: &mut Object<'_>) {
    match result.get("structuredContent") {
        Some(_) if !revision.has_structured_output() => drop(result.remove("structuredContent")),
        // Before 2026-07-28 structured content was always an object.
        Some(other) if !other.starts_with('{') => {
            let wrapped = format!(r#"{{"result":{other}}}"#);
            result.set("structuredContent", wrapped);
        }
        _ => {}
    }
    let is_affected = |content: &str| may_need_downgrade(revision, content);
    edit_items(result, "content", is_affected, |block| {
        downgrade_block(revision, block);
    });
}

pub(super) fn downgrade_prompt(revision: Revision, result: &mut Object<'_>) {
    let is_affected = |messages: &str| may_need_downgrade(revision, messages);
    edit_items(result, "messages", is_affected, |message| {
        let Some(content) = message.get("content").map(str::to_owned) else {
            return;
        };
        if let Ok(mut block) = Object::parse(&content) {
            downgrade_block(revision, &mut block);
            message.set("content", block.write().as_str().to_owned());
        }
    });
}

/// A cheap check before anything is parsed.
fn may_need_downgrade(revision: Revision, text: &str) -> bool {
    !revision.has_audio() && text.contains("\"audio\"")
        || !revision.has_resource_links() && text.contains("\"resource_link\"")
}

fn downgrade_block(revision: Revision, block: &mut Object<'_>) {
    match block.string("type").as_deref() {
        Some("audio") if !revision.has_audio() => *block = audio_as_resource(block),
        Some("resource_link") if !revision.has_resource_links() => *block = link_as_text(block),
        _ => {}
    }
}

/// Audio as an embedded resource, which an older client can still save.
fn audio_as_resource(block: &Object<'_>) -> Object<'static> {
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

/// A resource link as text; the client can read the resource by its URI.
fn link_as_text(block: &Object<'_>) -> Object<'static> {
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
