//! Definitions under the names that clients see.

use super::UI_SCHEME;
use crate::json::map_member;
use crate::{CatalogEntry, List, Object, RawJson, SourceId};

/// Where a tool names its page: `_meta.ui.resourceUri`, `_meta["ui/resourceUri"]` in earlier drafts, and
/// `_meta["openai/outputTemplate"]` for one host.
const PAGE_URI: &str = "resourceUri";
const OTHER_PAGE_URIS: [&str; 2] = ["ui/resourceUri", "openai/outputTemplate"];

/// The member of `_meta` that names the source of an entry, where several sources are listed together.
const SOURCE: &str = "dev.tidegate/source";

/// The definition under this name. Its `_meta` names `source`, whatever the source itself wrote there.
pub(super) fn definition_as(
    list: List,
    entry: &CatalogEntry,
    name: &str,
    source: Option<&SourceId>,
) -> RawJson {
    let is_renamed = name != entry.key;
    let mut definition = match entry.definition.object() {
        Some(definition) if is_renamed || source.is_some() => definition,
        _ => return entry.definition.clone(),
    };
    if is_renamed {
        definition.set(list.key_member(), json_string(name));
    }
    if let Some(source) = source {
        let meta = definition.get("_meta");
        let meta = meta.and_then(|meta| Object::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        meta.set(SOURCE, json_string(source.as_str()));
        let meta = meta.write().as_str().to_owned();
        definition.set("_meta", meta);
    }
    definition.write()
}

/// The definition of a tool with its pages mapped; `None` if nothing changes.
pub(super) fn with_client_pages(
    definition: &RawJson,
    map: impl Fn(&str) -> Option<String>,
) -> Option<RawJson> {
    if !definition.as_str().contains(UI_SCHEME) {
        return None;
    }
    let definition = map_member(definition.as_str(), "_meta", |meta| {
        with_mapped_pages(meta, map)
    });
    definition.map(|text| RawJson::copy_of(&text))
}

/// `_meta` with its pages mapped; `None` if nothing changes.
pub(crate) fn with_mapped_pages(
    meta: &str,
    map: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let map_page = |uri: String| {
        let mapped = uri.starts_with(UI_SCHEME).then(|| map(&uri))?;
        mapped.map(|uri| json_string(&uri))
    };
    let mut meta = Object::parse(meta).ok()?;
    let mut is_changed = false;
    let ui = meta.get("ui").and_then(|ui| {
        let mut ui = Object::parse(ui).ok()?;
        ui.set(PAGE_URI, map_page(ui.string(PAGE_URI)?)?);
        Some(ui.write().as_str().to_owned())
    });
    if let Some(ui) = ui {
        meta.set("ui", ui);
        is_changed = true;
    }
    for member in OTHER_PAGE_URIS {
        if let Some(mapped) = meta.string(member).and_then(map_page) {
            meta.set(member, mapped);
            is_changed = true;
        }
    }
    is_changed.then(|| meta.write().as_str().to_owned())
}

/// The pages that an object names in its `_meta`.
pub(crate) fn page_uris(object: &RawJson) -> Vec<String> {
    // Most tools have no page, so they are not parsed.
    if !object.as_str().contains(UI_SCHEME) {
        return Vec::new();
    }
    let members = object.object();
    let meta = members.as_ref().and_then(|members| members.get("_meta"));
    let Some(meta) = meta.and_then(|meta| Object::parse(meta).ok()) else {
        return Vec::new();
    };
    let ui = meta.get("ui").and_then(|ui| Object::parse(ui).ok());
    let page = ui.and_then(|ui| ui.string(PAGE_URI));
    let others = OTHER_PAGE_URIS
        .iter()
        .filter_map(|member| meta.string(member));
    let uris = page.into_iter().chain(others);
    uris.filter(|uri| uri.starts_with(UI_SCHEME)).collect()
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

    /// S1.11, X8.
    #[test]
    fn a_definition_names_its_source_next_to_what_the_source_wrote() {
        let with_source = |definition: &str, name: &str| {
            let entry = CatalogEntry {
                key: "t".to_owned(),
                definition: RawJson::copy_of(definition),
            };
            let source = "maps".parse().unwrap();
            let definition = definition_as(List::Tools, &entry, name, Some(&source));
            definition.as_str().to_owned()
        };
        assert_eq!(
            with_source(r#"{"name":"t","x":1.50}"#, "t"),
            r#"{"name":"t","x":1.50,"_meta":{"dev.tidegate/source":"maps"}}"#
        );
        assert_eq!(
            with_source(r#"{"_meta":{"a":[ 1 ]},"name":"t"}"#, "maps__t"),
            r#"{"_meta":{"a":[ 1 ],"dev.tidegate/source":"maps"},"name":"maps__t"}"#
        );
        assert_eq!(
            with_source(
                r#"{"name":"t","_meta":{"dev.tidegate/source":"other"}}"#,
                "t"
            ),
            r#"{"name":"t","_meta":{"dev.tidegate/source":"maps"}}"#
        );
    }

    #[test]
    fn every_page_that_a_tool_names_is_mapped() {
        let mapped = |meta| with_mapped_pages(meta, |uri| Some(uri.replace("ui://", "ui://maps/")));
        assert_eq!(
            mapped(r#"{"ui":{"resourceUri":"ui://view/a","x":1.50}}"#).as_deref(),
            Some(r#"{"ui":{"resourceUri":"ui://maps/view/a","x":1.50}}"#)
        );
        assert_eq!(
            mapped(r#"{"ui/resourceUri":"ui://a","openai/outputTemplate":"ui://b"}"#).as_deref(),
            Some(r#"{"ui/resourceUri":"ui://maps/a","openai/outputTemplate":"ui://maps/b"}"#)
        );
        assert_eq!(mapped(r#"{"ui":{"resourceUri":"https://a"}}"#), None);
        assert_eq!(mapped(r#"{"x":"ui://a"}"#), None);
    }
}
