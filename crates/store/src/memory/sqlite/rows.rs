//! Rows as they come from SQLite, and what they mean.

use tidegate_core::RawJson;

use super::super::{Entry, Owned, Place, Summary, Usage};
use crate::Millis;

/// namespace, key, value, tags, size, created, updated, expires
pub(super) type EntryRow = (String, String, String, String, i64, i64, i64, Option<i64>);

/// namespace, key, tags, size, updated, expires
pub(super) type SummaryRow = (String, String, String, i64, i64, Option<i64>);

/// principal, and then an entry
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

impl From<EntryRow> for Entry {
    fn from((namespace, key, value, tags, size, created, updated, expires): EntryRow) -> Self {
        Self {
            place: Place { namespace, key },
            value: RawJson::copy_of(&value),
            tags: read_tags(&tags),
            size: count(size),
            created: Millis(created),
            updated: Millis(updated),
            expires: expires.map(Millis),
        }
    }
}

impl From<SummaryRow> for Summary {
    fn from((namespace, key, tags, size, updated, expires): SummaryRow) -> Self {
        Self {
            place: Place { namespace, key },
            tags: read_tags(&tags),
            size: count(size),
            updated: Millis(updated),
            expires: expires.map(Millis),
        }
    }
}

impl From<OwnedRow> for Owned {
    fn from(row: OwnedRow) -> Self {
        let (principal, namespace, key, value, tags, size, created, updated, expires) = row;
        let entry = (namespace, key, value, tags, size, created, updated, expires);
        Self {
            principal,
            entry: entry.into(),
        }
    }
}

pub(super) fn usage((entries, bytes): (i64, i64)) -> Usage {
    Usage {
        entries: count(entries),
        bytes: count(bytes),
    }
}

pub(super) fn namespaces(rows: Vec<(String, i64, i64)>) -> Vec<(String, Usage)> {
    let rows = rows.into_iter();
    rows.map(|(name, entries, bytes)| (name, usage((entries, bytes))))
        .collect()
}

pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn write_tags(tags: &[String]) -> String {
    serde_json::Value::from(tags).to_string()
}

fn read_tags(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}
