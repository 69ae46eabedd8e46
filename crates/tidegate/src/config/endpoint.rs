//! What an endpoint shows: the gateway's own tools, and which of the others.
//!
//! Knows how that is written; shows nothing.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_core::{Endpoint, Endpoints, Exposure};

use super::entries::Entries;
use super::problem::Diagnostics;
use super::sources::RawSource;

const MAX_LISTED_TOOLS: usize = 40;

// The doc comments are the reference text of the fields.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawEndpoint {
    /// Whether there are tools for clients that know no resources or prompts: `gateway__search`,
    /// `gateway__list_resources`, `gateway__read_resource`, `gateway__get_prompt` and
    /// `gateway__call_tool`, after all others. By default at `/mcp`, and not at `/mcp/{source}`.
    pub(crate) bridge_tools: Option<bool>,

    /// Which tools are listed. `direct`: all. `search`: the bridge tools and those of `pinned`.
    /// `hybrid`: these, and whole sources in their order while they have no more than `max_listed_tools`
    /// together. The others are found with `gateway__search`, and can be called by their names.
    #[schemars(extend("default" = "direct"))]
    pub(crate) exposure: Option<RawExposure>,

    /// Tools that are always listed, by the names that they are listed under; `*` at the end stands
    /// for anything.
    #[schemars(extend("default" = []))]
    pub(crate) pinned: Option<Vec<String>>,

    /// How many tools `hybrid` lists, beside the pinned ones.
    #[schemars(extend("default" = MAX_LISTED_TOOLS))]
    pub(crate) max_listed_tools: Option<usize>,
}

// No doc comments: they would become the reference text of the field above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawExposure {
    Direct,
    Search,
    Hybrid,
}

pub(crate) fn check(
    all: Option<RawEndpoint>,
    sources: Option<&Entries<RawSource>>,
    diagnostics: &mut Diagnostics,
) -> Endpoints {
    let all = checked(&all.unwrap_or_default(), true, &["endpoint"], diagnostics);
    let mut endpoints = Endpoints {
        all,
        ..Endpoints::default()
    };
    for (id, source) in sources.into_iter().flat_map(|sources| &sources.0) {
        let Some(raw) = &source.endpoint else {
            continue;
        };
        let path = ["sources", id, "endpoint"];
        let endpoint = checked(raw, false, &path, diagnostics);
        // An id that cannot be one has its own problem.
        if let Ok(id) = id.parse() {
            endpoints.sources.insert(id, endpoint);
        }
    }
    endpoints
}

fn checked(
    raw: &RawEndpoint,
    usual: bool,
    path: &[&str],
    diagnostics: &mut Diagnostics,
) -> Endpoint {
    let written = raw.exposure.unwrap_or(RawExposure::Direct);
    let bridge_tools = raw
        .bridge_tools
        .unwrap_or(usual || written != RawExposure::Direct);
    let name = path.join(".");
    let mut refuse = |field: &str, message: String| {
        diagnostics.value(&[path, &[field]].concat(), message);
    };
    if written != RawExposure::Direct && !bridge_tools {
        refuse(
            "bridge_tools",
            format!(
                "`{name}.bridge_tools` is off, so tools that are not listed could not be found; \
                 turn it on, or set `{name}.exposure` to `direct`"
            ),
        );
    }
    if written == RawExposure::Direct && raw.pinned.as_ref().is_some_and(|all| !all.is_empty()) {
        refuse(
            "pinned",
            format!(
                "`{name}.pinned` says nothing while all tools are listed; set \
                 `{name}.exposure` to `search` or `hybrid`"
            ),
        );
    }
    let pinned = raw.pinned.clone().unwrap_or_default();
    let exposure = match written {
        RawExposure::Direct => Exposure::Direct,
        RawExposure::Search => Exposure::Search { pinned },
        RawExposure::Hybrid => Exposure::Hybrid {
            pinned,
            most: raw.max_listed_tools.unwrap_or(MAX_LISTED_TOOLS),
        },
    };
    Endpoint {
        bridge_tools,
        exposure,
    }
}
