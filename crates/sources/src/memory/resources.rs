//! The resources of a memory: its report, the entries, and for those who run the gateway all of them.

use std::time::Duration;

use serde::Serialize;
use tidegate_core::{CacheScope, Result};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryId, EntryRange};

use super::State;
use super::entries::{DEFAULT, Shown};
use super::stats::Stats;
use super::uris::Uris;
use crate::declare::{About, Body, Expanded, Resource, Template, Typed};

/// Entries that a dump shows. `tidegate memory export` has no such bound.
const MOST_DUMPED: u32 = 1_000;
/// Bytes of their values.
const MOST_DUMPED_BYTES: u64 = 4 << 20;

/// Keys that a completion is chosen from.
const MOST_COMPLETED: u32 = 1_000;

pub(super) fn resources(uris: &Uris) -> Vec<Resource<State>> {
    let stats = |uri, name| Resource {
        uri,
        name,
        title: "Memory statistics",
        description: "How much you keep: entries, size, namespaces, what expires soon, and the \
            quota.",
        mime: "application/json",
        ttl: Duration::ZERO,
        scope: CacheScope::Private,
        admin_only: false,
        read: |state, caller| Box::pin(async move { Body::json(&Stats::of(state, caller).await?) }),
    };
    vec![
        stats(uris.stats(), "Memory Statistics"),
        stats(uris.short_stats(), "Statistics"),
        Resource {
            uri: uris.dump(),
            name: "Memory Dump",
            title: "Memory of everyone",
            description: "The entries of all principals, up to a thousand. Only for those who run \
                the gateway.",
            mime: "application/json",
            ttl: Duration::ZERO,
            scope: CacheScope::Private,
            admin_only: true,
            read: |state, _| Box::pin(async move { Body::json(&Dump::of(state).await?) }),
        },
    ]
}

pub(super) fn templates(uris: &Uris) -> Vec<Template<State>> {
    vec![
        Template::new(
            uris.entries(),
            About {
                name: "Memory Entry",
                title: "An entry of your memory",
                description: "What you keep under a key in the namespace `default`. A string is \
                    text, an object or array is JSON, anything else is bytes.",
                mime: None,
            },
            |state, expanded| Box::pin(read(state, expanded)),
        )
        .completed("key", |state, typed| Box::pin(keys(state, typed))),
        Template::new(
            uris.entries_of_namespace(),
            About {
                name: "Memory Entry in a Namespace",
                title: "An entry of your memory, in any namespace",
                description: "What you keep under a key in a namespace.",
                mime: None,
            },
            |state, expanded| Box::pin(read(state, expanded)),
        )
        .completed("namespace", |state, typed| {
            Box::pin(namespaces(state, typed))
        })
        .completed("key", |state, typed| Box::pin(keys(state, typed))),
    ]
}

async fn read(state: &State, expanded: Expanded<'_>) -> Result<Body> {
    let place = EntryId {
        namespace: expanded.get("namespace").unwrap_or(DEFAULT).to_owned(),
        key: expanded.value("key").to_owned(),
    };
    let owner = state.owner(expanded.caller);
    let entry = state.kept.get(&owner, &place).await?;
    entry
        .map(|entry| Body::value(&entry.value))
        .ok_or_else(|| expanded.not_found())
}

/// The keys that begin with what is typed, in the namespace that is.
async fn keys(state: &State, typed: Typed<'_>) -> Result<Vec<String>> {
    let namespace = typed.others.get("namespace");
    let scan = EntryRange {
        namespace: Some(namespace.map_or(DEFAULT, String::as_str).to_owned()),
        key_prefix: typed.value,
        after: None,
        limit: MOST_COMPLETED,
    };
    let owner = state.owner(typed.caller);
    let found = state.kept.list(&owner, &scan).await?;
    Ok(found.into_iter().map(|one| one.id.key).collect())
}

async fn namespaces(state: &State, typed: Typed<'_>) -> Result<Vec<String>> {
    let owner = state.owner(typed.caller);
    let kept = state
        .kept
        .usage(&owner, UnixMillis::now(), MOST_COMPLETED)
        .await?;
    let names = kept.namespaces.into_iter().map(|(name, _)| name);
    Ok(names
        .filter(|name| name.starts_with(&typed.value))
        .collect())
}

/// What everyone keeps.
#[derive(Serialize)]
struct Dump {
    total_entries: u64,
    /// Whether there is more than is shown.
    truncated: bool,
    entries: Vec<Dumped>,
}

#[derive(Serialize)]
struct Dumped {
    principal: String,
    #[serde(flatten)]
    entry: Shown,
}

impl Dump {
    async fn of(state: &State) -> Result<Self> {
        let total = state.kept.total_usage(&state.id).await?;
        let all = state.kept.dump(&state.id, MOST_DUMPED).await?;
        let mut bytes = 0;
        let small = all.into_iter().take_while(|one| {
            bytes += one.entry.size;
            bytes <= MOST_DUMPED_BYTES
        });
        let entries: Vec<_> = small
            .map(|one| Dumped {
                principal: one.principal,
                entry: Shown::new(state, one.entry),
            })
            .collect();
        Ok(Self {
            total_entries: total.entries,
            truncated: u64::try_from(entries.len()).unwrap_or(u64::MAX) < total.entries,
            entries,
        })
    }
}
