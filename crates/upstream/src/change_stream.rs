//! Makes a server send its changes and the updates of subscribed resources: a change stream in the
//! modern era, subscriptions in the legacy era. The notifications are pushed to the queue of the
//! connection.

pub(crate) mod extensions;
pub(crate) mod tasks;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, pending};
use tidegate_core::{Change, ChangeFilter};
use tidegate_mcp::revision::client::{OutboundRequest, ServerNotification, modern_headers};
use tidegate_mcp::{Era, ResponseBody};

use crate::backoff::Backoff;
use crate::resource_subscriptions::RequestedSubscriptions;
use crate::session::era_detection::{DetectedEra, discover};
use crate::session::own_requests::send_request;
use crate::session::{Connection, ResponseStream, ServerMessage};

/// Concurrent change streams of clients to one server.
pub(crate) const MAX_CLIENT_STREAMS: usize = 256;

/// How long a server may take to acknowledge a change stream.
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
    let mut backoff = Backoff::for_streams();
    loop {
        tokio::select! {
            message = messages.next() => match message {
                Some(Ok(ServerMessage::Notification(notification))) => {
                    backoff.reset();
                    confirm(connection, &known, subscriptions);
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
                    let (stream, has_begun) = reopen_stream(connection, &known).await;
                    messages = stream;
                    if has_begun {
                        backoff.reset();
                        confirm(connection, &known, subscriptions);
                    }
                    push_missed(connection, &known);
                }
            },
            uris = subscriptions.changed_from(&known) => {
                let (stream, has_begun) = reopen_stream(connection, &uris).await;
                messages = stream;
                if has_begun {
                    confirm(connection, &uris, subscriptions);
                }
                known = uris;
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

/// Opens a stream and waits for its first message. Returns whether the stream has begun.
async fn reopen_stream(connection: &Connection, uris: &BTreeSet<String>) -> (ResponseStream, bool) {
    let mut messages = open_stream(connection, uris);
    match tokio::time::timeout(ACKNOWLEDGE_TIMEOUT, messages.next()).await {
        Ok(Some(Ok(ServerMessage::Notification(notification)))) => {
            push(connection, notification);
            (messages, true)
        }
        Ok(Some(last)) => (stream::iter([last]).boxed(), false),
        Ok(None) | Err(_) => (messages, false),
    }
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
        let uris = subscriptions.changed_from(&known).await;
        for uri in uris.difference(&known) {
            send(connection, encoder.subscribe(connection.ids.next(), uri)).await;
        }
        confirm(connection, &uris, subscriptions);
        for uri in known.difference(&uris) {
            send(connection, encoder.unsubscribe(connection.ids.next(), uri)).await;
        }
        known = uris;
    }
}

async fn send(connection: &Connection, request: OutboundRequest) {
    let channel = connection.channel.as_ref();
    send_request(channel, request, Vec::new()).await.ok();
}
