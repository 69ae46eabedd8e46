//! The tools that change entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{NewEntry, PutOutcome};

use super::super::entry_view::{entry_id, format_time, namespace_filter};
use super::super::json_value::JsonValue;
use super::super::state::MemoryState;
use super::super::ttl::Ttl;
use crate::declarations::{ToolCall, ToolError};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreArguments {
    key: String,
    /// Any JSON value; its exact text is stored.
    value: JsonValue,
    /// Tags to find the entry by.
    #[serde(default)]
    tags: Vec<String>,
    /// Lifetime in seconds, or with a unit such as "5m", "12h" or "7days"; default: no expiry.
    ttl: Option<Ttl>,
    /// Namespace of the key; default: `default`.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StoredEntry {
    key: String,
    namespace: String,
    /// Whether an existing value was replaced.
    replaced: bool,
    /// Bytes that count towards the quota.
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    uri: String,
}

pub(super) async fn store(
    state: &MemoryState,
    call: ToolCall<'_>,
    arguments: StoreArguments,
) -> Result<StoredEntry, ToolError> {
    let ttl = arguments.ttl.as_ref().map(Ttl::duration).transpose();
    let ttl = ttl.map_err(ToolError::reported)?;
    let mut tags = arguments.tags;
    tags.sort();
    tags.dedup();
    let entry = NewEntry {
        id: entry_id(state, arguments.namespace, arguments.key)?,
        value: arguments.value.to_raw(),
        tags,
        expires: ttl.map(|ttl| UnixMillis::now().plus(ttl)),
        timestamps: None,
    };
    state.limits.check(&entry).map_err(ToolError::reported)?;
    let owner = state.owner(call.caller());
    let outcome = state.entries.put(&owner, &entry, state.limits.quota());
    let outcome = outcome.await?;
    if let Some(rejection) = state.limits.rejection(outcome) {
        return Err(ToolError::Reported(rejection));
    }
    Ok(StoredEntry {
        replaced: outcome == PutOutcome::Replaced,
        size: entry.size(),
        expires: entry.expires.map(format_time),
        uri: state.uris.entry(&entry.id),
        key: entry.id.key,
        namespace: entry.id.namespace,
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteArguments {
    key: String,
    /// Namespace of the key; default: `default`.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeleteResult {
    /// Whether the entry existed.
    deleted: bool,
}

pub(super) async fn delete(
    state: &MemoryState,
    call: ToolCall<'_>,
    arguments: DeleteArguments,
) -> Result<DeleteResult, ToolError> {
    let id = entry_id(state, arguments.namespace, arguments.key)?;
    let owner = state.owner(call.caller());
    let deleted = state.entries.delete(&owner, &id).await?;
    Ok(DeleteResult { deleted })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClearArguments {
    /// Only this namespace; default: all namespaces.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ClearResult {
    /// Number of deleted entries.
    cleared: u64,
}

pub(super) async fn clear(
    state: &MemoryState,
    call: ToolCall<'_>,
    arguments: ClearArguments,
) -> Result<ClearResult, ToolError> {
    let namespace = namespace_filter(arguments.namespace)?;
    let owner = state.owner(call.caller());
    let count = state.entries.count(&owner, namespace.as_deref()).await?;
    if count == 0 {
        return Ok(ClearResult { cleared: 0 });
    }
    if !call.confirm(&confirmation_question(count, namespace.as_deref()))? {
        return Err(ToolError::reported(
            "the user declined; nothing was deleted",
        ));
    }
    let cleared = state.entries.clear(&owner, namespace.as_deref()).await?;
    Ok(ClearResult { cleared })
}

fn confirmation_question(count: u64, namespace: Option<&str>) -> String {
    let entries = match count {
        1 => "the only entry".to_owned(),
        count => format!("all {count} entries"),
    };
    let location = match namespace {
        None => "your memory".to_owned(),
        Some(namespace) => format!("the namespace `{namespace}` of your memory"),
    };
    format!("Permanently delete {entries} in {location}?")
}
