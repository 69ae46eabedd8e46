//! The read-only tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_store::memory::{EntryId, EntryOwner, EntryRange, EntrySummary, TextQuery};

use super::super::entry_view::{EntryListItem, EntryView, entry_id, namespace_filter};
use super::super::key_glob::KeyGlob;
use super::super::state::MemoryState;
use crate::declarations::{ToolCall, ToolError};

const DEFAULT_LIST_LIMIT: u32 = 100;
const MAX_LIST_LIMIT: u32 = 1_000;
const DEFAULT_SEARCH_LIMIT: u32 = 10;
const MAX_SEARCH_LIMIT: u32 = 100;

/// Total size of the entries in one search result.
const MAX_RESULT_BYTES: u64 = 1 << 20;

/// One `list` call reads at most this many batches of entries to find those that match.
const BATCH_SIZE: u32 = 500;
const MAX_BATCHES: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RetrieveArguments {
    key: String,
    /// Namespace of the key; default: `default`.
    namespace: Option<String>,
}

pub(super) async fn retrieve(
    state: &MemoryState,
    call: ToolCall<'_>,
    arguments: RetrieveArguments,
) -> Result<EntryView, ToolError> {
    let id = entry_id(state, arguments.namespace, arguments.key)?;
    let owner = state.owner(call.caller());
    match state.entries.get(&owner, &id).await? {
        Some(entry) => Ok(EntryView::new(state, entry)),
        None => Err(ToolError::reported(format!(
            "no entry `{}` in namespace `{}`; use `search` to find entries by words, or `list` to \
             see the keys",
            id.key, id.namespace
        ))),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// Glob that keys must match; default: all keys.
    pattern: Option<String>,
    /// Only this namespace; default: all namespaces.
    namespace: Option<String>,
    /// Only entries that have all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Maximum number of entries; default: 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// `next_cursor` of the previous result, to continue after it.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct EntryList {
    entries: Vec<EntryListItem>,
    /// Present if there may be more entries: pass it as `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) async fn list(
    state: &MemoryState,
    call: ToolCall<'_>,
    arguments: ListArguments,
) -> Result<EntryList, ToolError> {
    let glob = arguments.pattern.as_deref().map(KeyGlob::new);
    let glob = glob.transpose().map_err(ToolError::Reported)?;
    let after = arguments.cursor.as_deref().map(parse_cursor).transpose()?;
    let range = EntryRange {
        namespace: namespace_filter(arguments.namespace)?,
        key_prefix: glob.as_ref().map_or("", |glob| &glob.prefix).to_owned(),
        after,
        limit: BATCH_SIZE,
    };
    let matches = |entry: &EntrySummary| {
        glob.as_ref().is_none_or(|glob| glob.matches(&entry.id.key))
            && arguments.tags.iter().all(|tag| entry.tags.contains(tag))
    };
    let limit = arguments.limit.unwrap_or(DEFAULT_LIST_LIMIT);
    let limit = limit.clamp(1, MAX_LIST_LIMIT);
    let owner = state.owner(call.caller());
    let (entries, next) = matching_page(state, &owner, range, limit, matches).await?;
    Ok(EntryList {
        entries: entries
            .into_iter()
            .map(|entry| EntryListItem::new(state, entry))
            .collect(),
        next_cursor: next.map(|id| format!("{}/{}", id.namespace, id.key)),
    })
}

/// The next entries that match, and the id to continue after. Reads a bounded number of entries.
async fn matching_page(
    state: &MemoryState,
    owner: &EntryOwner,
    mut range: EntryRange,
    limit: u32,
    matches: impl Fn(&EntrySummary) -> bool,
) -> Result<(Vec<EntrySummary>, Option<EntryId>), ToolError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut page = Vec::new();
    for _ in 0..MAX_BATCHES {
        let batch = state.entries.list(owner, &range).await?;
        let is_last = batch.len() < usize::try_from(range.limit).unwrap_or(usize::MAX);
        for entry in batch {
            if page.len() == limit && matches(&entry) {
                return Ok((page, range.after));
            }
            range.after = Some(entry.id.clone());
            if matches(&entry) {
                page.push(entry);
            }
        }
        if is_last {
            return Ok((page, None));
        }
    }
    Ok((page, range.after))
}

/// Namespaces contain no slash, so the first slash separates the key.
fn parse_cursor(text: &str) -> Result<EntryId, ToolError> {
    let parts = text.split_once('/');
    let id = parts.map(|(namespace, key)| EntryId {
        namespace: namespace.to_owned(),
        key: key.to_owned(),
    });
    id.ok_or_else(|| ToolError::reported("`cursor` must be the `next_cursor` of a previous result"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// Words to search for. There is no query syntax.
    query: String,
    /// Maximum number of matches; default: 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Only this namespace; default: all namespaces.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchMatches {
    /// Best match first.
    matches: Vec<EntryView>,
    /// URIs of matches that are too large for this result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    too_large: Vec<String>,
}

pub(super) async fn search(
    state: &MemoryState,
    call: ToolCall<'_>,
    arguments: SearchArguments,
) -> Result<SearchMatches, ToolError> {
    let limit = arguments.limit.unwrap_or(DEFAULT_SEARCH_LIMIT);
    let query = TextQuery {
        text: arguments.query,
        namespace: namespace_filter(arguments.namespace)?,
        limit: limit.clamp(1, MAX_SEARCH_LIMIT),
    };
    let owner = state.owner(call.caller());
    let mut result = SearchMatches {
        matches: Vec::new(),
        too_large: Vec::new(),
    };
    let mut bytes = 0;
    for entry in state.entries.search(&owner, &query).await? {
        if bytes + entry.size > MAX_RESULT_BYTES {
            result.too_large.push(state.uris.entry(&entry.id));
            continue;
        }
        bytes += entry.size;
        result.matches.push(EntryView::new(state, entry));
    }
    Ok(result)
}
