//! The entries of `sources`: their ids and kinds. Must not know any kind's fields.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::sync::Arc;
use tidegate_core::{EndpointConfig, SourceId};
use tidegate_sources::SourceSection as _;
use tidegate_sources::memory::{MemoryConfig, MemorySection};

use super::composed::{Describe, merge};
use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::endpoint::{self, EndpointSection};
use super::kinds::{KINDS, Kind, REMOTE, SourceSettings};
use super::mapping::Mapping;
use super::suggest::{nearest, unknown_field, unknown_value};

/// Ids that name parts of the gateway.
pub(crate) const RESERVED_IDS: [&str; 4] = ["gateway", "plugin", "system", "ui"];
/// What an id looks like, as a regular expression.
pub(crate) const ID_PATTERN: &str = "^[a-z][a-z0-9-]{0,31}$";

/// The fields that an entry of any kind has.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
struct CommonSection {
    /// The kind of the source.
    kind: Option<String>,
    /// What `/mcp/{source}` shows of the source's tools. It has the same fields
    /// as the top-level `endpoint`.
    endpoint: Option<EndpointSection>,
}

/// An entry of `sources`, in the JSON Schema: one variant for each form of each kind.
#[derive(Debug)]
pub(crate) struct SourceVariants;

impl Describe for SourceVariants {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let common = CommonSection::json_schema(generator);
        let variant = |schema: Schema| {
            // The kind's own `kind` comes second: it has only one possible value.
            let mut variant = merge(&[common.clone(), schema.clone()]);
            for key in ["title", "description"] {
                if let Some(value) = schema.get(key) {
                    variant.insert(key.to_owned(), value.clone());
                }
            }
            variant
        };
        let schemas = KINDS.iter().flat_map(|kind| (kind.schemas)(generator));
        let variants: Vec<Schema> = schemas.map(variant).collect();
        json_schema!({ "oneOf": variants })
    }
}

/// A source of the configuration.
#[derive(Clone, Debug)]
pub struct ConfiguredSource {
    pub id: SourceId,
    pub settings: SourceSettings,
    /// What `/mcp/{source}` shows, if it is configured.
    pub endpoint: Option<EndpointConfig>,
    /// Its name in `mcpServers`, if its id was derived from it.
    pub original_name: Option<String>,
}

/// The sources of a configuration that names none. `system` is always there in addition.
pub(crate) fn defaults() -> Vec<ConfiguredSource> {
    let id = MemorySection::KIND.parse().ok();
    let memory = |id| ConfiguredSource {
        id,
        settings: SourceSettings::BuiltIn(Arc::new(MemoryConfig::default())),
        endpoint: None,
        original_name: None,
    };
    id.map(memory).into_iter().collect()
}

/// Checks the entries with these ids, in their order.
pub(crate) fn check<'a>(
    ids: impl Iterator<Item = &'a str>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<ConfiguredSource> {
    ids.filter_map(|id| check_entry(id, context, diagnostics))
        .collect()
}

fn check_entry(
    id: &str,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<ConfiguredSource> {
    let path = ["sources", id];
    let source_id = parse_id(id).map_err(|message| diagnostics.key(&path, message));
    let mut mapping = Mapping::at(&path, diagnostics);
    let common: CommonSection = mapping.read(diagnostics)?;
    let endpoint = common.endpoint.map(|section| {
        let path = ["sources", id, "endpoint"];
        endpoint::check(&section, false, &path, diagnostics)
    });
    let kind = find_kind(id, common.kind.as_deref(), &mapping, diagnostics)?;
    let settings = (kind.read)(&mut mapping, context, diagnostics);
    mapping.finish(diagnostics);
    Some(ConfiguredSource {
        id: source_id.ok()?,
        settings: settings?,
        endpoint,
        original_name: None,
    })
}

/// The kind of an entry. A `command` or a `url` implies a remote server.
fn find_kind(
    id: &str,
    written: Option<&str>,
    mapping: &Mapping<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<&'static Kind> {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let keys = mapping.keys();
    let is_remote = keys.iter().any(|key| key == "command" || key == "url");
    let name = match written {
        Some(name) => name,
        None if is_remote => REMOTE.name,
        None => {
            report_missing_kind(id, &keys, &names, diagnostics);
            return None;
        }
    };
    let kind = KINDS.iter().find(|kind| kind.name == name);
    if kind.is_none() {
        let message = format!("`sources.{id}.kind`: {}", unknown_value(name, &names));
        diagnostics.value(&["sources", id, "kind"], message);
    }
    kind
}

/// Reports a misspelled `kind`, `command` or `url`, or that all of them are missing.
fn report_missing_kind(id: &str, keys: &[String], names: &[&str], diagnostics: &mut Diagnostics) {
    let candidates = ["kind", "command", "url"];
    let misspelled = keys.iter().find(|key| nearest(key, &candidates).is_some());
    match misspelled {
        Some(key) => {
            let message = unknown_field(&format!("sources.{id}.{key}"), key, &candidates);
            diagnostics.key(&["sources", id, key], message);
        }
        None => {
            let message = format!(
                "`sources.{id}`: `kind` is missing; use one of {}, or name a server with \
                 `command` or `url`",
                names.join(", ")
            );
            diagnostics.key(&["sources", id], message);
        }
    }
}

pub(crate) fn parse_id(id: &str) -> Result<SourceId, String> {
    if RESERVED_IDS.contains(&id) {
        return Err(format!("the source id `{id}` is reserved; choose another"));
    }
    id.parse().map_err(|_| {
        format!(
            "`{id}` is not a valid source id; use a lower-case letter, then up to 31 of a-z 0-9 -"
        )
    })
}
