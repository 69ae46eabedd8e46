//! Which tools an endpoint lists: all, or some together with a way to find the others.

use std::collections::{HashMap, HashSet};

use crate::extensions::{APPS, declares_extension};
use crate::names::{ListedEntry, SourceCatalog};
use crate::{ClientContext, Scope, SourceId};

/// How each endpoint presents itself.
#[derive(Clone, Debug, Default)]
pub struct EndpointConfigs {
    /// `/mcp`.
    pub all: EndpointConfig,
    /// `/mcp/{source}`, for sources that differ from the default.
    pub sources: HashMap<SourceId, EndpointConfig>,
}

/// How one endpoint presents itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointConfig {
    /// Whether the gateway tools are listed: search, read, get, call.
    pub gateway_tools: bool,
    pub exposure: Exposure,
}

/// Which tools are listed. The others can still be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// All.
    #[default]
    Direct,
    /// The gateway tools and the pinned ones.
    Search { pinned: Vec<String> },
    /// The gateway tools, the pinned ones, and whole sources in their order as long as they have
    /// at most `max_tools` tools in total.
    Hybrid {
        pinned: Vec<String>,
        max_tools: usize,
    },
}

impl EndpointConfigs {
    pub(super) fn of(&self, scope: &Scope) -> &EndpointConfig {
        const DEFAULT: &EndpointConfig = &EndpointConfig {
            gateway_tools: false,
            exposure: Exposure::Direct,
        };
        match scope {
            Scope::All => &self.all,
            Scope::Source(id) => self.sources.get(id).unwrap_or(DEFAULT),
        }
    }
}

impl Exposure {
    /// The positions of the entries that are listed.
    pub(super) fn shown(&self, entries: &[ListedEntry], sources: &[SourceCatalog]) -> Vec<u32> {
        let (pinned, max_tools) = match self {
            Self::Direct => return (0..).take(entries.len()).collect(),
            Self::Search { pinned } => (pinned, 0),
            Self::Hybrid { pinned, max_tools } => (pinned, *max_tools),
        };
        let whole = whole_sources(entries, sources.len(), max_tools);
        let is_shown = |entry: &ListedEntry| {
            sources[entry.source()].id.is_gateway()
                || whole.contains(&entry.source())
                || pinned.iter().any(|pattern| is_pinned(pattern, &entry.name))
        };
        let numbered = (0..).zip(entries);
        let shown = numbered.filter(|(_, entry)| is_shown(entry));
        shown.map(|(position, _)| position).collect()
    }
}

/// Whether a client gets tools that only apps call. A client that supports apps keeps them from its model;
/// others would not. The endpoint of one source lists what the source lists.
pub(super) fn lists_app_tools(scope: &Scope, client: &ClientContext) -> bool {
    matches!(scope, Scope::Source(_)) || declares_extension(&client.capabilities, APPS)
}

/// The sources that are listed as a whole: in their order, each that still fits.
fn whole_sources(entries: &[ListedEntry], sources: usize, max_tools: usize) -> HashSet<usize> {
    let mut counts = vec![0; sources];
    for entry in entries {
        counts[entry.source()] += 1;
    }
    let mut left: usize = max_tools;
    let mut whole = HashSet::new();
    for (source, count) in counts.into_iter().enumerate() {
        if let Some(rest) = left.checked_sub(count) {
            left = rest;
            whole.insert(source);
        }
    }
    whole
}

/// Whether a pattern pins this name. A trailing `*` is a wildcard.
fn is_pinned(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}
