//! Change notifications: each principal is notified about its own entries only.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tidegate_core::{Change, ChangeSender, ChangeStream, Principal, Recipients, SourceId};
use tidegate_store::memory::{EntryId, TOPIC};
use tidegate_store::{StoreChange, StoreEvent};

use super::uris::MemoryUris;

pub(super) struct Notifications {
    source: String,
    uris: MemoryUris,
    sender: ChangeSender,
    subscribed: Arc<SubscribedUris>,
}

/// Subscribed URIs as the subscribers spell them, with the number of subscriptions.
#[derive(Default)]
struct SubscribedUris(Mutex<HashMap<String, usize>>);

/// A subscription to a URI, until it is dropped.
pub(super) struct SubscribedUri {
    uri: String,
    subscribed: Arc<SubscribedUris>,
}

impl Notifications {
    pub(super) fn new(id: &SourceId, uris: MemoryUris) -> Self {
        Self {
            source: id.to_string(),
            uris,
            sender: ChangeSender::default(),
            subscribed: Arc::default(),
        }
    }

    pub(super) fn stream(&self) -> ChangeStream {
        self.sender.stream()
    }

    pub(super) fn subscribe(&self, uri: &str) -> SubscribedUri {
        self.subscribed.add(uri);
        SubscribedUri {
            uri: uri.to_owned(),
            subscribed: Arc::clone(&self.subscribed),
        }
    }

    /// Announces an event of the store. Returns whether it was [`StoreEvent::Written`].
    pub(super) fn announce(&self, event: StoreEvent) -> bool {
        match event {
            StoreEvent::Changed(change) if self.is_ours(&change) => self.announce_change(&change),
            StoreEvent::Changed(_) => {}
            StoreEvent::Gap => self.sender.send_missed(Recipients::Everyone),
            StoreEvent::Written => return true,
        }
        false
    }

    fn is_ours(&self, change: &StoreChange) -> bool {
        change.topic == TOPIC && change.source == self.source
    }

    fn announce_change(&self, change: &StoreChange) {
        let owner = Recipients::Principal(Principal::new(&change.principal));
        match &change.item {
            Some((namespace, key)) => self.announce_entry(&owner, namespace, key),
            // Unknown entries changed: any subscription of the owner may be affected.
            None => self.sender.send_missed(owner),
        }
        let dump = Change::ResourceUpdated(self.uris.dump().into());
        self.sender.send_to(Recipients::Admins, dump);
    }

    fn announce_entry(&self, owner: &Recipients, namespace: &str, key: &str) {
        let id = EntryId {
            namespace: namespace.to_owned(),
            key: key.to_owned(),
        };
        let mut uris = self.uris_of(&id);
        uris.extend([self.uris.stats(), self.uris.short_stats()]);
        uris.sort();
        uris.dedup();
        for uri in uris {
            let change = Change::ResourceUpdated(uri.into());
            self.sender.send_to(owner.clone(), change);
        }
    }

    /// The URIs of an entry, with the spellings that subscribers use.
    fn uris_of(&self, id: &EntryId) -> Vec<String> {
        let mut uris = self.uris.all_of(id);
        let subscribed = self.subscribed.uris().into_iter();
        uris.extend(subscribed.filter(|uri| self.uris.entry_id(uri).as_ref() == Some(id)));
        uris
    }
}

impl SubscribedUris {
    fn add(&self, uri: &str) {
        *self.0.lock().entry(uri.to_owned()).or_default() += 1;
    }

    fn remove(&self, uri: &str) {
        let mut counts = self.0.lock();
        if let Some(count) = counts.get_mut(uri) {
            *count -= 1;
            if *count == 0 {
                counts.remove(uri);
            }
        }
    }

    fn uris(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }
}

impl Drop for SubscribedUri {
    fn drop(&mut self) {
        self.subscribed.remove(&self.uri);
    }
}
