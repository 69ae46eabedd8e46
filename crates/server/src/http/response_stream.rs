//! The form of a response: one JSON body if the response is the first message, otherwise a stream of
//! server-sent events. Silent streams get comments, so that proxies keep them open.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tidegate_mcp::{Era, sse};
use tokio::time::{Instant, timeout, timeout_at};

use super::{Http, respond};
use crate::outgoing::{Outgoing, OutgoingMessageStream};
use crate::session::{ReplayReader, Session};
use crate::shared_pool::SharedPermit;

/// How long a call of a session may take before its client gets a stream that it can resume.
const JSON_DEADLINE: Duration = Duration::from_millis(500);

/// How long a client should wait before it reconnects.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// The response of a call that belongs to its connection: closing the connection cancels the call.
pub(super) async fn connection_response(
    http: &Http,
    era: Era,
    mut messages: OutgoingMessageStream,
) -> Response {
    let keep_alive = http.transports.limits.keep_alive_interval;
    let first = match timeout(keep_alive, messages.next()).await {
        Ok(Some(response)) if response.is_response() => {
            return respond::json(http.error_status, era, response);
        }
        Ok(first) => first,
        Err(_) => None,
    };
    let first = stream::iter(first.map(|message| event(None, &message)));
    let rest = stream::unfold(messages, move |mut messages| async move {
        match timeout(keep_alive, messages.next()).await {
            Ok(Some(message)) => Some((event(None, &message), messages)),
            Ok(None) => None,
            Err(_) => Some((keep_alive_comment(), messages)),
        }
    });
    let events = first.chain(rest).map(Ok::<_, Infallible>);
    respond::events(Body::from_stream(events))
}

/// The response that a session's client expects if no notification is sent first.
pub(super) enum SessionResponse {
    Single,
    /// An array with this many responses.
    Batch(usize),
}

impl SessionResponse {
    fn count(&self) -> usize {
        match self {
            Self::Single => 1,
            Self::Batch(count) => *count,
        }
    }

    fn json(&self, http: &Http, responses: &[Arc<Outgoing>]) -> Response {
        match (self, responses) {
            (Self::Single, [response]) => {
                respond::shared_json(http.error_status, Era::Legacy, response)
            }
            _ => {
                let responses: Vec<_> = responses.iter().map(|message| message.json()).collect();
                respond::json_array(&responses)
            }
        }
    }
}

/// The response of a call that belongs to a session: the call continues if the connection is lost, and
/// the client can resume the stream.
pub(super) async fn session_response(
    http: &Http,
    session: &Arc<Session>,
    mut messages: OutgoingMessageStream,
    kind: SessionResponse,
) -> Response {
    let buffer = session.open_stream();
    let mut reader = buffer.reader();
    let writer = Arc::clone(&buffer);
    http.transports.tasks.spawn(async move {
        while let Some(message) = messages.next().await {
            writer.push(message);
        }
        writer.finish();
    });
    let deadline = Instant::now() + JSON_DEADLINE;
    let mut responses = Vec::new();
    let first = loop {
        match timeout_at(deadline, reader.next()).await {
            Ok(Some((_, message))) if message.is_response() => {
                responses.push(message);
                if responses.len() == kind.count() {
                    session.close_stream(&buffer);
                    return kind.json(http, &responses);
                }
            }
            // Cancelled before the first message, so there is nothing to resume.
            Ok(None) if responses.is_empty() => {
                session.close_stream(&buffer);
                return respond::accepted();
            }
            Ok(first) => break first,
            Err(_) => break None,
        }
    };
    // Responses of a batch that were already read are part of the stream.
    let (reader, first) = match responses.is_empty() {
        true => (reader, first),
        false => (reader.restart(), None),
    };
    let start = StreamStart {
        is_primed: session.revision.primes_streams(),
        first,
        permit: None,
    };
    session_stream(http, start, reader)
}

/// How a stream of a session starts.
pub(super) struct StreamStart {
    /// Whether the first event is empty and only has an id, so that the client can resume from it.
    pub(super) is_primed: bool,
    /// A message that was already read.
    pub(super) first: Option<(u64, Arc<Outgoing>)>,
    /// Held while the stream is open.
    pub(super) permit: Option<SharedPermit>,
}

/// A stream of a session, whose events have ids to resume from.
pub(super) fn session_stream(http: &Http, start: StreamStart, reader: ReplayReader) -> Response {
    let keep_alive = http.transports.limits.keep_alive_interval;
    let StreamStart {
        is_primed,
        first,
        permit,
    } = start;
    let position = match &first {
        Some((sequence, _)) => sequence - 1,
        None => reader.position(),
    };
    let priming =
        is_primed.then(|| sse::encode_priming(&reader.event_id(position), RECONNECT_DELAY).into());
    let first = first.map(|(sequence, message)| event(Some(&reader.event_id(sequence)), &message));
    let start = stream::iter([priming, first].into_iter().flatten());
    let rest = stream::unfold((reader, permit), move |(mut reader, permit)| async move {
        let bytes = match timeout(keep_alive, reader.next()).await {
            Ok(Some((sequence, message))) => event(Some(&reader.event_id(sequence)), &message),
            Ok(None) => return None,
            Err(_) => keep_alive_comment(),
        };
        Some((bytes, (reader, permit)))
    });
    let events = start.chain(rest).map(Ok::<_, Infallible>);
    respond::events(Body::from_stream(events))
}

fn event(id: Option<&str>, message: &Outgoing) -> Bytes {
    sse::encode_message(id, message.json()).into()
}

pub(super) fn keep_alive_comment() -> Bytes {
    Bytes::from_static(sse::KEEP_ALIVE.as_bytes())
}
