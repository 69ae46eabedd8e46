//! The extensions of the protocol that the gateway merges, by their names in `capabilities.extensions`.

use crate::{Object, RawJson, bounded_list};

/// Pages that hosts show for tools.
pub const APPS: &str = "io.modelcontextprotocol/ui";

/// Skills: folders of instructions and files for agents.
pub const SKILLS: &str = "io.modelcontextprotocol/skills";

/// Whether capabilities declare an extension.
pub fn declares_extension(capabilities: &RawJson, extension: &str) -> bool {
    // Most clients declare no extension, so their capabilities are not parsed.
    if !capabilities.as_str().contains(extension) {
        return false;
    }
    let extensions = capabilities.object().and_then(|members| {
        let extensions = Object::parse(members.get("extensions")?).ok()?;
        Some(extensions.get(extension).is_some())
    });
    extensions.unwrap_or_default()
}

/// Kinds of callers that a tool can be visible to.
const MAX_VISIBILITIES: usize = 16;

/// Whether a tool is visible to apps only, and not to models.
pub fn is_app_only(definition: &RawJson) -> bool {
    // Most tools say nothing about it, so they are not parsed.
    if !definition.as_str().contains("\"visibility\"") {
        return false;
    }
    let visibility = definition.object().and_then(|tool| {
        let meta = Object::parse(tool.get("_meta")?).ok()?;
        let ui = Object::parse(meta.get("ui")?).ok()?;
        bounded_list::<String>(ui.get("visibility")?, MAX_VISIBILITIES).ok()
    });
    visibility.is_some_and(|callers| {
        let includes = |caller: &str| callers.iter().any(|known| known == caller);
        includes("app") && !includes("model")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_hidden_from_models_only_if_it_says_so() {
        let is_hidden = |meta| is_app_only(&json!({ "name": "t", "_meta": meta }).into());
        assert!(is_hidden(json!({ "ui": { "visibility": ["app"] } })));
        for shown in [
            json!({ "ui": { "visibility": ["model", "app"] } }),
            json!({ "ui": { "visibility": [] } }),
            json!({ "ui": { "visibility": "app" } }),
            json!({ "visibility": ["app"] }),
        ] {
            assert!(!is_hidden(shown));
        }
    }
}
