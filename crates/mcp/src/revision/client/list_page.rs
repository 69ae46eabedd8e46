//! One page of a server's list.

use std::time::Duration;

use serde_json::value::RawValue;
use tidegate_core::{CatalogEntry, List, RawJson, bounded_list};

use super::list_entry::parse_entry;

/// Entries on one page.
const MAX_PAGE_ENTRIES: usize = 100_000;

/// A page of a list.
#[derive(Debug)]
pub struct ListPage {
    pub entries: Vec<CatalogEntry>,
    /// Names of the entries that had to be repaired.
    pub repaired: Vec<String>,
    /// The number of malformed entries, which are left out.
    pub malformed: usize,
    /// The cursor of the next page; it may be empty.
    pub next_cursor: Option<String>,
    /// The cache lifetime that the server gave the page.
    pub ttl: Option<Duration>,
}

/// Parses a page; `None` if the result is not a page of this list.
pub fn parse_list_page(list: List, result: &RawJson) -> Option<ListPage> {
    let members = result.object()?;
    let items: Vec<&RawValue> = bounded_list(members.get(list.member())?, MAX_PAGE_ENTRIES).ok()?;
    let (total, mut repaired) = (items.len(), Vec::new());
    let parsed = items.into_iter().filter_map(|item| parse_entry(list, item));
    let entries = parsed.map(|(entry, is_repaired)| {
        repaired.extend(is_repaired.then(|| entry.key.clone()));
        entry
    });
    let entries: Vec<_> = entries.collect();
    Some(ListPage {
        malformed: total - entries.len(),
        entries,
        repaired,
        next_cursor: members.string("nextCursor"),
        ttl: members
            .get("ttlMs")
            .and_then(|ttl| ttl.parse().ok())
            .map(Duration::from_millis),
    })
}
