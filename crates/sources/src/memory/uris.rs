//! The URIs of a memory source: its reports and its entries.

use std::borrow::Cow;

use tidegate_core::{SourceId, percent_decode_utf8, percent_encode};
use tidegate_store::memory::EntryId;

/// The default namespace.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// The URIs below the name of one source.
#[derive(Clone, Debug)]
pub(super) struct MemoryUris {
    root: String,
}

impl MemoryUris {
    pub(super) fn new(id: &SourceId) -> Self {
        Self {
            root: format!("plugin://{id}"),
        }
    }

    pub(super) fn root(&self) -> String {
        self.root.clone()
    }

    /// The usage report (S0.16).
    pub(super) fn stats(&self) -> String {
        format!("{}/memory_stats", self.root)
    }

    /// The usage report under the name that every built-in source uses.
    pub(super) fn short_stats(&self) -> String {
        format!("{}/stats", self.root)
    }

    pub(super) fn dump(&self) -> String {
        format!("{}/memory_dump", self.root)
    }

    /// The template of entries in the default namespace.
    pub(super) fn entry_template(&self) -> String {
        format!("{}/entries/{{key}}", self.root)
    }

    pub(super) fn namespaced_entry_template(&self) -> String {
        format!("{}/namespaces/{{namespace}}/entries/{{key}}", self.root)
    }

    /// The shortest URI of an entry.
    pub(super) fn entry(&self, id: &EntryId) -> String {
        match id.namespace == DEFAULT_NAMESPACE {
            true => format!("{}/entries/{}", self.root, percent_encode(&id.key)),
            false => self.namespaced_entry(id),
        }
    }

    /// All URIs of an entry.
    pub(super) fn all_of(&self, id: &EntryId) -> Vec<String> {
        let (short, namespaced) = (self.entry(id), self.namespaced_entry(id));
        match short == namespaced {
            true => vec![namespaced],
            false => vec![short, namespaced],
        }
    }

    fn namespaced_entry(&self, EntryId { namespace, key }: &EntryId) -> String {
        let (namespace, key) = (percent_encode(namespace), percent_encode(key));
        format!("{}/namespaces/{namespace}/entries/{key}", self.root)
    }

    /// The entry that a URI identifies, in any percent-encoding.
    pub(super) fn entry_id(&self, uri: &str) -> Option<EntryId> {
        let path = uri.strip_prefix(&self.root)?.strip_prefix('/')?;
        let (namespace, key) = match path.strip_prefix("entries/") {
            Some(key) => (DEFAULT_NAMESPACE, key),
            None => path.strip_prefix("namespaces/")?.split_once("/entries/")?,
        };
        let decode = |segment| percent_decode_utf8(segment).map(Cow::into_owned);
        Some(EntryId {
            namespace: decode(namespace)?,
            key: decode(key)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifies_an_entry_by_each_of_its_uris() {
        let uris = MemoryUris::new(&"notes".parse().unwrap());
        for (namespace, key, shortest) in [
            ("default", "k", "plugin://notes/entries/k"),
            ("default", "a/b c", "plugin://notes/entries/a%2Fb%20c"),
            (
                "work",
                "é?#%",
                "plugin://notes/namespaces/work/entries/%C3%A9%3F%23%25",
            ),
        ] {
            let id = EntryId {
                namespace: namespace.to_owned(),
                key: key.to_owned(),
            };
            assert_eq!(uris.entry(&id), shortest);
            for uri in uris.all_of(&id) {
                assert_eq!(uris.entry_id(&uri).as_ref(), Some(&id), "{uri}");
            }
        }
        assert!(
            uris.entry_id("plugin://notes/entries/a b").is_some(),
            "an unencoded space is accepted"
        );
        assert_eq!(uris.entry_id("plugin://notes/memory_stats"), None);
        assert_eq!(uris.entry_id("plugin://notes2/entries/k"), None);
    }
}
