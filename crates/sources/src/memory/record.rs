//! An entry as a line of a file: what `export` writes and `import` reads.

use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryId, EntryTimestamps, MemoryEntry, NewEntry};

use super::entries::{DEFAULT, time};
use super::json::Json;
use crate::declare::Input;

/// What a line may hold.
static LINE: LazyLock<Input> = LazyLock::new(Input::of::<Record>);

/// One line, as JSON.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    #[serde(default = "default_namespace")]
    namespace: String,
    key: String,
    value: Json,
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
    DEFAULT.to_owned()
}

/// Why a line is no entry.
#[derive(Debug)]
pub struct WrongRecord(String);

impl fmt::Display for WrongRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongRecord {}

impl From<MemoryEntry> for Record {
    fn from(entry: MemoryEntry) -> Self {
        Self {
            namespace: entry.id.namespace,
            key: entry.id.key,
            value: entry.value.into(),
            tags: entry.tags,
            created: Some(time(entry.created)),
            updated: Some(time(entry.updated)),
            expires: entry.expires.map(time),
        }
    }
}

impl Record {
    pub fn read(line: &str) -> Result<Self, WrongRecord> {
        let line = LINE.checked(line).map_err(WrongRecord)?;
        serde_json::from_str(&line).map_err(|error| WrongRecord(error.to_string()))
    }

    pub fn write(&self) -> Result<String, WrongRecord> {
        let line = serde_json::to_string(self).map_err(|error| WrongRecord(error.to_string()))?;
        // A value keeps the text it was sent with; between its tokens that may have line ends.
        Ok(line.replace(['\n', '\r'], " "))
    }

    /// What is to be kept.
    pub fn draft(self) -> Result<NewEntry, WrongRecord> {
        let now = UnixMillis::now();
        let created = self.created.as_deref().map(moment).transpose()?;
        let updated = self.updated.as_deref().map(moment).transpose()?;
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
            expires: self.expires.as_deref().map(moment).transpose()?,
            timestamps: (created.is_some() || updated.is_some()).then(|| {
                let created = created.or(updated).unwrap_or(now);
                EntryTimestamps {
                    created,
                    updated: updated.unwrap_or(created),
                }
            }),
        })
    }
}

fn moment(text: &str) -> Result<UnixMillis, WrongRecord> {
    let time = humantime::parse_rfc3339(text);
    time.map(UnixMillis::from).map_err(|_| {
        WrongRecord(format!(
            "`{text}` is not a time such as 2026-01-31T12:00:00Z"
        ))
    })
}
