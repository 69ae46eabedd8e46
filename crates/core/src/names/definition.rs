//! Definitions under the names that clients see.

use super::UI_SCHEME;
use crate::{CatalogEntry, List, Object, RawJson, SourceId};

/// Where a tool names its page: `_meta.ui.resourceUri`, and `_meta["ui/resourceUri"]` in earlier
/// drafts.
const PAGE_URI: &str = "resourceUri";
const OLD_PAGE_URI: &str = "ui/resourceUri";

/// The definition under this name. In a merged list the page of a tool is prefixed with its source.
pub(super) fn definition_as(
    list: List,
    entry: &CatalogEntry,
    name: &str,
    page_prefix: Option<&SourceId>,
) -> RawJson {
    let has_page = page_prefix.is_some() && entry.definition.as_str().contains(UI_SCHEME);
    if name == entry.key && !has_page {
        return entry.definition.clone();
    }
    let Some(mut definition) = entry.definition.object() else {
        return entry.definition.clone();
    };
    definition.set(list.key_member(), json_string(name));
    let meta = definition.get("_meta");
    if let Some(meta) = meta.and_then(|meta| with_prefixed_page(meta, page_prefix?)) {
        definition.set("_meta", meta);
    }
    definition.write()
}

/// `_meta` with its page prefixed with the source; `None` if it names no page.
pub(crate) fn with_prefixed_page(meta: &str, source: &SourceId) -> Option<String> {
    let mut meta = Object::parse(meta).ok()?;
    let ui = meta.get("ui").and_then(|ui| Object::parse(ui).ok());
    let ui = ui.and_then(|mut ui| {
        ui.set(PAGE_URI, prefixed_page(&ui, PAGE_URI, source)?);
        Some(ui.write().as_str().to_owned())
    });
    let old_page = prefixed_page(&meta, OLD_PAGE_URI, source);
    if ui.is_none() && old_page.is_none() {
        return None;
    }
    if let Some(ui) = ui {
        meta.set("ui", ui);
    }
    if let Some(page) = old_page {
        meta.set(OLD_PAGE_URI, page);
    }
    Some(meta.write().as_str().to_owned())
}

/// The page in a member as JSON, prefixed with the source.
fn prefixed_page(object: &Object<'_>, member: &str, source: &SourceId) -> Option<String> {
    let page = object.string(member)?;
    let page = page.strip_prefix(UI_SCHEME)?;
    Some(json_string(&format!("{UI_SCHEME}{source}/{page}")))
}

fn json_string(text: &str) -> String {
    RawJson::string(text).as_str().to_owned()
}

/// Whether a tool declares that it is idempotent.
pub(super) fn is_idempotent(definition: &RawJson) -> bool {
    // Most tools have no such hint, so they are not parsed.
    if !definition.as_str().contains("Hint\"") {
        return false;
    }
    let definition = definition.object();
    let annotations = definition.as_ref().and_then(|tool| tool.get("annotations"));
    let annotations = annotations.and_then(|text| Object::parse(text).ok());
    annotations.is_some_and(|hints| {
        let is_set = |hint| hints.get(hint) == Some("true");
        is_set("readOnlyHint") || is_set("idempotentHint")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_tool_is_prefixed_with_its_source() {
        let source = "maps".parse().unwrap();
        let prefixed = |meta| with_prefixed_page(meta, &source);
        assert_eq!(
            prefixed(r#"{"ui":{"resourceUri":"ui://view/a","x":1.50}}"#).as_deref(),
            Some(r#"{"ui":{"resourceUri":"ui://maps/view/a","x":1.50}}"#)
        );
        assert_eq!(
            prefixed(r#"{"ui/resourceUri":"ui://a"}"#).as_deref(),
            Some(r#"{"ui/resourceUri":"ui://maps/a"}"#)
        );
        assert_eq!(prefixed(r#"{"ui":{"resourceUri":"https://a"}}"#), None);
        assert_eq!(prefixed(r#"{"x":"ui://a"}"#), None);
    }
}
