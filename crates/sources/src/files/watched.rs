//! What others watch under URIs that no list has: other spellings of a file, files beyond the bound
//! of the list, folders. Each is looked at by itself.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::folder::Stamp;

/// The URIs that are watched.
#[derive(Debug, Default)]
pub(super) struct Spellings(Mutex<HashMap<String, Watched>>);

#[derive(Debug, Default)]
struct Watched {
    watchers: usize,
    /// What was there when it was looked at last, once it was.
    known: Option<Option<Stamp>>,
}

/// Someone's interest in a URI, for as long as it is kept.
pub(super) struct Guard {
    spellings: Arc<Spellings>,
    uri: String,
}

impl Spellings {
    pub(super) fn add(all: &Arc<Self>, uri: &str) -> Guard {
        all.with(|watched| watched.entry(uri.to_owned()).or_default().watchers += 1);
        Guard {
            spellings: Arc::clone(all),
            uri: uri.to_owned(),
        }
    }

    /// Says what is there when a watch begins.
    pub(super) fn begin(&self, uri: &str, now: Option<Stamp>) {
        self.with(|watched| {
            if let Some(one) = watched.get_mut(uri) {
                one.known.get_or_insert(now);
            }
        });
    }

    /// The URIs behind which there is something else than before, by `look`, which gives what is
    /// there now if it is.
    pub(super) fn changed(
        &self,
        look: impl Fn(&str, Option<Stamp>) -> Option<Option<Stamp>>,
    ) -> Vec<String> {
        // Looking takes time, in which nobody should wait to add a watch.
        let all: Vec<_> = self.with(|watched| {
            let begun = watched.iter();
            let begun = begun.filter_map(|(uri, one)| Some((uri.clone(), one.known?)));
            begun.collect()
        });
        let mut changed = Vec::new();
        for (uri, known) in all {
            let Some(now) = look(&uri, known) else {
                continue;
            };
            self.with(|watched| {
                if let Some(one) = watched.get_mut(&uri) {
                    one.known = Some(now);
                }
            });
            changed.push(uri);
        }
        changed
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Watched>) -> T) -> T {
        work(&mut self.0.lock())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.spellings.with(|watched| {
            if let Some(one) = watched.get_mut(&self.uri) {
                one.watchers -= 1;
                if one.watchers == 0 {
                    watched.remove(&self.uri);
                }
            }
        });
    }
}
