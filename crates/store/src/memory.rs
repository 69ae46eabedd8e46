//! Storage of `memory` sources: the data types, and the operations that a backend must implement.
//!
//! Every operation on entries names their owner, so a result can never contain another owner's
//! entries. Expired entries are never returned, whether or not they have been deleted yet.

mod full_text;
mod sqlite;

use std::sync::Arc;

use tidegate_core::{BoxFuture, RawJson};

use crate::{Result, Store, UnixMillis};

/// The topic of memory entries in change events.
pub const TOPIC: &str = "memory";

/// The owner of entries: a principal at one source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryOwner {
    pub source: String,
    pub principal: String,
}

/// Identifies an entry of one owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    pub namespace: String,
    pub key: String,
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEntry {
    pub id: EntryId,
    /// The exact JSON text that was stored.
    pub value: RawJson,
    pub tags: Vec<String>,
    pub size: u64,
    pub created: UnixMillis,
    pub updated: UnixMillis,
    pub expires: Option<UnixMillis>,
}

/// An entry to store.
#[derive(Clone, Debug)]
pub struct NewEntry {
    pub id: EntryId,
    pub value: RawJson,
    pub tags: Vec<String>,
    pub expires: Option<UnixMillis>,
    /// If `None`, `updated` is now and a replaced entry keeps its `created`.
    pub timestamps: Option<EntryTimestamps>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryTimestamps {
    pub created: UnixMillis,
    pub updated: UnixMillis,
}

impl NewEntry {
    /// The bytes that count towards a quota.
    pub fn size(&self) -> u64 {
        let tags = self.tags.iter().map(String::len).sum::<usize>();
        let EntryId { namespace, key } = &self.id;
        let size = namespace.len() + key.len() + self.value.as_str().len() + tags;
        u64::try_from(size).unwrap_or(u64::MAX)
    }
}

/// An entry without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySummary {
    pub id: EntryId,
    pub tags: Vec<String>,
    pub size: u64,
    pub updated: UnixMillis,
    pub expires: Option<UnixMillis>,
}

/// The quota of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryQuota {
    pub entries: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    Added,
    Replaced,
    /// Rejected: another entry would exceed the quota. Carries the current usage.
    TooManyEntries(MemoryUsage),
    /// Rejected: its size would exceed the quota. Carries the current usage.
    TooManyBytes(MemoryUsage),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    pub entries: u64,
    pub bytes: u64,
}

/// The usage of one owner in detail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageDetails {
    pub total: MemoryUsage,
    /// Entries that expire before the requested time.
    pub expiring: u64,
    /// Usage by namespace, sorted by name, up to the requested number.
    pub namespaces: Vec<(String, MemoryUsage)>,
}

/// Selects one page of entries, ordered by id.
#[derive(Clone, Debug, Default)]
pub struct EntryRange {
    pub namespace: Option<String>,
    pub key_prefix: String,
    /// Exclusive lower bound: the last id of the previous page.
    pub after: Option<EntryId>,
    pub limit: u32,
}

/// A full-text query.
#[derive(Clone, Debug)]
pub struct TextQuery {
    /// Words, separated by anything else.
    pub text: String,
    pub namespace: Option<String>,
    pub limit: u32,
}

/// An entry with its owner's principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedEntry {
    pub principal: String,
    pub entry: MemoryEntry,
}

/// A backend for memory entries.
pub trait MemoryStore: Send + Sync + 'static {
    /// Stores an entry durably, unless that would exceed the quota.
    fn put<'a>(
        &'a self,
        owner: &'a EntryOwner,
        entry: &'a NewEntry,
        quota: MemoryQuota,
    ) -> BoxFuture<'a, Result<PutOutcome>>;

    fn get<'a>(
        &'a self,
        owner: &'a EntryOwner,
        id: &'a EntryId,
    ) -> BoxFuture<'a, Result<Option<MemoryEntry>>>;

    fn list<'a>(
        &'a self,
        owner: &'a EntryOwner,
        range: &'a EntryRange,
    ) -> BoxFuture<'a, Result<Vec<EntrySummary>>>;

    /// The entries that contain all words, best match first. If there are none, the entries that
    /// contain any of the words.
    fn search<'a>(
        &'a self,
        owner: &'a EntryOwner,
        query: &'a TextQuery,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>>;

    /// Returns whether the entry existed.
    fn delete<'a>(&'a self, owner: &'a EntryOwner, id: &'a EntryId) -> BoxFuture<'a, Result<bool>>;

    /// Deletes an owner's entries, in one namespace or in all. Returns how many there were.
    fn clear<'a>(
        &'a self,
        owner: &'a EntryOwner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>>;

    /// The entries updated last, newest first.
    fn recent<'a>(
        &'a self,
        owner: &'a EntryOwner,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>>;

    /// Reports at most `max_namespaces` namespaces.
    fn usage<'a>(
        &'a self,
        owner: &'a EntryOwner,
        expiring_before: UnixMillis,
        max_namespaces: u32,
    ) -> BoxFuture<'a, Result<UsageDetails>>;

    /// The number of entries, in one namespace or in all.
    fn count<'a>(
        &'a self,
        owner: &'a EntryOwner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>>;

    /// The usage of all owners at a source.
    fn total_usage<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<MemoryUsage>>;

    /// The entries of all owners at a source, oldest first.
    fn dump<'a>(&'a self, source: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<OwnedEntry>>>;

    /// Deletes expired entries of all sources. Returns when the next entry expires.
    fn delete_expired(&self) -> BoxFuture<'_, Result<Option<UnixMillis>>>;
}

/// The memory entries of this store.
pub fn memory_store(store: &Arc<Store>) -> Arc<dyn MemoryStore> {
    Arc::new(sqlite::SqliteMemoryStore::new(store))
}
