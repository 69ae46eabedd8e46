//! Subscribed URIs that no list contains: other spellings of a file, files beyond the limit of the
//! list, folders. Each is checked by itself.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::folder::FileStamp;

#[derive(Debug, Default)]
pub(super) struct SubscribedUris(Mutex<HashMap<String, SubscriptionState>>);

#[derive(Debug, Default)]
struct SubscriptionState {
    subscriptions: usize,
    /// The stamp at the last check; the outer `None` means that it was not checked yet.
    last_stamp: Option<Option<FileStamp>>,
}

/// A subscription to a URI, until it is dropped.
pub(super) struct SubscriptionGuard {
    subscribed: Arc<SubscribedUris>,
    uri: String,
}

impl SubscribedUris {
    pub(super) fn add(subscribed: &Arc<Self>, uri: &str) -> SubscriptionGuard {
        let mut states = subscribed.0.lock();
        states.entry(uri.to_owned()).or_default().subscriptions += 1;
        SubscriptionGuard {
            subscribed: Arc::clone(subscribed),
            uri: uri.to_owned(),
        }
    }

    /// Records the stamp at the start of a subscription.
    pub(super) fn record_initial(&self, uri: &str, stamp: Option<FileStamp>) {
        if let Some(state) = self.0.lock().get_mut(uri) {
            state.last_stamp.get_or_insert(stamp);
        }
    }

    /// The URIs that changed. `check` gets a URI and its last stamp, and returns the new one if it
    /// differs.
    pub(super) fn changed(
        &self,
        check: impl Fn(&str, Option<FileStamp>) -> Option<Option<FileStamp>>,
    ) -> Vec<String> {
        // No lock is held during the checks, which access the file system.
        let states = self.0.lock();
        let last_stamps: Vec<_> = states
            .iter()
            .filter_map(|(uri, state)| Some((uri.clone(), state.last_stamp?)))
            .collect();
        drop(states);
        let mut changed = Vec::new();
        for (uri, last_stamp) in last_stamps {
            let Some(stamp) = check(&uri, last_stamp) else {
                continue;
            };
            if let Some(state) = self.0.lock().get_mut(&uri) {
                state.last_stamp = Some(stamp);
            }
            changed.push(uri);
        }
        changed
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        let mut states = self.subscribed.0.lock();
        if let Some(state) = states.get_mut(&self.uri) {
            state.subscriptions -= 1;
            if state.subscriptions == 0 {
                states.remove(&self.uri);
            }
        }
    }
}
