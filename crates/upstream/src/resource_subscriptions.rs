//! Reference-counted resource subscriptions: the server is subscribed once per URI, however many
//! clients are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::ResourceSubscription;
use tokio::sync::watch;

/// How long a new subscriber waits for the server to confirm. After that the subscription is reported
/// as established, and an update is sent once it really is.
const CONFIRM_TIMEOUT: Duration = Duration::from_millis(500);

/// The subscribed resources, with the number of subscribers.
#[derive(Clone, Default)]
pub(crate) struct ResourceSubscriptions(Arc<SubscriptionState>);

#[derive(Default)]
struct SubscriptionState {
    requested: watch::Sender<BTreeMap<String, usize>>,
    confirmed: watch::Sender<Confirmed>,
}

/// What the server sends updates for.
#[derive(Default)]
struct Confirmed {
    uris: BTreeSet<String>,
    /// URIs whose subscriptions were reported as established too early.
    promised: BTreeSet<String>,
}

impl ResourceSubscriptions {
    /// Adds a subscriber, until the subscription is dropped.
    pub(crate) fn add(&self, uri: &str) -> ResourceSubscription {
        let requested = &self.0.requested;
        requested.send_modify(|requested| *requested.entry(uri.to_owned()).or_default() += 1);
        let guard = SubscriberGuard {
            subscriptions: self.clone(),
            uri: uri.to_owned(),
        };
        let (subscriptions, uri) = (self.clone(), uri.to_owned());
        ResourceSubscription::new(guard, async move {
            let mut confirmed = subscriptions.0.confirmed.subscribe();
            let confirmed = confirmed.wait_for(|confirmed| confirmed.uris.contains(&uri));
            if tokio::time::timeout(CONFIRM_TIMEOUT, confirmed)
                .await
                .is_err()
            {
                subscriptions.promise(uri);
            }
        })
    }

    /// Remembers that a subscription is reported as established before the server has confirmed.
    fn promise(&self, uri: String) {
        self.0.confirmed.send_if_modified(|confirmed| {
            if !confirmed.uris.contains(&uri) {
                confirmed.promised.insert(uri);
            }
            false
        });
    }

    fn remove(&self, uri: &str) {
        self.0.requested.send_modify(|requested| {
            if let Some(count) = requested.get_mut(uri) {
                *count -= 1;
                if *count == 0 {
                    requested.remove(uri);
                }
            }
        });
    }

    /// The URIs that have subscribers.
    pub(crate) fn uris(&self) -> BTreeSet<String> {
        self.0.requested.borrow().keys().cloned().collect()
    }

    /// The subscriptions for a new connection, on which no subscription is confirmed yet.
    pub(crate) fn follow(&self) -> RequestedSubscriptions {
        self.0
            .confirmed
            .send_modify(|confirmed| confirmed.uris.clear());
        RequestedSubscriptions {
            requested: self.0.requested.subscribe(),
            subscriptions: self.clone(),
        }
    }
}

struct SubscriberGuard {
    subscriptions: ResourceSubscriptions,
    uri: String,
}

impl Drop for SubscriberGuard {
    fn drop(&mut self) {
        self.subscriptions.remove(&self.uri);
    }
}

/// The subscriptions that one connection has to establish.
pub(crate) struct RequestedSubscriptions {
    requested: watch::Receiver<BTreeMap<String, usize>>,
    subscriptions: ResourceSubscriptions,
}

impl RequestedSubscriptions {
    pub(crate) fn requested_uris(&self) -> BTreeSet<String> {
        self.requested.borrow().keys().cloned().collect()
    }

    pub(crate) fn uris(&mut self) -> BTreeSet<String> {
        self.requested.borrow_and_update().keys().cloned().collect()
    }

    /// Records that the server sends updates for these URIs and no others. Returns the URIs for
    /// which an update may have been missed, because the subscription was reported too early.
    pub(crate) fn confirm(&self, uris: &BTreeSet<String>) -> BTreeSet<String> {
        let mut missed = BTreeSet::new();
        let shared = &self.subscriptions.0;
        shared.confirmed.send_modify(|confirmed| {
            let requested = shared.requested.borrow();
            let lost = confirmed.uris.difference(uris);
            let lost = lost.filter(|uri| requested.contains_key(*uri));
            confirmed.promised.extend(lost.cloned());
            confirmed.promised.retain(|uri| requested.contains_key(uri));
            let kept = confirmed.promised.extract_if(.., |uri| uris.contains(uri));
            missed = kept.collect();
            confirmed.uris.clone_from(uris);
        });
        missed
    }

    /// Waits until the requested URIs differ from `known`.
    pub(crate) async fn changed_from(&mut self, known: &BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let uris = self.uris();
            if uris != *known {
                return uris;
            }
            // The sender lives as long as the source.
            if self.requested.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uris<const N: usize>(uris: [&str; N]) -> BTreeSet<String> {
        uris.into_iter().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn a_uri_is_requested_while_it_has_subscribers() {
        let subscriptions = ResourceSubscriptions::default();
        let first = subscriptions.add("a");
        let second = subscriptions.add("a");
        assert_eq!(subscriptions.uris(), uris(["a"]));
        drop(first);
        assert_eq!(subscriptions.uris(), uris(["a"]));
        drop(second);
        assert_eq!(subscriptions.uris(), uris([]));
    }

    #[tokio::test(start_paused = true)]
    async fn an_update_may_be_missed_where_a_subscription_was_reported_too_early() {
        let subscriptions = ResourceSubscriptions::default();
        let _a = subscriptions.add("a");
        let requested = subscriptions.follow();
        subscriptions.promise("a".to_owned());
        assert_eq!(requested.confirm(&uris(["a"])), uris(["a"]));
        assert_eq!(requested.confirm(&uris(["a"])), uris([]), "reported once");
    }
}
