//! The resources of a memory source: the usage report, the entries, and a dump for administrators.

use std::time::Duration;

use serde::Serialize;
use tidegate_core::{CacheScope, Caller, Result};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryId, EntryRange};

use super::entry_view::EntryContents;
use super::state::MemoryState;
use super::uris::{DEFAULT_NAMESPACE, MemoryUris};
use super::usage::UsageReport;
use crate::declarations::{
    CompletionInput, DeclaredResource, DeclaredTemplate, ResourceContents, TemplateInfo,
    TemplateMatch,
};

/// Limits of the dump. `tidegate memory export` has none.
const MAX_DUMPED_ENTRIES: u32 = 1_000;
const MAX_DUMPED_BYTES: u64 = 4 << 20;

/// Keys or namespaces that a completion is selected from.
const MAX_COMPLETION_CANDIDATES: u32 = 1_000;

pub(super) fn resources(uris: &MemoryUris) -> Vec<DeclaredResource<MemoryState>> {
    let stats = |uri, name| DeclaredResource {
        uri,
        name,
        title: "Memory statistics",
        description: "Your memory usage: number of entries, size, namespaces, entries that expire \
            soon, and the quota.",
        mime: "application/json",
        ttl: Duration::ZERO,
        scope: CacheScope::Private,
        admin_only: false,
        read: |state, caller| {
            Box::pin(async move { ResourceContents::json(&UsageReport::of(state, caller).await?) })
        },
    };
    vec![
        stats(uris.stats(), "Memory Statistics"),
        stats(uris.short_stats(), "Statistics"),
        DeclaredResource {
            uri: uris.dump(),
            name: "Memory Dump",
            title: "Memory of all principals",
            description: "The memory entries of all principals, up to 1000. For administrators \
                only.",
            mime: "application/json",
            ttl: Duration::ZERO,
            scope: CacheScope::Private,
            admin_only: true,
            read: |state, caller| {
                Box::pin(
                    async move { ResourceContents::json(&MemoryDump::of(state, caller).await?) },
                )
            },
        },
    ]
}

pub(super) fn templates(uris: &MemoryUris) -> Vec<DeclaredTemplate<MemoryState>> {
    vec![
        DeclaredTemplate::new(
            uris.entry_template(),
            TemplateInfo {
                name: "Memory Entry",
                title: "Memory entry",
                description: "The value of one of your memory entries in the namespace `default`. \
                    A string is text, an object or array is JSON, any other value is binary.",
                mime: None,
            },
            |state, matched| Box::pin(read(state, matched)),
        )
        .with_completer("key", |state, input| Box::pin(complete_key(state, input))),
        DeclaredTemplate::new(
            uris.namespaced_entry_template(),
            TemplateInfo {
                name: "Memory Entry in a Namespace",
                title: "Memory entry in any namespace",
                description: "The value of one of your memory entries in the given namespace.",
                mime: None,
            },
            |state, matched| Box::pin(read(state, matched)),
        )
        .with_completer("namespace", |state, input| {
            Box::pin(complete_namespace(state, input))
        })
        .with_completer("key", |state, input| Box::pin(complete_key(state, input))),
    ]
}

async fn read(state: &MemoryState, matched: TemplateMatch<'_>) -> Result<ResourceContents> {
    let namespace = matched.get("namespace").unwrap_or(DEFAULT_NAMESPACE);
    let id = EntryId {
        namespace: namespace.to_owned(),
        key: matched.path_variable("key").to_owned(),
    };
    let owner = state.owner(matched.caller);
    let entry = state.entries.get(&owner, &id).await?;
    entry
        .map(|entry| ResourceContents::from_json_value(&entry.value))
        .ok_or_else(|| matched.not_found())
}

/// Keys in the namespace that the other arguments name.
async fn complete_key(state: &MemoryState, input: CompletionInput<'_>) -> Result<Vec<String>> {
    let namespace = input.other_arguments.get("namespace");
    let namespace = namespace.map_or(DEFAULT_NAMESPACE, String::as_str);
    let range = EntryRange {
        namespace: Some(namespace.to_owned()),
        key_prefix: input.typed,
        after: None,
        limit: MAX_COMPLETION_CANDIDATES,
    };
    let owner = state.owner(input.caller);
    let entries = state.entries.list(&owner, &range).await?;
    Ok(entries.into_iter().map(|entry| entry.id.key).collect())
}

async fn complete_namespace(
    state: &MemoryState,
    input: CompletionInput<'_>,
) -> Result<Vec<String>> {
    let owner = state.owner(input.caller);
    let now = UnixMillis::now();
    let usage = state.entries.usage(&owner, now, MAX_COMPLETION_CANDIDATES);
    let names = usage.await?.namespaces.into_iter().map(|(name, _)| name);
    Ok(names
        .filter(|name| name.starts_with(&input.typed))
        .collect())
}

/// The entries of all principals.
#[derive(Serialize)]
struct MemoryDump {
    total_entries: u64,
    /// Whether entries were left out.
    truncated: bool,
    entries: Vec<DumpedEntry>,
}

#[derive(Serialize)]
struct DumpedEntry {
    principal: String,
    #[serde(flatten)]
    entry: EntryContents,
    /// Only for entries of the caller: the same URI means another entry for each principal.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

impl MemoryDump {
    async fn of(state: &MemoryState, caller: &Caller) -> Result<Self> {
        let total = state.entries.total_usage(&state.id).await?;
        let entries = state.entries.dump(&state.id, MAX_DUMPED_ENTRIES).await?;
        let mut bytes = 0;
        let included = entries.into_iter().take_while(|owned| {
            bytes += owned.entry.size;
            bytes <= MAX_DUMPED_BYTES
        });
        let entries: Vec<_> = included
            .map(|owned| DumpedEntry {
                uri: (owned.principal == caller.principal.as_str())
                    .then(|| state.uris.entry(&owned.entry.id)),
                principal: owned.principal,
                entry: EntryContents::new(owned.entry),
            })
            .collect();
        Ok(Self {
            total_entries: total.entries,
            truncated: u64::try_from(entries.len()).unwrap_or(u64::MAX) < total.entries,
            entries,
        })
    }
}
