//! The body of an answer: one JSON value, several of them, or events. All are messages.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tidegate_core::Result;
use tidegate_mcp::revision::client::{said, unasked_answer};
use tidegate_mcp::{Inbound, Limits, Message, decode, sse};

use super::client::Response;
use super::{Shared, refused};
use crate::link::{Heard, Talk, unavailable};

const LIMITS: Limits = Limits {
    depth: 128,
    batch: 1024,
};

/// What the server says in answer to the request with this id.
pub(super) fn talk(response: Response, id: u64, shared: &Arc<Shared>) -> Talk {
    let status = response.status;
    let reader = Reader::new(response, shared.message_bytes);
    let shared = Arc::clone(shared);
    let heard = stream::unfold(Some((reader, shared)), move |state| async move {
        let (mut reader, shared) = state?;
        loop {
            match reader.next().await {
                Some(Ok(message)) => match hear(message, id, &shared).await {
                    Some(answer @ Heard::Answer(_)) => return Some((Ok(answer), None)),
                    Some(said) => return Some((Ok(said), Some((reader, shared)))),
                    None => {}
                },
                Some(Err(error)) => return Some((Err(error), None)),
                None if status.is_success() => {
                    let error = unavailable("the source ended its answer before it was complete");
                    return Some((Err(error), None));
                }
                None => return Some((Err(refused(status)), None)),
            }
        }
    });
    heard.boxed()
}

/// What a message means to this request; none if it is not for it.
async fn hear(message: Message, id: u64, shared: &Shared) -> Option<Heard> {
    match message {
        Message::Response {
            id: answered,
            answer,
        } if answered.key() == id.to_string() => Some(Heard::Answer(answer)),
        Message::Response { .. } => None,
        Message::Notification { method, params } => {
            Some(Heard::Said(said(&method, params.as_ref())))
        }
        Message::Request { id, method, .. } => {
            let answer = unasked_answer(&id, &method);
            shared.post(answer, Vec::new()).await.ok();
            None
        }
    }
}

/// Cuts a body into messages as its bytes arrive.
pub(super) struct Reader {
    body: Incoming,
    framing: Framing,
    ready: VecDeque<Message>,
    message_bytes: usize,
}

enum Framing {
    Events(sse::Decoder),
    /// JSON values, one after the other.
    Values(BytesMut),
}

impl Reader {
    pub(super) fn new(response: Response, message_bytes: usize) -> Self {
        let framing = match response.is_events {
            true => Framing::Events(sse::Decoder::new(message_bytes)),
            false => Framing::Values(BytesMut::new()),
        };
        Self {
            body: response.body,
            framing,
            ready: VecDeque::new(),
            message_bytes,
        }
    }

    /// The next message; none at the end.
    pub(super) async fn next(&mut self) -> Option<Result<Message>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(Ok(message));
            }
            let data = match self.body.frame().await {
                None => return None,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(cause)) => {
                    return Some(Err(
                        unavailable("the source broke off its answer").caused_by(cause)
                    ));
                }
            };
            if let Err(error) = self.push(&data) {
                return Some(Err(error));
            }
        }
    }

    fn push(&mut self, data: &Bytes) -> Result<()> {
        match &mut self.framing {
            Framing::Events(decoder) => {
                let events = decoder.push(data).map_err(|_| too_large())?;
                for event in events.into_iter().filter(|event| !event.data.is_empty()) {
                    self.take(event.data.into());
                }
            }
            Framing::Values(buffer) => {
                buffer.extend_from_slice(data);
                let mut values = Vec::new();
                while let Some(end) = complete_value(buffer) {
                    values.push(buffer.split_to(end).freeze());
                }
                if buffer.len() > self.message_bytes {
                    return Err(too_large());
                }
                values.into_iter().for_each(|value| self.take(value));
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: Bytes) {
        match decode(bytes, LIMITS) {
            Ok(Inbound::One(message)) => self.ready.push_back(message),
            Ok(Inbound::Batch(messages)) => self.ready.extend(messages.into_iter().flatten()),
            Err((_, error)) => {
                tracing::debug!(
                    error = error.message(),
                    "a source said something that is no message"
                );
            }
        }
    }
}

/// Where the first complete JSON object or array of a buffer ends.
fn complete_value(buffer: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in buffer.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn too_large() -> tidegate_core::Error {
    unavailable("the source's answer is larger than allowed")
}
