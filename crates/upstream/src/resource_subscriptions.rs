//! Reference-counted resource subscriptions: the server is subscribed once per URI, however many
//! clients are. The server decides which subscriptions it accepts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{Error, ResourceSubscription, Result};
use tidegate_mcp::RpcError;
use tidegate_mcp::revision::client::parse_error;
use tokio::sync::watch;

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
    /// URIs that the server refused, and its error if it sent one.
    refused: BTreeMap<String, Option<RpcError>>,
}

impl Confirmed {
    /// Whether the server accepted a URI; `None` if it has not answered.
    fn decision(&self, uri: &str) -> Option<Result<()>> {
        match self.refused.get(uri) {
            Some(Some(error)) => Some(Err(parse_error(Some(uri), error.clone()))),
            Some(None) => Some(Err(Error::not_subscribable(uri))),
            None => self.uris.contains(uri).then_some(Ok(())),
        }
    }
}

impl ResourceSubscriptions {
    /// Adds a subscriber, until the subscription is dropped. If the server does not answer within
    /// `timeout`, the subscription is reported as established, and an update is sent once it really is.
    pub(crate) fn add(&self, uri: &str, timeout: Duration) -> ResourceSubscription {
        let requested = &self.0.requested;
        requested.send_modify(|requested| *requested.entry(uri.to_owned()).or_default() += 1);
        let guard = SubscriberGuard {
            subscriptions: self.clone(),
            uri: uri.to_owned(),
        };
        let (subscriptions, uri) = (self.clone(), uri.to_owned());
        ResourceSubscription::refusable(guard, async move {
            let mut confirmed = subscriptions.0.confirmed.subscribe();
            let decided = confirmed.wait_for(|confirmed| confirmed.decision(&uri).is_some());
            let decided = tokio::time::timeout(timeout, decided).await;
            let decision = decided.ok().and_then(|it| it.ok()?.decision(&uri));
            decision.unwrap_or_else(|| {
                subscriptions.promise(uri);
                Ok(())
            })
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

    /// Removes a subscriber. A refused URI without subscribers is requested again by the next one.
    fn remove(&self, uri: &str) {
        let mut is_last = false;
        self.0.requested.send_modify(|requested| {
            if let Some(count) = requested.get_mut(uri) {
                *count -= 1;
                is_last = *count == 0;
            }
            if is_last {
                requested.remove(uri);
            }
        });
        if is_last {
            self.0.confirmed.send_if_modified(|confirmed| {
                confirmed.refused.remove(uri);
                false
            });
        }
    }

    /// The URIs that have subscribers.
    pub(crate) fn uris(&self) -> BTreeSet<String> {
        self.0.requested.borrow().keys().cloned().collect()
    }

    /// The subscriptions for a new connection, on which no subscription is confirmed yet.
    pub(crate) fn follow(&self) -> RequestedSubscriptions {
        self.0.confirmed.send_modify(|confirmed| {
            confirmed.uris.clear();
            confirmed.refused.clear();
        });
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

    /// The requested URIs, without those that the server refused.
    pub(crate) fn uris(&mut self) -> BTreeSet<String> {
        let requested = self.requested.borrow_and_update();
        let mut uris: BTreeSet<_> = requested.keys().cloned().collect();
        drop(requested);
        let confirmed = self.subscriptions.0.confirmed.borrow();
        uris.retain(|uri| !confirmed.refused.contains_key(uri));
        uris
    }

    /// Records that the server refuses these URIs.
    pub(crate) fn refuse(&self, refused: BTreeMap<String, Option<RpcError>>) {
        let shared = &self.subscriptions.0;
        shared.confirmed.send_if_modified(|confirmed| {
            let requested = shared.requested.borrow();
            let refused = refused.into_iter();
            let refused = refused.filter(|(uri, _)| requested.contains_key(uri));
            confirmed.refused.extend(refused);
            true
        });
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
        let first = subscriptions.add("a", Duration::ZERO);
        let second = subscriptions.add("a", Duration::ZERO);
        assert_eq!(subscriptions.uris(), uris(["a"]));
        drop(first);
        assert_eq!(subscriptions.uris(), uris(["a"]));
        drop(second);
        assert_eq!(subscriptions.uris(), uris([]));
    }

    #[tokio::test(start_paused = true)]
    async fn an_update_may_be_missed_where_a_subscription_was_reported_too_early() {
        let subscriptions = ResourceSubscriptions::default();
        let _a = subscriptions.add("a", Duration::ZERO);
        let requested = subscriptions.follow();
        subscriptions.promise("a".to_owned());
        assert_eq!(requested.confirm(&uris(["a"])), uris(["a"]));
        assert_eq!(requested.confirm(&uris(["a"])), uris([]), "reported once");
    }

    #[tokio::test]
    async fn a_refused_uri_is_requested_again_by_the_next_subscriber() {
        let subscriptions = ResourceSubscriptions::default();
        let mut requested = subscriptions.follow();
        let first = subscriptions.add("a", Duration::from_secs(5));
        requested.refuse([("a".to_owned(), None)].into());
        assert_eq!(requested.uris(), uris([]));
        drop(first);
        let _second = subscriptions.add("a", Duration::from_secs(5));
        assert_eq!(requested.uris(), uris(["a"]));
    }
}
