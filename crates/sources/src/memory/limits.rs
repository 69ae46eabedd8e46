//! How much a principal may keep, and how large what it keeps may be.

use tidegate_store::memory::{MemoryQuota, NewEntry, PutOutcome};

use super::stats::apart;

/// The limits of one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries that a principal may keep.
    pub max_entries: usize,
    /// Bytes that they may take: keys, values and tags together.
    pub max_bytes: usize,
    pub max_key_bytes: usize,
    pub max_value_bytes: usize,
    /// Tags of one entry.
    pub max_tags: usize,
    pub max_tag_bytes: usize,
}

/// A name of a namespace is short: it stands in every URI.
const NAMESPACE_BYTES: usize = 64;

impl Limits {
    pub fn quota(&self) -> MemoryQuota {
        let number = |number| u64::try_from(number).unwrap_or(u64::MAX);
        MemoryQuota {
            entries: number(self.max_entries),
            bytes: number(self.max_bytes),
        }
    }

    /// Whether an entry may look like this; if not, why, in words for whoever wants to keep it.
    pub fn check(&self, draft: &NewEntry) -> Result<(), String> {
        check_namespace(&draft.id.namespace)?;
        self.check_key(&draft.id.key)?;
        let size = draft.value.as_str().len();
        if size > self.max_value_bytes {
            let [size, most] = apart(size as u64, self.max_value_bytes as u64);
            return Err(format!("the value has {size}; {most} are the most"));
        }
        if draft.tags.len() > self.max_tags {
            let most = self.max_tags;
            return Err(format!("there are too many tags; {most} is the most"));
        }
        let wrong = |tag: &&String| tag.is_empty() || tag.len() > self.max_tag_bytes || odd(tag);
        match draft.tags.iter().find(wrong) {
            None => Ok(()),
            Some(_) => {
                let most = self.max_tag_bytes;
                Err(format!(
                    "a tag has 1 to {most} bytes and no control characters"
                ))
            }
        }
    }

    pub(super) fn check_key(&self, key: &str) -> Result<(), String> {
        match key.is_empty() || key.len() > self.max_key_bytes || odd(key) {
            false => Ok(()),
            true => {
                let most = self.max_key_bytes;
                Err(format!(
                    "`key` must have 1 to {most} bytes and no control characters"
                ))
            }
        }
    }

    /// Why an entry was not kept; none if it was.
    pub fn refusal(&self, put: PutOutcome) -> Option<String> {
        match put {
            PutOutcome::Added | PutOutcome::Replaced => None,
            PutOutcome::TooManyEntries(_) => Some(format!(
                "the quota of {} entries is used up; delete some first, or let them expire",
                self.max_entries
            )),
            PutOutcome::TooManyBytes(used) => {
                let [quota, used] = apart(self.max_bytes as u64, used.bytes);
                Some(format!(
                    "this would exceed the quota of {quota}, of which {used} are used; delete \
                     some first, or let them expire"
                ))
            }
        }
    }
}

pub(super) fn check_namespace(name: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
    match !name.is_empty() && name.len() <= NAMESPACE_BYTES && name.bytes().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "`namespace` must have 1 to {NAMESPACE_BYTES} of a-z A-Z 0-9 . _ - :"
        )),
    }
}

/// What no name of a thing has.
fn odd(text: &str) -> bool {
    text.chars().any(char::is_control)
}
