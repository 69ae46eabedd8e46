//! Which tools an endpoint lists: all, or some together with a way to find the others.

use std::collections::{HashMap, HashSet};

use crate::names::{ListedEntry, SourceCatalog};
use crate::{Scope, SourceId};

/// How each endpoint presents itself.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    /// `/mcp`.
    pub all: Endpoint,
    /// `/mcp/{source}`, for sources that differ from the default.
    pub sources: HashMap<SourceId, Endpoint>,
}

/// How one endpoint presents itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether the gateway tools are listed: search, read, get, call.
    pub bridge_tools: bool,
    pub exposure: Exposure,
}

/// Which tools are listed. The others can still be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// All.
    #[default]
    Direct,
    /// The gateway's own and the pinned ones.
    Search { pinned: Vec<String> },
    /// The gateway's own, the pinned ones, and whole sources in their order as long as they have
    /// at most `most` tools in total.
    Hybrid { pinned: Vec<String>, most: usize },
}

impl Endpoints {
    pub(super) fn of(&self, scope: &Scope) -> &Endpoint {
        const DEFAULT: &Endpoint = &Endpoint {
            bridge_tools: false,
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
            Self::Hybrid { pinned, most } => (pinned, *most),
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
