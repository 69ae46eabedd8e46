//! The capability index in the file, and what a flag or a variable says of it.
//!
//! Knows how it is written; makes none.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_sources::index::{Exposed, IndexConfig};

use super::overrides::{
    NEXS_RESOURCES_CACHE_TTL, NEXS_RESOURCES_ENABLED, Override, RESOURCES_CACHE_TTL,
    RESOURCES_ENABLED,
};
use super::problem::{Diagnostics, Origin};
use super::read::read;
use super::sources::{Source, SourceKind};
use super::tree::Node;
use super::units::Time;
use super::validate::Around;

/// The word for it in the file.
pub(super) const KIND: &str = "capability-index";

/// What says whether it is there, and how long its texts hold: by our name, and by the one of the
/// program that had them first (X20).
const ENABLED: [&Override; 2] = [&RESOURCES_ENABLED, &NEXS_RESOURCES_ENABLED];
const TTL: [&Override; 2] = [&RESOURCES_CACHE_TTL, &NEXS_RESOURCES_CACHE_TTL];

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

/// A capability index, and whether it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    pub enabled: bool,
    pub index: IndexConfig,
}

const EXPOSED: [(&str, Exposed); 4] = [
    ("summary", Exposed::Summary),
    ("full", Exposed::Full),
    ("stats", Exposed::Stats),
    ("elements", Exposed::Elements),
];

pub(crate) fn read_index(
    node: Node,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<IndexSettings> {
    let raw: RawIndex = read(node, name, diagnostics)?;
    let mut expose = Vec::new();
    for word in raw.expose.unwrap_or_default() {
        let short = word.strip_prefix("capability-index://").unwrap_or(&word);
        match EXPOSED.iter().find(|(known, _)| *known == short) {
            Some((_, part)) => expose.push(*part),
            None => {
                let path: Vec<_> = name.split('.').chain(["expose", &word]).collect();
                let known = EXPOSED.map(|(known, _)| known).join(", ");
                diagnostics.value(
                    &path,
                    format!("`{name}.expose`: `{word}` is no part of the index; there are {known}"),
                );
            }
        }
    }
    Some(IndexSettings {
        enabled: raw.enabled.unwrap_or(false),
        index: IndexConfig {
            expose,
            cache_ttl: raw.cache_ttl.unwrap_or(CACHE_TTL).into(),
        },
    })
}

/// The id of an index that no entry of the file names.
const USUAL_ID: &str = "index";

/// What the command line and the environment say of the index, for the one of the file or for one
/// that is there because of them.
pub(crate) fn overrule(
    sources: &mut Vec<Source>,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics,
) {
    let enabled = given(&ENABLED, around.flags.resources_enabled.clone(), around);
    let enabled = enabled.and_then(|(text, origin)| {
        let meant = yes_or_no(&text);
        if meant.is_none() {
            let (yes, no) = (YES.join(", "), NO.join(", "));
            let message = format!("`{text}` is neither yes ({yes}) nor no ({no})");
            diagnostics.push(origin, message);
        }
        meant
    });
    let ttl = given(&TTL, around.flags.resources_cache_ttl.clone(), around);
    let ttl = ttl.and_then(|(text, origin)| match humantime::parse_duration(&text) {
        Ok(time) => Some(time),
        Err(_) => {
            diagnostics.push(origin, format!("`{text}` is no time; write `30s` or `5m`"));
            None
        }
    });
    let is_index = |source: &Source| matches!(source.kind, SourceKind::Index(_));
    if let Some(second) = sources.iter().filter(|source| is_index(source)).nth(1) {
        let message = "there can be one capability index alone: two would own the same URIs";
        diagnostics.key(&["sources", &second.id], message.to_owned());
    }
    if enabled == Some(true) && !sources.iter().any(is_index) {
        let taken = sources.iter().any(|source| source.id == USUAL_ID);
        sources.push(Source {
            id: if taken { KIND } else { USUAL_ID }.to_owned(),
            kind: SourceKind::Index(IndexSettings {
                enabled: true,
                index: IndexConfig {
                    expose: Vec::new(),
                    cache_ttl: CACHE_TTL.into(),
                },
            }),
        });
    }
    for source in sources {
        if let SourceKind::Index(settings) = &mut source.kind {
            settings.enabled = enabled.unwrap_or(settings.enabled);
            settings.index.cache_ttl = ttl.unwrap_or(settings.index.cache_ttl);
        }
    }
}

/// Words for yes and no, in any case.
const YES: [&str; 4] = ["true", "1", "yes", "on"];
const NO: [&str; 4] = ["false", "0", "no", "off"];

fn yes_or_no(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (is_one_of(&YES), is_one_of(&NO)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// What a flag, a variable or its older name says, and which of them did.
fn given(
    [ours, older]: &[&Override; 2],
    flag: Option<String>,
    around: &Around<'_>,
) -> Option<(String, Origin)> {
    ours.pick(flag, around.environment, None)
        .or_else(|| older.pick(None, around.environment, None))
}
