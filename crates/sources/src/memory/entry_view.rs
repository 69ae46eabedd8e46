//! Entries as callers name them in arguments and see them in results.

use schemars::JsonSchema;
use serde::Serialize;
use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryId, EntrySummary, MemoryEntry};

use super::json_value::JsonValue;
use super::limits::check_namespace;
use super::state::MemoryState;
use super::uris::DEFAULT_NAMESPACE;
use crate::declarations::ToolError;

/// The entry that a tool's arguments name.
pub(super) fn entry_id(
    state: &MemoryState,
    namespace: Option<String>,
    key: String,
) -> Result<EntryId, ToolError> {
    let namespace = namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    check_namespace(&namespace).map_err(ToolError::reported)?;
    state.limits.check_key(&key).map_err(ToolError::reported)?;
    Ok(EntryId { namespace, key })
}

/// The namespace that a tool's arguments name; `None` means all of them.
pub(super) fn namespace_filter(namespace: Option<String>) -> Result<Option<String>, ToolError> {
    if let Some(name) = &namespace {
        check_namespace(name).map_err(ToolError::reported)?;
    }
    Ok(namespace)
}

/// An entry with its value and its URI.
#[derive(Serialize, JsonSchema)]
pub(super) struct EntryView {
    #[serde(flatten)]
    contents: EntryContents,
    /// The URI of the entry as a resource.
    uri: String,
}

/// An entry with its value.
#[derive(Serialize, JsonSchema)]
pub(super) struct EntryContents {
    key: String,
    namespace: String,
    value: JsonValue,
    tags: Vec<String>,
    /// All times are in RFC 3339 format.
    created: String,
    updated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

impl EntryView {
    pub(super) fn new(state: &MemoryState, entry: MemoryEntry) -> Self {
        Self {
            uri: state.uris.entry(&entry.id),
            contents: EntryContents::new(entry),
        }
    }
}

impl EntryContents {
    pub(super) fn new(entry: MemoryEntry) -> Self {
        Self {
            key: entry.id.key,
            namespace: entry.id.namespace,
            value: entry.value.into(),
            tags: entry.tags,
            created: format_time(entry.created),
            updated: format_time(entry.updated),
            expires: entry.expires.map(format_time),
        }
    }
}

/// An entry without its value.
#[derive(Serialize, JsonSchema)]
pub(super) struct EntryListItem {
    key: String,
    namespace: String,
    tags: Vec<String>,
    /// Bytes of the key, value and tags.
    size: u64,
    updated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    uri: String,
}

impl EntryListItem {
    pub(super) fn new(state: &MemoryState, entry: EntrySummary) -> Self {
        Self {
            uri: state.uris.entry(&entry.id),
            key: entry.id.key,
            namespace: entry.id.namespace,
            tags: entry.tags,
            size: entry.size,
            updated: format_time(entry.updated),
            expires: entry.expires.map(format_time),
        }
    }
}

pub(super) fn format_time(at: UnixMillis) -> String {
    humantime::format_rfc3339_millis(at.into()).to_string()
}
