//! The resource subscriptions of a session. A subscription also covers the resources below its URI; if
//! several cover a resource, the most specific one delivers its updates.

use std::collections::HashMap;

use parking_lot::Mutex;
use tidegate_core::{Code, Error, Result, covering_uris};
use tokio_util::sync::CancellationToken;

pub(crate) struct Subscriptions {
    limit: usize,
    by_uri: Mutex<HashMap<String, Subscription>>,
}

struct Subscription {
    cancelled: CancellationToken,
    /// Whether its updates are being delivered.
    is_active: bool,
}

impl Subscriptions {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            by_uri: Mutex::default(),
        }
    }

    /// Adds a subscription and returns the token that ends it; `None` if it exists already.
    pub(crate) fn add(
        &self,
        uri: &str,
        session: &CancellationToken,
    ) -> Result<Option<CancellationToken>> {
        let mut by_uri = self.by_uri.lock();
        if by_uri.contains_key(uri) {
            return Ok(None);
        }
        if by_uri.len() >= self.limit {
            return Err(too_many_subscriptions(self.limit));
        }
        let cancelled = session.child_token();
        let subscription = Subscription {
            cancelled: cancelled.clone(),
            is_active: false,
        };
        by_uri.insert(uri.to_owned(), subscription);
        Ok(Some(cancelled))
    }

    /// Ends a subscription, if there is one.
    pub(crate) fn remove(&self, uri: &str) {
        if let Some(subscription) = self.by_uri.lock().remove(uri) {
            subscription.cancelled.cancel();
        }
    }

    /// Marks a subscription as delivering, unless it was cancelled.
    pub(crate) fn activate(&self, uri: &str, cancelled: &CancellationToken) {
        let mut by_uri = self.by_uri.lock();
        let subscription = by_uri.get_mut(uri).filter(|_| !cancelled.is_cancelled());
        if let Some(subscription) = subscription {
            subscription.is_active = true;
        }
    }

    /// Whether no other active subscription covers `updated` more specifically than `uri`.
    pub(crate) fn is_most_specific(&self, uri: &str, updated: &str) -> bool {
        let by_uri = self.by_uri.lock();
        let is_active = |uri: &str| by_uri.get(uri).is_some_and(|known| known.is_active);
        !covering_uris(updated).any(|other| other.len() > uri.len() && is_active(other))
    }

    /// Whether any subscription covers `updated`.
    pub(crate) fn covers(&self, updated: &str) -> bool {
        let by_uri = self.by_uri.lock();
        covering_uris(updated).any(|uri| by_uri.contains_key(uri))
    }
}

pub(crate) fn too_many_subscriptions(limit: usize) -> Error {
    let message = format!("limit of subscriptions reached ({limit} resources and tasks)");
    Error::client(Code::InvalidParams, message)
}
