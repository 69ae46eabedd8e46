//! Which resources someone wants to hear of: counted, so that the server is asked once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::Watch;
use tokio::sync::watch;

/// The resources that are watched, and by how many.
#[derive(Clone)]
pub(crate) struct Watches(Arc<watch::Sender<BTreeMap<String, usize>>>);

impl Default for Watches {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::default()))
    }
}

impl Watches {
    /// One more who wants to hear of a resource.
    pub(crate) fn add(&self, uri: &str) -> Watch {
        self.0
            .send_modify(|watched| *watched.entry(uri.to_owned()).or_default() += 1);
        Watch::until_dropped(Guard {
            watches: self.clone(),
            uri: uri.to_owned(),
        })
    }

    fn remove(&self, uri: &str) {
        self.0.send_modify(|watched| {
            if let Some(count) = watched.get_mut(uri) {
                *count -= 1;
                if *count == 0 {
                    watched.remove(uri);
                }
            }
        });
    }

    /// What is watched, now and whenever it changes.
    pub(crate) fn follow(&self) -> Watched {
        Watched(self.0.subscribe())
    }
}

struct Guard {
    watches: Watches,
    uri: String,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.watches.remove(&self.uri);
    }
}

/// A view of what is watched.
pub(crate) struct Watched(watch::Receiver<BTreeMap<String, usize>>);

impl Watched {
    pub(crate) fn now(&mut self) -> BTreeSet<String> {
        self.0.borrow_and_update().keys().cloned().collect()
    }

    /// Waits until something else is watched than `known`.
    pub(crate) async fn other_than(&mut self, known: &BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let now = self.now();
            if now != *known {
                return now;
            }
            // The sender lives as long as the source.
            if self.0.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
