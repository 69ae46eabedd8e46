//! One page of a server's list.

use std::time::Duration;

use serde_json::value::RawValue;
use tidegate_core::{CatalogEntry, List, RawJson, bounded_list};

use super::list_entry::{ParsedEntry, parse_entry};

/// Entries on one page.
const MAX_PAGE_ENTRIES: usize = 100_000;

/// A page of a list.
#[derive(Debug)]
pub struct ListPage {
    pub entries: Vec<CatalogEntry>,
    /// Names of the entries that were repaired without loss.
    pub repaired: Vec<String>,
    /// Entries from which members of the wrong type were removed.
    pub mistyped: Vec<MistypedMembers>,
    /// The number of malformed entries, which are left out.
    pub malformed: usize,
    /// The cursor of the next page; it may be empty.
    pub next_cursor: Option<String>,
    /// The cache lifetime that the server gave the page.
    pub ttl: Option<Duration>,
}

/// Members of one entry that have the wrong type.
#[derive(Debug)]
pub struct MistypedMembers {
    /// The name or URI of the entry.
    pub entry: String,
    /// The paths of the members in the entry.
    pub members: Vec<String>,
}

/// Parses a page; `None` if the result is not a page of this list.
pub fn parse_list_page(list: List, result: &RawJson) -> Option<ListPage> {
    let members = result.object()?;
    let items: Vec<&RawValue> = bounded_list(members.get(list.member())?, MAX_PAGE_ENTRIES).ok()?;
    let total = items.len();
    let (mut entries, mut repaired, mut mistyped) = (Vec::with_capacity(total), vec![], vec![]);
    for parsed in items.into_iter().filter_map(|item| parse_entry(list, item)) {
        let ParsedEntry {
            entry,
            is_repaired,
            mistyped: members,
        } = parsed;
        if !members.is_empty() {
            let entry = entry.key.clone();
            mistyped.push(MistypedMembers { entry, members });
        } else if is_repaired {
            repaired.push(entry.key.clone());
        }
        entries.push(entry);
    }
    Some(ListPage {
        malformed: total - entries.len(),
        entries,
        repaired,
        mistyped,
        next_cursor: members.string("nextCursor"),
        ttl: members
            .get("ttlMs")
            .and_then(|ttl| ttl.parse().ok())
            .map(Duration::from_millis),
    })
}
