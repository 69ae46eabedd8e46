//! The configuration of the `capability-index` source.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{Checker, HumanDuration, Section};

use super::CapabilityIndex;
use crate::kind::{BuildContext, BuiltSource, SourceConfig, SourceSection};

const CACHE_TTL: HumanDuration = HumanDuration::minutes(5);

/// An index of everything the gateway offers, as resources: a summary, all entries in pages,
/// statistics, and each element by itself.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct IndexSection {
    /// Whether the index is served. The flag `--resources-enabled` and the variable
    /// `TIDEGATE_RESOURCES_ENABLED` override it.
    #[schemars(extend("default" = false, "examples" = [true]))]
    enabled: Option<bool>,
    /// The parts that are served: `summary`, `full`, `stats` or `elements`, or their URIs. Without
    /// any, all parts are served.
    #[schemars(
        extend("default" = [], "examples" = [["summary", "stats"]]),
        inner(regex(pattern = PART_PATTERN))
    )]
    expose: Option<Vec<String>>,
    /// Cache lifetime of capability-index pages. The flag `--resources-cache-ttl` and the variable
    /// `TIDEGATE_RESOURCES_CACHE_TTL` override it.
    #[schemars(extend("default" = CACHE_TTL))]
    cache_ttl: Option<HumanDuration>,
}

/// How the index is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexConfig {
    pub enabled: bool,
    /// The parts that are served; all if empty.
    pub expose: Vec<IndexPart>,
    /// Cache lifetime of rendered pages.
    pub cache_ttl: Duration,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            expose: Vec::new(),
            cache_ttl: CACHE_TTL.into(),
        }
    }
}

/// A part of the index that can be served by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPart {
    Summary,
    Full,
    Stats,
    Elements,
}

/// What an entry of `expose` looks like, as a regular expression.
const PART_PATTERN: &str = "^(capability-index://)?(summary|full|stats|elements)$";

const PARTS: [(&str, IndexPart); 4] = [
    ("summary", IndexPart::Summary),
    ("full", IndexPart::Full),
    ("stats", IndexPart::Stats),
    ("elements", IndexPart::Elements),
];

impl IndexConfig {
    pub(super) fn exposes(&self, part: IndexPart) -> bool {
        self.expose.is_empty() || self.expose.contains(&part)
    }
}

impl Section for IndexSection {
    type Config = IndexConfig;

    fn check(self, checker: &mut Checker<'_>) -> Option<IndexConfig> {
        let default = IndexConfig::default();
        let mut expose = Vec::new();
        for written in self.expose.unwrap_or_default() {
            let name = written
                .strip_prefix("capability-index://")
                .unwrap_or(&written);
            match PARTS.iter().find(|(known, _)| *known == name) {
                Some((_, part)) => expose.push(*part),
                None => {
                    let known = PARTS.map(|(known, _)| known).join(", ");
                    let message = format!("unknown part `{written}`; use one of {known}");
                    checker.item_problem(&["expose"], &written, message);
                }
            }
        }
        Some(IndexConfig {
            enabled: self.enabled.unwrap_or(default.enabled),
            expose,
            cache_ttl: self.cache_ttl.map_or(default.cache_ttl, Into::into),
        })
    }
}

impl SourceSection for IndexSection {
    const KIND: &'static str = "capability-index";
}

impl SourceConfig for IndexConfig {
    fn build(&self, context: &BuildContext<'_>) -> Option<BuiltSource> {
        self.enabled.then(|| {
            let index = CapabilityIndex::new(self, context.gateway.clone());
            BuiltSource::new(index, CapabilityIndex::run)
        })
    }
}
