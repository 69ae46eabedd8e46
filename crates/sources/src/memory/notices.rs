//! Tells subscribers what changed: each principal of its own entries alone.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Change, ChangeSender, ChangeStream, Principal, Recipients, SourceId};
use tidegate_store::memory::{EntryId, TOPIC};
use tidegate_store::{StoreChange, StoreEvent};

use super::uris::Uris;

pub(super) struct Notices {
    source: String,
    uris: Uris,
    sender: ChangeSender,
    watched: Arc<Watched>,
}

/// The URIs that someone subscribes to, as they are spelled, and how many do.
#[derive(Default)]
struct Watched(Mutex<HashMap<String, usize>>);

/// Someone subscribes to a URI, until this is dropped.
pub(super) struct Watching {
    uri: String,
    watched: Arc<Watched>,
}

impl Notices {
    pub(super) fn new(id: &SourceId, uris: Uris) -> Self {
        Self {
            source: id.to_string(),
            uris,
            sender: ChangeSender::default(),
            watched: Arc::default(),
        }
    }

    pub(super) fn stream(&self) -> ChangeStream {
        self.sender.stream()
    }

    pub(super) fn watch(&self, uri: &str) -> Watching {
        self.watched.add(uri);
        Watching {
            uri: uri.to_owned(),
            watched: Arc::clone(&self.watched),
        }
    }

    /// Tells what the store tells. True if something has been written.
    pub(super) fn tell(&self, told: StoreEvent) -> bool {
        match told {
            StoreEvent::Changed(changed) if self.is_ours(&changed) => self.tell_owner(&changed),
            StoreEvent::Changed(_) => {}
            StoreEvent::Gap => self.sender.send_missed(Recipients::Everyone),
            StoreEvent::Written => return true,
        }
        false
    }

    fn is_ours(&self, changed: &StoreChange) -> bool {
        changed.topic == TOPIC && changed.source == self.source
    }

    fn tell_owner(&self, changed: &StoreChange) {
        let owner = Recipients::Principal(Principal::new(&changed.principal));
        match &changed.item {
            Some((namespace, key)) => self.tell_of(&owner, namespace, key),
            // Too many to name: whatever the owner watches may be among them.
            None => self.sender.send_missed(owner),
        }
        let dump = Change::ResourceUpdated(self.uris.dump().into());
        self.sender.send_to(Recipients::Admins, dump);
    }

    fn tell_of(&self, owner: &Recipients, namespace: &str, key: &str) {
        let mut uris = self.uris_of(namespace, key);
        uris.extend([self.uris.stats(), self.uris.short_stats()]);
        uris.sort();
        uris.dedup();
        for uri in uris {
            self.sender
                .send_to(owner.clone(), Change::ResourceUpdated(uri.into()));
        }
    }

    /// The URIs of an entry, and how those who watch it spell them.
    fn uris_of(&self, namespace: &str, key: &str) -> Vec<String> {
        let place = EntryId {
            namespace: namespace.to_owned(),
            key: key.to_owned(),
        };
        let mut uris = self.uris.all_of(&place);
        let watched = self.watched.all().into_iter();
        uris.extend(watched.filter(|uri| self.uris.place(uri).as_ref() == Some(&place)));
        uris
    }
}

impl Watched {
    fn add(&self, uri: &str) {
        *self.lock().entry(uri.to_owned()).or_default() += 1;
    }

    fn remove(&self, uri: &str) {
        let mut all = self.lock();
        if let Some(count) = all.get_mut(uri) {
            *count -= 1;
            if *count == 0 {
                all.remove(uri);
            }
        }
    }

    fn all(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.watched.remove(&self.uri);
    }
}
