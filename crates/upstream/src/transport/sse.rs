//! The HTTP+SSE transport of 2024: one stream for everything the server sends, and an
//! address, announced in its first event, that messages are posted to.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tidegate_core::Result;
use tidegate_mcp::sse::{SseDecoder, SseEvent};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::http::{Endpoint, resolve_same_origin};
use super::outgoing::flush_timeout;
use super::{MessageSink, OutgoingMessages};
use crate::error::source_failed;

/// How long a server may take to accept a posted message.
const POST_TIMEOUT: Duration = Duration::from_secs(10);

/// An open event stream, and where to post.
pub(crate) struct SseStream {
    events: Events,
    post_endpoint: Endpoint,
}

/// Opens the event stream and waits for the address to post to.
pub(crate) async fn open(endpoint: &Endpoint, max_message_bytes: usize) -> Result<SseStream> {
    let response = endpoint
        .send(Method::GET, Vec::new(), String::new())
        .await?;
    if !(response.status.is_success() && response.is_event_stream) {
        return Err(source_failed(
            "the source does not support the SSE transport of 2024 either",
        ));
    }
    let mut events = Events {
        body: response.body,
        decoder: SseDecoder::new(max_message_bytes),
        decoded: Vec::new().into_iter(),
    };
    let address = loop {
        match events.next().await {
            Some(event) if event.name.as_deref() == Some("endpoint") => break event.data,
            Some(_) => {}
            None => return Err(source_failed("the source sent no `endpoint` event")),
        }
    };
    // Credentials and messages go to the configured origin only.
    let address = resolve_same_origin(endpoint.url(), &address).map_err(|origin| {
        source_failed("the source's `endpoint` event names a foreign origin")
            .with_cause(format!("it names {origin}"))
    })?;
    Ok(SseStream {
        events,
        post_endpoint: endpoint.at(address),
    })
}

impl SseStream {
    /// Carries messages both ways until `closed`. The queued messages are posted in one of the
    /// `background_tasks`.
    pub(crate) fn run(
        self,
        outgoing: OutgoingMessages,
        sink: impl MessageSink,
        closed: CancellationToken,
        background_tasks: &TaskTracker,
    ) {
        let posted = CancellationToken::new();
        let posting = post_all(
            self.post_endpoint,
            outgoing,
            closed.clone(),
            posted.clone().drop_guard(),
        );
        background_tasks.spawn(posting);
        tokio::spawn(receive(self.events, sink, closed, posted));
    }
}

/// Posts every message. Dropping `_posted` ends the event stream.
async fn post_all(
    endpoint: Endpoint,
    outgoing: OutgoingMessages,
    closed: CancellationToken,
    _posted: DropGuard,
) {
    tokio::select! {
        () = flush_timeout(&closed) => {}
        () = post(endpoint, outgoing) => closed.cancel(),
    }
}

/// Returns when the queue ends, or when the server does not accept a message.
async fn post(endpoint: Endpoint, mut outgoing: OutgoingMessages) {
    while let Some(message) = outgoing.next().await {
        let sent = endpoint.send(Method::POST, Vec::new(), message.json);
        match timeout(POST_TIMEOUT, sent).await {
            Ok(Ok(response)) if response.status.is_success() => {}
            _ => return,
        }
    }
}

/// Reads the event stream until everything is posted: the stream is the session, and a message to a
/// session that has ended would be lost.
async fn receive(
    mut events: Events,
    sink: impl MessageSink,
    closed: CancellationToken,
    posted: CancellationToken,
) {
    loop {
        let event = tokio::select! {
            () = posted.cancelled() => break,
            event = events.next() => event,
        };
        match event {
            Some(event) if event.data.is_empty() => {}
            Some(event) => sink.receive(&Bytes::from(event.data)),
            None => break,
        }
    }
    closed.cancel();
    sink.end();
}

/// The events of a response body.
struct Events {
    body: Incoming,
    decoder: SseDecoder,
    decoded: std::vec::IntoIter<SseEvent>,
}

impl Events {
    async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.decoded.next() {
                return Some(event);
            }
            let frame = self.body.frame().await?.ok()?;
            let data = frame.into_data().unwrap_or_default();
            self.decoded = self.decoder.push(&data).ok()?.into_iter();
        }
    }
}
