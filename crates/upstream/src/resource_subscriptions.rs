//! Which resources someone wants to hear of: counted, so that the server is asked once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::ResourceSubscription;
use tokio::sync::watch;

/// How long someone who wants to hear of a resource waits for the server to know. Then it is told
/// that the server does, and an update is made up once that is true.
const WAIT: Duration = Duration::from_millis(500);

/// The resources that are watched, and by how many.
#[derive(Clone, Default)]
pub(crate) struct Watches(Arc<Shared>);

#[derive(Default)]
struct Shared {
    wanted: watch::Sender<BTreeMap<String, usize>>,
    told: watch::Sender<Told>,
}

/// Of what the server tells.
#[derive(Default)]
struct Told {
    uris: BTreeSet<String>,
    /// What someone was told before it was true.
    promised: BTreeSet<String>,
}

impl Watches {
    /// One more who wants to hear of a resource.
    pub(crate) fn add(&self, uri: &str) -> ResourceSubscription {
        let wanted = &self.0.wanted;
        wanted.send_modify(|watched| *watched.entry(uri.to_owned()).or_default() += 1);
        let guard = Guard {
            watches: self.clone(),
            uri: uri.to_owned(),
        };
        let (watches, uri) = (self.clone(), uri.to_owned());
        ResourceSubscription::new(guard, async move {
            let mut told = watches.0.told.subscribe();
            let told = told.wait_for(|told| told.uris.contains(&uri));
            if tokio::time::timeout(WAIT, told).await.is_err() {
                watches.promise(uri);
            }
        })
    }

    /// Notes that someone is told of this resource before the server tells of it.
    fn promise(&self, uri: String) {
        self.0.told.send_if_modified(|told| {
            if !told.uris.contains(&uri) {
                told.promised.insert(uri);
            }
            false
        });
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
        self.0.told.send_modify(|told| told.uris.clear());
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

    /// The server tells of these now, and of no others. Gives those of which an update may have been
    /// missed: someone was told too early that the server tells of them.
    pub(crate) fn told(&self, uris: &BTreeSet<String>) -> BTreeSet<String> {
        let mut missed = BTreeSet::new();
        self.watches.0.told.send_modify(|told| {
            let wanted = self.watches.0.wanted.borrow();
            let gone = told.uris.difference(uris);
            let still_wanted = gone.filter(|uri| wanted.contains_key(*uri));
            told.promised.extend(still_wanted.cloned());
            told.promised.retain(|uri| wanted.contains_key(uri));
            missed = told
                .promised
                .extract_if(.., |uri| uris.contains(uri))
                .collect();
            told.uris.clone_from(uris);
        });
        missed
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
