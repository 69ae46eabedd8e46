//! The capability index in the file, and what a flag or a variable says of it.
//!
//! Knows how it is written; makes none.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_sources::index::Exposed;

use super::forms::Time;
use super::problem::Findings;
use super::read::read;
use super::tree::Node;

pub(super) const CACHE_TTL: Time = Time::secs(5 * 60);

/// A capability index as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawIndex {
    /// Of `capability-index`: whether it is there at all. The flag `--resources-enabled` and the
    /// variable `TIDEGATE_RESOURCES_ENABLED` say it too.
    #[schemars(extend("default" = false))]
    pub(super) enabled: Option<bool>,
    /// Of `capability-index`: what is offered of it: `summary`, `full`, `stats`, `elements`, or their
    /// URIs. If nothing is named, all.
    #[schemars(extend("default" = []))]
    pub(super) expose: Option<Vec<String>>,
    /// Of `capability-index`: how long a text of it may be given again. The flag
    /// `--resources-cache-ttl` and the variable `TIDEGATE_RESOURCES_CACHE_TTL` say it too.
    #[schemars(extend("default" = CACHE_TTL))]
    pub(super) cache_ttl: Option<Time>,
}

/// A capability index to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    pub enabled: bool,
    pub expose: Vec<Exposed>,
    pub cache_ttl: Duration,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            expose: Vec::new(),
            cache_ttl: CACHE_TTL.into(),
        }
    }
}

const EXPOSED: [(&str, Exposed); 4] = [
    ("summary", Exposed::Summary),
    ("full", Exposed::Full),
    ("stats", Exposed::Stats),
    ("elements", Exposed::Elements),
];

pub(crate) fn read_index(node: Node, name: &str, findings: &mut Findings) -> Option<IndexSettings> {
    let raw: RawIndex = read(node, name, findings)?;
    let mut expose = Vec::new();
    for word in raw.expose.unwrap_or_default() {
        let short = word.strip_prefix("capability-index://").unwrap_or(&word);
        match EXPOSED.iter().find(|(known, _)| *known == short) {
            Some((_, part)) => expose.push(*part),
            None => {
                let path: Vec<_> = name.split('.').chain(["expose", &word]).collect();
                let known = EXPOSED.map(|(known, _)| known).join(", ");
                findings.value(
                    &path,
                    format!("`{name}.expose`: `{word}` is no part of the index; there are {known}"),
                );
            }
        }
    }
    Some(IndexSettings {
        enabled: raw.enabled.unwrap_or(false),
        expose,
        cache_ttl: raw.cache_ttl.unwrap_or(CACHE_TTL).into(),
    })
}
