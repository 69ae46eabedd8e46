//! Which resources someone wants to hear of: counted, so that the server is asked once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::Watch;
use tokio::sync::watch;

/// How long someone who wants to hear of a resource waits for the server to know. Later than that,
/// an update is made up.
pub(crate) const WAIT: Duration = Duration::from_millis(500);

/// The resources that are watched, and by how many.
#[derive(Clone, Default)]
pub(crate) struct Watches(Arc<Shared>);

#[derive(Default)]
struct Shared {
    wanted: watch::Sender<BTreeMap<String, usize>>,
    /// Those of which the server tells.
    told: watch::Sender<BTreeSet<String>>,
}

impl Watches {
    /// One more who wants to hear of a resource.
    pub(crate) fn add(&self, uri: &str) -> Watch {
        let wanted = &self.0.wanted;
        wanted.send_modify(|watched| *watched.entry(uri.to_owned()).or_default() += 1);
        let guard = Guard {
            watches: self.clone(),
            uri: uri.to_owned(),
        };
        let (mut told, uri) = (self.0.told.subscribe(), uri.to_owned());
        Watch::until_dropped(guard, async move {
            let told = told.wait_for(|told| told.contains(&uri));
            tokio::time::timeout(WAIT, told).await.ok();
        })
    }

    fn remove(&self, uri: &str) {
        self.0.wanted.send_modify(|watched| {
            if let Some(count) = watched.get_mut(uri) {
                *count -= 1;
                if *count == 0 {
                    watched.remove(uri);
                }
            }
        });
    }

    /// What is watched now.
    pub(crate) fn now(&self) -> BTreeSet<String> {
        self.0.wanted.borrow().keys().cloned().collect()
    }

    /// What is watched, now and whenever it changes.
    pub(crate) fn follow(&self) -> Watched {
        self.0.told.send_replace(BTreeSet::new());
        Watched {
            wanted: self.0.wanted.subscribe(),
            watches: self.clone(),
        }
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
pub(crate) struct Watched {
    wanted: watch::Receiver<BTreeMap<String, usize>>,
    watches: Watches,
}

impl Watched {
    pub(crate) fn now(&mut self) -> BTreeSet<String> {
        self.wanted.borrow_and_update().keys().cloned().collect()
    }

    /// The server tells of these now, and of no others.
    pub(crate) fn told(&self, uris: &BTreeSet<String>) {
        self.watches.0.told.send_replace(uris.clone());
    }

    /// Waits until something else is watched than `known`.
    pub(crate) async fn other_than(&mut self, known: &BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let now = self.now();
            if now != *known {
                return now;
            }
            // The sender lives as long as the source.
            if self.wanted.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
