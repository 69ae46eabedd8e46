//! What an endpoint shows: the gateway tools, and which tools of the sources.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_core::{EndpointConfig, Exposure};

use super::diagnostics::Diagnostics;

const MAX_LISTED_TOOLS: usize = 40;

/// The tools of one endpoint, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct EndpointSection {
    /// Whether the gateway tools are listed, for clients that support only tools:
    /// `gateway__search`, `gateway__list_resources`, `gateway__read_resource`,
    /// `gateway__get_prompt` and `gateway__call_tool`. By default they are listed at `/mcp` and not
    /// at `/mcp/{source}`.
    #[schemars(extend("examples" = [true]))]
    pub(crate) gateway_tools: Option<bool>,

    /// Which tools are listed. `direct`: all. `search`: the gateway tools and those in
    /// `pinned`. `hybrid`: these, and the tools of whole sources in their order up to
    /// `max_listed_tools`. Tools that are not listed can be found with `gateway__search` and called
    /// by name.
    #[schemars(extend("default" = "direct", "examples" = ["hybrid"]))]
    pub(crate) exposure: Option<ExposureSetting>,

    /// Tools that are always listed, by their listed names. A `*` at the end matches any ending.
    #[schemars(extend("default" = [], "examples" = [["github__*"]]))]
    pub(crate) pinned: Option<Vec<String>>,

    /// Maximum number of tools that `hybrid` lists in addition to the pinned ones.
    #[schemars(extend("default" = MAX_LISTED_TOOLS))]
    pub(crate) max_listed_tools: Option<usize>,
}

// No doc comments: they would replace the reference text of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExposureSetting {
    #[default]
    Direct,
    Search,
    Hybrid,
}

/// Checks the section at this path. `gateway_tools` is the default of that field.
pub(crate) fn check(
    section: &EndpointSection,
    gateway_tools: bool,
    path: &[&str],
    diagnostics: &mut Diagnostics,
) -> EndpointConfig {
    let exposure = section.exposure.unwrap_or_default();
    let lists_all = exposure == ExposureSetting::Direct;
    let gateway_tools = section.gateway_tools.unwrap_or(gateway_tools || !lists_all);
    let name = path.join(".");
    if !lists_all && !gateway_tools {
        let message = format!(
            "`{name}.gateway_tools`: off, so clients could not find tools that are not listed; turn \
             it on, or set `{name}.exposure` to `direct`"
        );
        diagnostics.value(&[path, &["gateway_tools"]].concat(), message);
    }
    let pinned = section.pinned.clone().unwrap_or_default();
    if lists_all && !pinned.is_empty() {
        let message = format!(
            "`{name}.pinned`: has no effect while all tools are listed; set `{name}.exposure` to \
             `search` or `hybrid`"
        );
        diagnostics.value(&[path, &["pinned"]].concat(), message);
    }
    let exposure = match exposure {
        ExposureSetting::Direct => Exposure::Direct,
        ExposureSetting::Search => Exposure::Search { pinned },
        ExposureSetting::Hybrid => Exposure::Hybrid {
            pinned,
            max_tools: section.max_listed_tools.unwrap_or(MAX_LISTED_TOOLS),
        },
    };
    EndpointConfig {
        gateway_tools,
        exposure,
    }
}
