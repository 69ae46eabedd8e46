//! What a session is subscribed to. Each has its own stream of changes; of two that cover the same
//! change, the nearer one tells it.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Result, covering_uris};
use tokio_util::sync::CancellationToken;

use crate::subscribe::too_many;

pub(crate) struct Subscriptions {
    most: usize,
    all: Mutex<HashMap<String, Subscription>>,
}

struct Subscription {
    ended: CancellationToken,
    /// Whether its changes are heard already.
    has_begun: bool,
}

impl Subscriptions {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            all: Mutex::default(),
        }
    }

    /// Notes a subscription; the token ends it. None if it is there already.
    pub(crate) fn add(
        &self,
        uri: &str,
        session: &CancellationToken,
    ) -> Result<Option<CancellationToken>> {
        let mut all = self.lock();
        if all.contains_key(uri) {
            return Ok(None);
        }
        if all.len() >= self.most {
            return Err(too_many(self.most));
        }
        let ended = session.child_token();
        let subscription = Subscription {
            ended: ended.clone(),
            has_begun: false,
        };
        all.insert(uri.to_owned(), subscription);
        Ok(Some(ended))
    }

    /// Ends a subscription; one that is not there is nothing.
    pub(crate) fn remove(&self, uri: &str) {
        if let Some(subscription) = self.lock().remove(uri) {
            subscription.ended.cancel();
        }
    }

    /// The changes of this one are heard from now on, unless it has ended.
    pub(crate) fn begin(&self, uri: &str, ended: &CancellationToken) {
        let mut all = self.lock();
        let subscription = all.get_mut(uri).filter(|_| !ended.is_cancelled());
        if let Some(subscription) = subscription {
            subscription.has_begun = true;
        }
    }

    /// Whether this one is the nearest to what changed.
    pub(crate) fn is_nearest(&self, uri: &str, changed: &str) -> bool {
        let all = self.lock();
        let begun = |uri: &str| all.get(uri).is_some_and(|one| one.has_begun);
        !covering_uris(changed).any(|nearer| nearer.len() > uri.len() && begun(nearer))
    }

    /// Whether some subscription covers what changed.
    pub(crate) fn cover(&self, changed: &str) -> bool {
        let all = self.lock();
        covering_uris(changed).any(|uri| all.contains_key(uri))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Subscription>> {
        self.all.lock()
    }
}
