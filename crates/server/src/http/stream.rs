//! OutgoingMessages as the body of a response, with a comment now and then so that a silent stream stays open.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tidegate_mcp::{OutgoingMessage, sse};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::frames::OutgoingMessages;
use crate::session::Reader;

/// How long a client should wait before it comes back.
const RETRY: Duration = Duration::from_secs(1);

/// OutgoingMessages that belong to this connection alone. When it goes, they go.
pub(super) fn owned(
    first: Option<OutgoingMessage>,
    frames: OutgoingMessages,
    keep_alive: Duration,
) -> Body {
    let first = stream::iter(first.map(|frame| event(None, &frame)));
    let rest = stream::unfold(frames, move |mut frames| async move {
        match timeout(keep_alive, frames.next()).await {
            Ok(Some(frame)) => Some((event(None, &frame), frames)),
            Ok(None) => None,
            Err(_) => Some((Bytes::from_static(sse::KEEP_ALIVE.as_bytes()), frames)),
        }
    });
    Body::from_stream(first.chain(rest).map(Ok::<_, Infallible>))
}

/// How a stream of a session begins.
pub(super) struct Opening {
    /// Whether it begins with an id to come back with.
    pub(super) primed: bool,
    /// What was read of it already.
    pub(super) first: Option<(u64, std::sync::Arc<OutgoingMessage>)>,
    /// The room it takes, where it takes room of its own.
    pub(super) room: Option<OwnedSemaphorePermit>,
}

/// OutgoingMessages of a session. They stay with the session when the connection goes.
pub(super) fn shared(opening: Opening, reader: Reader, keep_alive: Duration) -> Body {
    let seq = opening
        .first
        .as_ref()
        .map_or(reader.position(), |(seq, _)| seq - 1);
    let priming = opening
        .primed
        .then(|| sse::encode_priming(&reader.event_id(seq), RETRY).into());
    let first = opening
        .first
        .map(|(seq, frame)| event(Some(&reader.event_id(seq)), &frame));
    let start = stream::iter([priming, first].into_iter().flatten());
    let rest = stream::unfold(
        (reader, opening.room),
        move |(mut reader, room)| async move {
            match timeout(keep_alive, reader.next()).await {
                Ok(Some((seq, frame))) => {
                    let bytes = event(Some(&reader.event_id(seq)), &frame);
                    Some((bytes, (reader, room)))
                }
                Ok(None) => None,
                Err(_) => Some((
                    Bytes::from_static(sse::KEEP_ALIVE.as_bytes()),
                    (reader, room),
                )),
            }
        },
    );
    Body::from_stream(start.chain(rest).map(Ok::<_, Infallible>))
}

fn event(id: Option<&str>, frame: &OutgoingMessage) -> Bytes {
    sse::encode_message(id, frame.json()).into()
}
