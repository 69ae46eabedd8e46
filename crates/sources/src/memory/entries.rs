//! Entries as callers name them and see them.

use schemars::JsonSchema;
use serde::Serialize;
use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryId, EntrySummary, MemoryEntry};

use super::State;
use super::json::Json;
use super::limits::check_namespace;
use crate::declare::Stop;

/// The namespace of what names none.
pub(super) const DEFAULT: &str = "default";

/// The place that a caller names.
pub(super) fn place(
    state: &State,
    namespace: Option<String>,
    key: String,
) -> Result<EntryId, Stop> {
    let namespace = namespace.unwrap_or_else(|| DEFAULT.to_owned());
    check_namespace(&namespace).map_err(Stop::fault)?;
    state.limits.check_key(&key).map_err(Stop::fault)?;
    Ok(EntryId { namespace, key })
}

/// The namespace that a caller names, or all of them.
pub(super) fn maybe_namespace(namespace: Option<String>) -> Result<Option<String>, Stop> {
    if let Some(name) = &namespace {
        check_namespace(name).map_err(Stop::fault)?;
    }
    Ok(namespace)
}

/// An entry as it is shown.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    key: String,
    namespace: String,
    value: Json,
    tags: Vec<String>,
    /// RFC 3339, as all times here.
    created: String,
    updated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// The URI under which it can be read as a resource.
    uri: String,
}

impl Shown {
    pub(super) fn new(state: &State, entry: MemoryEntry) -> Self {
        Self {
            uri: state.uris.entry(&entry.id),
            key: entry.id.key,
            namespace: entry.id.namespace,
            value: entry.value.into(),
            tags: entry.tags,
            created: time(entry.created),
            updated: time(entry.updated),
            expires: entry.expires.map(time),
        }
    }
}

/// An entry as it is listed.
#[derive(Serialize, JsonSchema)]
pub(super) struct Listed {
    key: String,
    namespace: String,
    tags: Vec<String>,
    /// Bytes of its key, value and tags.
    size: u64,
    updated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    uri: String,
}

impl Listed {
    pub(super) fn new(state: &State, entry: EntrySummary) -> Self {
        Self {
            uri: state.uris.entry(&entry.id),
            key: entry.id.key,
            namespace: entry.id.namespace,
            tags: entry.tags,
            size: entry.size,
            updated: time(entry.updated),
            expires: entry.expires.map(time),
        }
    }
}

pub(super) fn time(at: UnixMillis) -> String {
    humantime::format_rfc3339_millis(at.into()).to_string()
}
