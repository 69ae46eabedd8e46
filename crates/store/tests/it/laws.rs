//! The contract of a memory store, independent of the database behind it.

pub(crate) mod entries;
pub(crate) mod expiry;
pub(crate) mod listing;
pub(crate) mod quota;
pub(crate) mod search;

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{BoxFuture, RawJson};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{
    EntryId, EntryOwner, EntryRange, MemoryEntry, MemoryQuota, MemoryStore, NewEntry, PutOutcome,
    TextQuery, UsageDetails,
};

/// Long enough for a busy machine.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) type Law = fn(Memory) -> BoxFuture<'static, ()>;

pub(crate) type Memory = Arc<dyn MemoryStore>;

const UNLIMITED: MemoryQuota = MemoryQuota {
    entries: 1_000_000,
    bytes: u64::MAX,
};

pub(crate) fn owner(principal: &str) -> EntryOwner {
    EntryOwner {
        source: "memory".to_owned(),
        principal: principal.to_owned(),
    }
}

pub(crate) fn id(namespace: &str, key: &str) -> EntryId {
    EntryId {
        namespace: namespace.to_owned(),
        key: key.to_owned(),
    }
}

pub(crate) fn entry(key: &str, value: &str) -> NewEntry {
    NewEntry {
        id: id("default", key),
        value: RawJson::parse(value.to_owned()).unwrap(),
        tags: Vec::new(),
        expires: None,
        timestamps: None,
    }
}

fn expired(key: &str) -> NewEntry {
    NewEntry {
        expires: Some(UnixMillis(UnixMillis::now().0 - 1)),
        ..entry(key, "\"gone\"")
    }
}

fn tagged(key: &str, value: &str, tags: &[&str]) -> NewEntry {
    NewEntry {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..entry(key, value)
    }
}

fn in_namespace(namespace: &str, key: &str) -> NewEntry {
    NewEntry {
        id: id(namespace, key),
        ..entry(key, "1")
    }
}

pub(crate) async fn put(memory: &Memory, owner: &EntryOwner, entry: &NewEntry) -> PutOutcome {
    memory.put(owner, entry, UNLIMITED).await.unwrap()
}

async fn get(memory: &Memory, owner: &EntryOwner, key: &str) -> Option<MemoryEntry> {
    let id = id("default", key);
    memory.get(owner, &id).await.unwrap()
}

async fn keys(memory: &Memory, owner: &EntryOwner) -> Vec<String> {
    let range = EntryRange {
        limit: 100,
        ..EntryRange::default()
    };
    let entries = memory.list(owner, &range).await.unwrap();
    entries.into_iter().map(|entry| entry.id.key).collect()
}

async fn search(memory: &Memory, owner: &EntryOwner, text: &str) -> Vec<String> {
    let query = TextQuery {
        text: text.to_owned(),
        namespace: None,
        limit: 10,
    };
    let matches = memory.search(owner, &query).await.unwrap();
    matches.into_iter().map(|entry| entry.id.key).collect()
}

async fn usage(memory: &Memory, owner: &EntryOwner) -> UsageDetails {
    memory.usage(owner, UnixMillis::now(), 10).await.unwrap()
}
