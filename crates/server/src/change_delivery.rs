//! Delivers changes to legacy sessions: from the change streams of the core to the standalone stream
//! of the session.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt};
use tidegate_core::{
    Change, ChangeFilter, Error, Event, EventStream, Gateway, GatewayOperation, Operation, RawJson,
    Reply, Request, Result,
};
use tidegate_mcp::revision::{Method, legacy_change_notification};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Transports;
use crate::requester::Requester;
use crate::session::{ReplayBuffer, Session, Subscriptions};

/// Events that are still processed after a subscription ended.
const MAX_EVENTS_AFTER_END: usize = 1_024;

/// Delivers `list_changed` notifications to a new session, until it ends.
pub(crate) async fn deliver_list_changes(
    transports: &Transports,
    requester: &Requester,
    session: &Session,
) {
    let operation = Operation::Gateway(GatewayOperation::Listen(ChangeFilter::all_lists()));
    let params = RawJson::empty_object();
    let request = requester.request(Method::Listen, operation, params, session.client());
    let Ok(Reply::Stream(changes)) = transports.gateway.handle(request).await else {
        return;
    };
    let (stream, ended) = (Arc::clone(&session.standalone), session.ended.clone());
    // Only the client that was asked is notified that a URL elicitation is complete.
    let (questions, affinity) = (Arc::clone(&session.questions), session.affinity);
    let changes = changes.filter(move |event| {
        let is_for_session = match event {
            Ok(Event::Change(Change::ElicitationComplete(id))) => {
                questions.complete_url_elicitation(id)
            }
            Ok(Event::Change(Change::Extension(notification))) => {
                notification.client.is_none_or(|client| client == affinity)
            }
            _ => true,
        };
        std::future::ready(is_for_session)
    });
    let mut changes = changes.boxed();
    transports.tasks.spawn(async move {
        while let Some(change) = next_change(&mut changes, &ended).await {
            let json = legacy_change_notification(&change);
            stream.push_coalesced(json.clone(), || json);
        }
    });
}

/// Whether a resource can be subscribed to.
pub(crate) enum Subscribed {
    /// Its updates are being delivered.
    Delivering,
    Refused(Error),
}

/// Delivers updates of a resource to a session, until `cancelled`.
pub(crate) async fn deliver_updates(
    gateway: &Gateway,
    tasks: &TaskTracker,
    session: &Session,
    request: Request,
    uri: &str,
    cancelled: CancellationToken,
) -> Result<Subscribed> {
    let Reply::Stream(mut changes) = gateway.handle(request).await? else {
        return Err(Error::internal("expected a change stream"));
    };
    match changes.next().await {
        Some(Ok(Event::Acknowledged { filter, .. })) if filter.uris.contains(uri) => {}
        Some(Ok(Event::Acknowledged { mut refused, .. })) => {
            let error = refused.pop().map(|(_, error)| error);
            let error = error.unwrap_or_else(|| Error::not_subscribable(uri));
            return Ok(Subscribed::Refused(error));
        }
        Some(Err(error)) => return Err(error),
        _ => return Ok(Subscribed::Refused(Error::not_subscribable(uri))),
    }
    session.subscriptions.activate(uri, &cancelled);
    // The task does not keep the session alive: a session ends when its owner drops it.
    let delivery = UpdateDelivery {
        stream: Arc::clone(&session.standalone),
        subscriptions: Arc::clone(&session.subscriptions),
        uri: uri.to_owned(),
    };
    tasks.spawn(async move { delivery.run(changes, &cancelled).await });
    Ok(Subscribed::Delivering)
}

/// The next change; `None` when the stream has ended or `cancelled`.
async fn next_change(changes: &mut EventStream, cancelled: &CancellationToken) -> Option<Change> {
    loop {
        let event = tokio::select! {
            () = cancelled.cancelled() => return None,
            event = changes.next() => event,
        };
        match event {
            Some(Ok(Event::Change(change))) => return Some(change),
            Some(Ok(Event::Done(_)) | Err(_)) | None => return None,
            Some(Ok(_)) => {}
        }
    }
}

/// Delivers the updates of one subscription.
struct UpdateDelivery {
    stream: Arc<ReplayBuffer>,
    /// All subscriptions of the session.
    subscriptions: Arc<Subscriptions>,
    uri: String,
}

impl UpdateDelivery {
    /// If several subscriptions cover a resource, only the most specific one delivers its updates.
    async fn run(&self, changes: EventStream, cancelled: &CancellationToken) {
        let mut changes = changes.fuse().boxed();
        while let Some(change) = next_change(&mut changes, cancelled).await {
            let is_delivered = match &change {
                Change::ResourceUpdated(updated) => {
                    self.subscriptions.is_most_specific(&self.uri, updated)
                }
                _ => true,
            };
            if is_delivered {
                self.push(&change);
            }
        }
        if cancelled.is_cancelled() {
            self.deliver_remaining(changes);
        }
    }

    /// Less specific subscriptions have left these updates to this one, which has just ended.
    fn deliver_remaining(&self, mut changes: EventStream) {
        for _ in 0..MAX_EVENTS_AFTER_END {
            let Some(Some(Ok(event))) = changes.next().now_or_never() else {
                return;
            };
            if let Event::Change(Change::ResourceUpdated(updated)) = event
                && self.subscriptions.covers(&updated)
            {
                self.push(&Change::ResourceUpdated(updated));
            }
        }
    }

    /// If too many updates are unread, one update of the subscribed URI replaces the updates below
    /// it.
    fn push(&self, change: &Change) {
        let whole =
            || legacy_change_notification(&Change::ResourceUpdated(self.uri.as_str().into()));
        self.stream
            .push_coalesced(legacy_change_notification(change), whole);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;
    use crate::TransportLimits;

    fn delivery(subscriptions: &Arc<Subscriptions>, uri: &str) -> UpdateDelivery {
        UpdateDelivery {
            stream: ReplayBuffer::new(1, &TransportLimits::default()),
            subscriptions: Arc::clone(subscriptions),
            uri: uri.to_owned(),
        }
    }

    fn updates(uris: &'static [&str]) -> EventStream {
        let updated = |uri: &&str| Ok(Event::Change(Change::ResourceUpdated((*uri).into())));
        stream::iter(uris.iter().map(updated)).boxed()
    }

    #[tokio::test]
    async fn only_the_most_specific_active_subscription_delivers_an_update() {
        let subscriptions = Arc::new(Subscriptions::new(3));
        let session = CancellationToken::new();
        let folder_cancelled = subscriptions.add("a://b", &session).unwrap().unwrap();
        subscriptions.activate("a://b", &folder_cancelled);
        let file_cancelled = subscriptions.add("a://b/c", &session).unwrap().unwrap();
        let folder = delivery(&subscriptions, "a://b");
        let mut reader = folder.stream.reader();
        let mut assert_next = |uri: &str| {
            let next = reader.next().now_or_never().expect("a buffered message");
            let (_, message) = next.unwrap();
            assert!(
                message.json().contains(&format!("\"{uri}\"")),
                "{}",
                message.json()
            );
        };
        // The subscription to the file is not active yet.
        folder.run(updates(&["a://b/c"]), &folder_cancelled).await;
        assert_next("a://b/c");
        subscriptions.activate("a://b/c", &file_cancelled);
        let three = updates(&["a://b/c", "a://b/c/d", "a://b/cd"]);
        folder.run(three, &folder_cancelled).await;
        assert_next("a://b/cd");
        subscriptions.remove("a://b/c");
        folder.run(updates(&["a://b/c"]), &folder_cancelled).await;
        assert_next("a://b/c");
    }

    #[tokio::test]
    async fn a_cancelled_subscription_delivers_its_remaining_updates_if_another_covers_them() {
        let subscriptions = Arc::new(Subscriptions::new(3));
        let session = CancellationToken::new();
        subscriptions.add("a://b", &session).unwrap();
        let cancelled = subscriptions.add("a://b/c", &session).unwrap().unwrap();
        let file = delivery(&subscriptions, "a://b/c");
        let remaining = updates(&["a://b/c"]).chain(stream::pending()).boxed();
        subscriptions.remove("a://b/c");
        file.run(remaining, &cancelled).await;
        let next = file.stream.reader().next().now_or_never();
        let (_, message) = next.expect("a buffered message").unwrap();
        assert!(message.json().contains("a://b/c"), "{}", message.json());
    }
}
