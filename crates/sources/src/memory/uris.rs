//! The URIs of a memory: of its reports, and of each entry.

use std::borrow::Cow;

use tidegate_core::{SourceId, percent_decode_utf8, percent_encode};
use tidegate_store::memory::EntryId;

use super::entries::DEFAULT;

/// The URIs under one source's name.
#[derive(Clone, Debug)]
pub(super) struct Uris {
    root: String,
}

impl Uris {
    pub(super) fn new(id: &SourceId) -> Self {
        Self {
            root: format!("plugin://{id}"),
        }
    }

    pub(super) fn root(&self) -> String {
        self.root.clone()
    }

    /// Seed 0's name of the report (S0.16).
    pub(super) fn stats(&self) -> String {
        format!("{}/memory_stats", self.root)
    }

    /// The name that it has at every built-in source.
    pub(super) fn short_stats(&self) -> String {
        format!("{}/stats", self.root)
    }

    pub(super) fn dump(&self) -> String {
        format!("{}/memory_dump", self.root)
    }

    pub(super) fn entries(&self) -> String {
        format!("{}/entries/{{key}}", self.root)
    }

    pub(super) fn entries_of_namespace(&self) -> String {
        format!("{}/namespaces/{{namespace}}/entries/{{key}}", self.root)
    }

    /// The shortest URI of an entry.
    pub(super) fn entry(&self, place: &EntryId) -> String {
        match place.namespace == DEFAULT {
            true => format!("{}/entries/{}", self.root, percent_encode(&place.key)),
            false => self.long(place),
        }
    }

    /// Every URI that an entry has.
    pub(super) fn all_of(&self, place: &EntryId) -> Vec<String> {
        let (short, long) = (self.entry(place), self.long(place));
        match short == long {
            true => vec![long],
            false => vec![short, long],
        }
    }

    fn long(&self, EntryId { namespace, key }: &EntryId) -> String {
        let (namespace, key) = (percent_encode(namespace), percent_encode(key));
        format!("{}/namespaces/{namespace}/entries/{key}", self.root)
    }

    /// The entry that a URI means, in whatever way it is spelled.
    pub(super) fn place(&self, uri: &str) -> Option<EntryId> {
        let rest = uri.strip_prefix(&self.root)?.strip_prefix('/')?;
        let (namespace, key) = match rest.strip_prefix("entries/") {
            Some(key) => (DEFAULT, key),
            None => rest.strip_prefix("namespaces/")?.split_once("/entries/")?,
        };
        let text = |part| percent_decode_utf8(part).map(Cow::into_owned);
        Some(EntryId {
            namespace: text(namespace)?,
            key: text(key)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_each_of_its_uris() {
        let uris = Uris::new(&"notes".parse().unwrap());
        for (namespace, key, short) in [
            ("default", "k", "plugin://notes/entries/k"),
            ("default", "a/b c", "plugin://notes/entries/a%2Fb%20c"),
            (
                "work",
                "é?#%",
                "plugin://notes/namespaces/work/entries/%C3%A9%3F%23%25",
            ),
        ] {
            let place = EntryId {
                namespace: namespace.to_owned(),
                key: key.to_owned(),
            };
            assert_eq!(uris.entry(&place), short);
            for uri in uris.all_of(&place) {
                assert_eq!(uris.place(&uri).as_ref(), Some(&place), "{uri}");
            }
        }
        assert!(
            uris.place("plugin://notes/entries/a b").is_some(),
            "a raw space is let pass"
        );
        assert_eq!(uris.place("plugin://notes/memory_stats"), None);
        assert_eq!(uris.place("plugin://notes2/entries/k"), None);
    }
}
