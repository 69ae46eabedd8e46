//! Flags and variables that turn the capability index on or off and set its cache lifetime,
//! regardless of its id in the file.

use std::sync::Arc;
use std::time::Duration;

use tidegate_config::HumanDuration;
use tidegate_sources::SourceSection as _;
use tidegate_sources::index::{IndexConfig, IndexSection};

use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::kinds::SourceSettings;
use super::overrides::{RESOURCES_CACHE_TTL, RESOURCES_ENABLED};
use super::sources::ConfiguredSource;

/// The id of an index that is added because the file has no index, if this id is free.
const DEFAULT_ID: &str = "index";

const TRUE: [&str; 4] = ["true", "1", "yes", "on"];
const FALSE: [&str; 4] = ["false", "0", "no", "off"];

/// Applies the flags and variables to the index of the file, or adds an index.
pub(crate) fn apply(
    sources: &mut Vec<ConfiguredSource>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) {
    let enabled = enabled(context, diagnostics);
    let cache_ttl = cache_ttl(context, diagnostics);
    let mut indexes = sources.iter().filter(|source| config_of(source).is_some());
    if let Some(second) = indexes.nth(1) {
        let id = second.id.as_str();
        let message = format!(
            "`sources.{id}`: there is already a capability index, and both would own the same \
             URIs; remove one"
        );
        diagnostics.key(&["sources", id], message);
    }
    if enabled == Some(true) && !sources.iter().any(|source| config_of(source).is_some()) {
        let taken = sources
            .iter()
            .any(|source| source.id.as_str() == DEFAULT_ID);
        let id = if taken {
            IndexSection::KIND
        } else {
            DEFAULT_ID
        };
        sources.extend(id.parse().ok().map(|id| ConfiguredSource {
            id,
            settings: SourceSettings::BuiltIn(Arc::new(IndexConfig::default())),
            endpoint: None,
            original_name: None,
        }));
    }
    for source in sources {
        if let Some(config) = config_of(source).cloned() {
            source.settings = SourceSettings::BuiltIn(Arc::new(IndexConfig {
                enabled: enabled.unwrap_or(config.enabled),
                cache_ttl: cache_ttl.unwrap_or(config.cache_ttl),
                ..config
            }));
        }
    }
}

fn config_of(source: &ConfiguredSource) -> Option<&IndexConfig> {
    source.settings.built_in()
}

fn enabled(context: &LoadContext<'_>, diagnostics: &mut Diagnostics) -> Option<bool> {
    let flag = context.flags.resources_enabled.clone();
    let (text, origin) = RESOURCES_ENABLED.value(flag, context.environment)?;
    let enabled = parse_bool(&text);
    if enabled.is_none() {
        let (yes, no) = (TRUE.join(", "), FALSE.join(", "));
        let message = format!("`{text}` is neither true ({yes}) nor false ({no})");
        diagnostics.push(origin, message);
    }
    enabled
}

fn cache_ttl(context: &LoadContext<'_>, diagnostics: &mut Diagnostics) -> Option<Duration> {
    let flag = context.flags.resources_cache_ttl.clone();
    let (text, origin) = RESOURCES_CACHE_TTL.value(flag, context.environment)?;
    HumanDuration::parse(&text)
        .map(Into::into)
        .map_err(|message| diagnostics.push(origin, message))
        .ok()
}

fn parse_bool(text: &str) -> Option<bool> {
    let is_one_of = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    match (is_one_of(&TRUE), is_one_of(&FALSE)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}
