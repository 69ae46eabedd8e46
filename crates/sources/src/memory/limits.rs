//! Limits on entries, and the quota of a principal.

use tidegate_store::memory::{MemoryQuota, NewEntry, PutOutcome};

use super::byte_size::format_distinct;

/// The limits of a memory source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of one principal.
    pub max_entries: usize,
    /// Total size of one principal's entries: keys, values and tags.
    pub max_bytes: usize,
    pub max_key_bytes: usize,
    pub max_value_bytes: usize,
    /// Tags of one entry.
    pub max_tags: usize,
    pub max_tag_bytes: usize,
}

/// Short, because the namespace is part of URIs.
const MAX_NAMESPACE_BYTES: usize = 64;

impl Limits {
    pub fn quota(&self) -> MemoryQuota {
        let number = |number| u64::try_from(number).unwrap_or(u64::MAX);
        MemoryQuota {
            entries: number(self.max_entries),
            bytes: number(self.max_bytes),
        }
    }

    /// Checks an entry against the limits. The error is a message for the caller.
    pub fn check(&self, entry: &NewEntry) -> Result<(), String> {
        check_namespace(&entry.id.namespace)?;
        self.check_key(&entry.id.key)?;
        let size = entry.value.as_str().len();
        if size > self.max_value_bytes {
            let [size, limit] = format_distinct(size as u64, self.max_value_bytes as u64);
            return Err(format!("the value has {size}; the limit is {limit}"));
        }
        if entry.tags.len() > self.max_tags {
            let limit = self.max_tags;
            return Err(format!("too many tags; the limit is {limit}"));
        }
        let is_valid = |tag: &String| is_valid_text(tag, self.max_tag_bytes);
        match entry.tags.iter().all(is_valid) {
            true => Ok(()),
            false => Err(format!(
                "a tag must have 1 to {} bytes and no control characters",
                self.max_tag_bytes
            )),
        }
    }

    pub(super) fn check_key(&self, key: &str) -> Result<(), String> {
        match is_valid_text(key, self.max_key_bytes) {
            true => Ok(()),
            false => Err(format!(
                "`key` must have 1 to {} bytes and no control characters",
                self.max_key_bytes
            )),
        }
    }

    /// The message for an entry that was rejected; `None` if it was stored.
    pub fn rejection(&self, outcome: PutOutcome) -> Option<String> {
        match outcome {
            PutOutcome::Added | PutOutcome::Replaced => None,
            PutOutcome::TooManyEntries(_) => Some(format!(
                "quota of {} entries exceeded; delete entries first, or let them expire",
                self.max_entries
            )),
            PutOutcome::TooManyBytes(usage) => {
                let [quota, used] = format_distinct(self.max_bytes as u64, usage.bytes);
                Some(format!(
                    "quota of {quota} exceeded, {used} are in use; delete entries first, or let \
                     them expire"
                ))
            }
        }
    }
}

pub(super) fn check_namespace(name: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
    let is_valid =
        !name.is_empty() && name.len() <= MAX_NAMESPACE_BYTES && name.bytes().all(is_allowed);
    match is_valid {
        true => Ok(()),
        false => Err(format!(
            "`namespace` must have 1 to {MAX_NAMESPACE_BYTES} of a-z A-Z 0-9 . _ - :"
        )),
    }
}

fn is_valid_text(text: &str, max_bytes: usize) -> bool {
    !text.is_empty() && text.len() <= max_bytes && !text.chars().any(char::is_control)
}
