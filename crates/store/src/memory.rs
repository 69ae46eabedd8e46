//! What principals keep under keys: the words for it, and what a database has to be able to do.
//!
//! Every question names the owner, so that no answer can hold another's entries. What has expired
//! is in no answer, whether or not it has been swept yet.

mod sqlite;
mod words;

use std::sync::Arc;

use tidegate_core::{BoxFuture, RawJson};

use crate::{Millis, Result, Store};

/// The topic of memory in the log of changes.
pub const TOPIC: &str = "memory";

/// Whose entries: a principal's, at one source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    pub source: String,
    pub principal: String,
}

/// Where an entry is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub namespace: String,
    pub key: String,
}

/// What is kept under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub place: Place,
    /// With the exact text it was given.
    pub value: RawJson,
    pub tags: Vec<String>,
    pub size: u64,
    pub created: Millis,
    pub updated: Millis,
    pub expires: Option<Millis>,
}

/// What is to be kept under a key.
#[derive(Clone, Debug)]
pub struct Draft {
    pub place: Place,
    pub value: RawJson,
    pub tags: Vec<String>,
    pub expires: Option<Millis>,
    /// When it was made and changed; now, and not before what is there already, if nothing is said.
    pub times: Option<(Millis, Millis)>,
}

impl Draft {
    /// How much of a quota it takes.
    pub fn size(&self) -> u64 {
        let tags = self.tags.iter().map(String::len).sum::<usize>();
        let Place { namespace, key } = &self.place;
        let all = namespace.len() + key.len() + self.value.as_str().len() + tags;
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

/// An entry without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub place: Place,
    pub tags: Vec<String>,
    pub size: u64,
    pub updated: Millis,
    pub expires: Option<Millis>,
}

/// How much an owner may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub entries: u64,
    pub bytes: u64,
}

/// What became of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    Added,
    Replaced,
    /// There is this much already: one more entry would be too many.
    TooMany(Usage),
    /// There is this much already: with this one it would be too large.
    TooLarge(Usage),
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub entries: u64,
    pub bytes: u64,
}

/// How much an owner keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub total: Usage,
    /// Entries that expire before the moment that was asked for.
    pub expiring: u64,
    /// How much in each namespace, in their order; not more of them than were asked for.
    pub namespaces: Vec<(String, Usage)>,
}

/// Which entries to go through, in the order of their places.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Only these.
    pub namespace: Option<String>,
    /// Only keys that begin so.
    pub prefix: String,
    /// Only what comes after this.
    pub after: Option<Place>,
    pub limit: u32,
}

/// What a principal looks for.
#[derive(Clone, Debug)]
pub struct Search {
    /// Words; anything else is taken for what separates them.
    pub words: String,
    pub namespace: Option<String>,
    pub limit: u32,
}

/// An entry of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    pub principal: String,
    pub entry: Entry,
}

/// What keeps memories.
pub trait Memories: Send + Sync + 'static {
    /// Keeps an entry, unless that would exceed the quota. Done means that it survives whatever
    /// happens to the process.
    fn put<'a>(
        &'a self,
        owner: &'a Owner,
        draft: &'a Draft,
        quota: Quota,
    ) -> BoxFuture<'a, Result<Put>>;

    fn get<'a>(
        &'a self,
        owner: &'a Owner,
        place: &'a Place,
    ) -> BoxFuture<'a, Result<Option<Entry>>>;

    fn scan<'a>(&'a self, owner: &'a Owner, scan: &'a Scan) -> BoxFuture<'a, Result<Vec<Summary>>>;

    /// The entries with all of the words, the best first; where there is none, those with any.
    fn search<'a>(
        &'a self,
        owner: &'a Owner,
        search: &'a Search,
    ) -> BoxFuture<'a, Result<Vec<Entry>>>;

    /// Whether there was something to delete.
    fn delete<'a>(&'a self, owner: &'a Owner, place: &'a Place) -> BoxFuture<'a, Result<bool>>;

    /// Deletes all that an owner has, or has in a namespace. Gives how much that was.
    fn clear<'a>(
        &'a self,
        owner: &'a Owner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>>;

    /// What an owner has changed last, the newest first.
    fn recent<'a>(&'a self, owner: &'a Owner, limit: u32) -> BoxFuture<'a, Result<Vec<Entry>>>;

    /// How much an owner has.
    fn kept<'a>(
        &'a self,
        owner: &'a Owner,
        expiring_before: Millis,
        namespaces: u32,
    ) -> BoxFuture<'a, Result<Kept>>;

    /// How many entries an owner has, or has in a namespace.
    fn count<'a>(
        &'a self,
        owner: &'a Owner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>>;

    /// How much all owners have at a source.
    fn total<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Usage>>;

    /// What all owners have at a source, the oldest entries first.
    fn dump<'a>(&'a self, source: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<Owned>>>;

    /// Deletes what has expired. Gives the moment when something will expire next.
    fn sweep(&self) -> BoxFuture<'_, Result<Option<Millis>>>;
}

/// The memories of this store.
pub fn memories(store: &Arc<Store>) -> Arc<dyn Memories> {
    Arc::new(sqlite::SqliteMemories::new(store))
}
