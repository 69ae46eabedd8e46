//! An entry as one line of JSON: the format of `memory export` and `memory import`.

use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryId, EntryTimestamps, MemoryEntry, NewEntry};

use super::entry_view::format_time;
use super::json_value::JsonValue;
use super::uris::DEFAULT_NAMESPACE;
use crate::declarations::ArgumentSchema;

static SCHEMA: LazyLock<ArgumentSchema> = LazyLock::new(ArgumentSchema::of::<Record>);

/// One line.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    #[serde(default = "default_namespace")]
    namespace: String,
    key: String,
    value: JsonValue,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

fn default_namespace() -> String {
    DEFAULT_NAMESPACE.to_owned()
}

/// A line that is not a valid entry.
#[derive(Debug)]
pub struct InvalidRecord(String);

impl fmt::Display for InvalidRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidRecord {}

impl From<serde_json::Error> for InvalidRecord {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<MemoryEntry> for Record {
    fn from(entry: MemoryEntry) -> Self {
        Self {
            namespace: entry.id.namespace,
            key: entry.id.key,
            value: entry.value.into(),
            tags: entry.tags,
            created: Some(format_time(entry.created)),
            updated: Some(format_time(entry.updated)),
            expires: entry.expires.map(format_time),
        }
    }
}

impl Record {
    pub fn parse(line: &str) -> Result<Self, InvalidRecord> {
        let line = SCHEMA.validate(line).map_err(InvalidRecord)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// One line without a line end.
    pub fn to_line(&self) -> Result<String, InvalidRecord> {
        let line = serde_json::to_string(self)?;
        // Values keep their exact text, which may contain line ends between tokens.
        Ok(line.replace(['\n', '\r'], " "))
    }

    pub fn into_new_entry(self) -> Result<NewEntry, InvalidRecord> {
        let created = self.created.as_deref().map(parse_time).transpose()?;
        let updated = self.updated.as_deref().map(parse_time).transpose()?;
        let mut tags = self.tags;
        tags.sort();
        tags.dedup();
        Ok(NewEntry {
            id: EntryId {
                namespace: self.namespace,
                key: self.key,
            },
            value: self.value.to_raw(),
            tags,
            expires: self.expires.as_deref().map(parse_time).transpose()?,
            timestamps: created.or(updated).map(|created| EntryTimestamps {
                created,
                updated: updated.unwrap_or(created),
            }),
        })
    }
}

fn parse_time(text: &str) -> Result<UnixMillis, InvalidRecord> {
    let time = humantime::parse_rfc3339(text);
    time.map(UnixMillis::from).map_err(|_| {
        InvalidRecord(format!(
            "`{text}` is not a time such as 2026-01-31T12:00:00Z"
        ))
    })
}
