//! What an endpoint shows of its tools: all, or some with the means to find the rest.

use std::collections::HashMap;

use super::view::{Listed, Part};
use crate::{Scope, SourceId};

/// How each endpoint presents itself.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    /// `/mcp`.
    pub all: Endpoint,
    /// `/mcp/{source}`, where it is not as by default.
    pub sources: HashMap<SourceId, Endpoint>,
}

/// How one endpoint presents itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether it has tools for what a client cannot do by itself: search, read, get, call.
    pub bridge_tools: bool,
    pub exposure: Exposure,
}

/// Which tools are in the list itself. The others can be called all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// All.
    #[default]
    Direct,
    /// The gateway's own, and these.
    Search { pinned: Vec<String> },
    /// The gateway's own, these, and whole sources in their order while they have no more tools
    /// than this together.
    Hybrid { pinned: Vec<String>, most: usize },
}

impl Endpoints {
    pub(super) fn of(&self, scope: &Scope) -> &Endpoint {
        const PLAIN: &Endpoint = &Endpoint {
            bridge_tools: false,
            exposure: Exposure::Direct,
        };
        match scope {
            Scope::All => &self.all,
            Scope::Source(id) => self.sources.get(id).unwrap_or(PLAIN),
        }
    }
}

impl Exposure {
    /// The places of the tools that are shown.
    pub(super) fn shown(&self, all: &[Listed], parts: &[Part]) -> Vec<u32> {
        let (pinned, most) = match self {
            Self::Direct => return (0..u32::try_from(all.len()).unwrap_or(u32::MAX)).collect(),
            Self::Search { pinned } => (pinned, 0),
            Self::Hybrid { pinned, most } => (pinned, *most),
        };
        let whole = whole_sources(all, parts.len(), most);
        let is_shown = |listed: &Listed| {
            let part = listed.part as usize;
            let own = parts
                .get(part)
                .is_some_and(|one| one.id == SourceId::gateway());
            own || whole.contains(&part) || pinned.iter().any(|pin| fits(pin, &listed.name))
        };
        let numbered = (0..).zip(all);
        let shown = numbered.filter(|(_, listed)| is_shown(listed));
        shown.map(|(at, _)| at).collect()
    }
}

/// The parts that are shown whole while their tools fit.
fn whole_sources(all: &[Listed], parts: usize, most: usize) -> Vec<usize> {
    let mut counts = vec![0; parts];
    for listed in all {
        if let Some(count) = counts.get_mut(listed.part as usize) {
            *count += 1;
        }
    }
    let mut left = most;
    let numbered = counts.into_iter().enumerate();
    let fitting = numbered.filter(|(_, count)| {
        let fits = *count <= left;
        left -= if fits { *count } else { 0 };
        fits
    });
    fitting.map(|(part, _)| part).collect()
}

/// Whether a name is the one that is pinned; `*` at the end stands for anything.
fn fits(pin: &str, name: &str) -> bool {
    match pin.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pin == name,
    }
}
