//! Rows of the memory tables, and their conversion.

use tidegate_core::RawJson;

use super::super::{EntryId, EntrySummary, MemoryEntry, MemoryUsage, OwnedEntry};
use crate::UnixMillis;

/// namespace, key, value, tags, size, created, updated, expires
pub(super) type EntryRow = (String, String, String, String, i64, i64, i64, Option<i64>);

/// namespace, key, tags, size, updated, expires
pub(super) type SummaryRow = (String, String, String, i64, i64, Option<i64>);

/// principal, then the columns of an [`EntryRow`]
pub(super) type OwnedRow = (
    String,
    String,
    String,
    String,
    String,
    i64,
    i64,
    i64,
    Option<i64>,
);

impl From<EntryRow> for MemoryEntry {
    fn from((namespace, key, value, tags, size, created, updated, expires): EntryRow) -> Self {
        Self {
            id: EntryId { namespace, key },
            value: RawJson::copy_of(&value),
            tags: decode_tags(&tags),
            size: unsigned(size),
            created: UnixMillis(created),
            updated: UnixMillis(updated),
            expires: expires.map(UnixMillis),
        }
    }
}

impl From<SummaryRow> for EntrySummary {
    fn from((namespace, key, tags, size, updated, expires): SummaryRow) -> Self {
        Self {
            id: EntryId { namespace, key },
            tags: decode_tags(&tags),
            size: unsigned(size),
            updated: UnixMillis(updated),
            expires: expires.map(UnixMillis),
        }
    }
}

impl From<OwnedRow> for OwnedEntry {
    fn from(row: OwnedRow) -> Self {
        let (principal, namespace, key, value, tags, size, created, updated, expires) = row;
        let entry = (namespace, key, value, tags, size, created, updated, expires);
        Self {
            principal,
            entry: entry.into(),
        }
    }
}

pub(super) fn usage((entries, bytes): (i64, i64)) -> MemoryUsage {
    MemoryUsage {
        entries: unsigned(entries),
        bytes: unsigned(bytes),
    }
}

pub(super) fn namespaces(rows: Vec<(String, i64, i64)>) -> Vec<(String, MemoryUsage)> {
    let rows = rows.into_iter();
    rows.map(|(name, entries, bytes)| (name, usage((entries, bytes))))
        .collect()
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn encode_tags(tags: &[String]) -> String {
    serde_json::Value::from(tags).to_string()
}

fn decode_tags(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}
