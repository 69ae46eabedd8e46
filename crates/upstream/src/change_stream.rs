//! Makes a server send its changes and the updates of subscribed resources: a change stream in the
//! modern era, subscriptions in the legacy era. The notifications are pushed to the queue of the
//! connection.

pub(crate) mod extensions;
pub(crate) mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, pending};
use tidegate_core::{Change, ChangeFilter};
use tidegate_mcp::revision::client::{OutboundRequest, ServerNotification, modern_headers};
use tidegate_mcp::{Era, ResponseBody, RpcError};

use crate::backoff::Backoff;
use crate::resource_subscriptions::RequestedSubscriptions;
use crate::session::era_detection::{DetectedEra, discover};
use crate::session::own_requests::send_request;
use crate::session::{Connection, ResponseStream, ServerMessage};

/// Concurrent change streams of clients to one server.
pub(crate) const MAX_CLIENT_STREAMS: usize = 256;

/// How long a server may take to acknowledge a change stream or a subscription.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests changes for as long as it is polled. Returns when the server has changed its era.
pub(crate) async fn run(connection: &Connection, mut subscriptions: RequestedSubscriptions) {
    match connection.facts.revision.era() {
        Era::Modern => listen(connection, &mut subscriptions).await,
        Era::Legacy => subscribe(connection, &mut subscriptions).await,
    }
}

/// Keeps a change stream open. The filter of a stream cannot be changed: another filter is another
/// stream, and the old stream stays open until the new one is established.
async fn listen(connection: &Connection, subscriptions: &mut RequestedSubscriptions) {
    let mut known = subscriptions.uris();
    let mut messages = open_stream(connection, &known);
    let mut has_begun = false;
    let mut backoff = Backoff::for_streams();
    loop {
        tokio::select! {
            message = messages.next() => match message {
                Some(Ok(ServerMessage::Notification(notification))) => {
                    backoff.reset();
                    if !has_begun {
                        has_begun = true;
                        begin(connection, &mut known, &notification, subscriptions);
                    }
                    push(connection, notification);
                }
                Some(Ok(ServerMessage::Response(ResponseBody::Error(error))))
                    if error.is_unknown_method() =>
                {
                    messages = pending().boxed();
                }
                _ => {
                    tokio::time::sleep(backoff.delay()).await;
                    if !is_still_modern(connection).await {
                        return;
                    }
                    let (stream, first) = reopen_stream(connection, &known).await;
                    messages = stream;
                    has_begun = first.is_some();
                    if let Some(first) = first {
                        backoff.reset();
                        begin(connection, &mut known, &first, subscriptions);
                        push(connection, first);
                    }
                    push_missed(connection, &known);
                }
            },
            uris = subscriptions.changed_from(&known) => {
                let (stream, first) = reopen_stream(connection, &uris).await;
                messages = stream;
                known = uris;
                has_begun = first.is_some();
                if let Some(first) = first {
                    begin(connection, &mut known, &first, subscriptions);
                    push(connection, first);
                }
            }
        }
    }
}

/// Whether the server is reachable and still modern: a stream may end because the server was replaced.
async fn is_still_modern(connection: &Connection) -> bool {
    let detected = discover(connection.channel.as_ref(), &connection.ids, false).await;
    matches!(detected, Ok(DetectedEra::Modern(_)))
}

fn push(connection: &Connection, notification: ServerNotification) {
    if let ServerNotification::Change(change) = notification {
        connection.notifications.push(change);
    }
}

fn push_update(connection: &Connection, uri: &str) {
    let change = Change::ResourceUpdated(uri.into());
    connection.notifications.push(change);
}

/// Opens a stream and waits for the notification that it begins with.
async fn reopen_stream(
    connection: &Connection,
    uris: &BTreeSet<String>,
) -> (ResponseStream, Option<ServerNotification>) {
    let mut messages = open_stream(connection, uris);
    match tokio::time::timeout(ACKNOWLEDGE_TIMEOUT, messages.next()).await {
        Ok(Some(Ok(ServerMessage::Notification(first)))) => (messages, Some(first)),
        Ok(Some(last)) => (stream::iter([last]).boxed(), None),
        Ok(None) | Err(_) => (messages, None),
    }
}

/// Applies the first notification of a stream. An acknowledgement says which URIs the server accepts;
/// `known` becomes these.
fn begin(
    connection: &Connection,
    known: &mut BTreeSet<String>,
    first: &ServerNotification,
    subscriptions: &RequestedSubscriptions,
) {
    if let ServerNotification::Acknowledged {
        uris: Some(accepted),
        ..
    } = first
    {
        let refused = known.extract_if(.., |uri| !accepted.contains(uri));
        subscriptions.refuse(refused.map(|uri| (uri, None)).collect());
    }
    confirm(connection, known, subscriptions);
}

/// Anything may have changed while there was no stream. One list stands for all, because they are
/// refreshed together.
fn push_missed(connection: &Connection, uris: &BTreeSet<String>) {
    connection.notifications.push(Change::Tools);
    for uri in uris {
        push_update(connection, uri);
    }
}

/// Records that the server sends updates for these URIs, and pushes updates that may have been
/// missed.
fn confirm(
    connection: &Connection,
    uris: &BTreeSet<String>,
    subscriptions: &RequestedSubscriptions,
) {
    for uri in subscriptions.confirm(uris) {
        push_update(connection, &uri);
    }
}

fn open_stream(connection: &Connection, uris: &BTreeSet<String>) -> ResponseStream {
    let features = connection.facts.features;
    let filter = ChangeFilter {
        tools: features.tools,
        prompts: features.prompts,
        resources: features.resources,
        uris: uris.clone(),
        ..ChangeFilter::default()
    };
    if filter == ChangeFilter::default() {
        return pending().boxed();
    }
    let encoder = connection.gateway_encoder();
    let request = encoder.listen(connection.ids.next(), &filter);
    let headers = modern_headers(encoder.revision, &request, None);
    connection.channel.request(request, headers)
}

/// Subscribes to the URIs that have subscribers, and unsubscribes from URIs without subscribers.
async fn subscribe(connection: &Connection, subscriptions: &mut RequestedSubscriptions) {
    if !connection.facts.features.subscribe {
        return std::future::pending().await;
    }
    let encoder = connection.gateway_encoder();
    let mut known = BTreeSet::new();
    loop {
        let mut uris = subscriptions.changed_from(&known).await;
        let mut refused = BTreeMap::new();
        for uri in uris.difference(&known) {
            let request = encoder.subscribe(connection.ids.next(), uri);
            if let Err(error) = send(connection, request).await {
                refused.insert(uri.clone(), Some(error));
            }
        }
        uris.retain(|uri| !refused.contains_key(uri));
        subscriptions.refuse(refused);
        confirm(connection, &uris, subscriptions);
        for uri in known.difference(&uris) {
            let request = encoder.unsubscribe(connection.ids.next(), uri);
            send(connection, request).await.ok();
        }
        known = uris;
    }
}

/// Sends a request. Returns the error of the server; a server that does not answer has accepted.
async fn send(connection: &Connection, request: OutboundRequest) -> Result<(), RpcError> {
    let response = send_request(connection.channel.as_ref(), request, Vec::new());
    match tokio::time::timeout(ACKNOWLEDGE_TIMEOUT, response).await {
        Ok(Ok(response)) => response.map(drop),
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}
