//! The body of an answer: one JSON value, several of them, or events. All are messages.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tidegate_core::{RawJson, Result};
use tidegate_mcp::revision::client::{Said, said, unasked_answer};
use tidegate_mcp::revision::question::question_kind;
use tidegate_mcp::{Inbound, Limits, Message, decode, sse};

use super::client::Response;
use super::{Shared, refused};
use crate::link::{Heard, Talk, unavailable};

/// How often the rest of one answer is asked for.
const MOST_RESUMES: usize = 8;

/// How long to wait before that where the server does not say, and at most.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

const LIMITS: Limits = Limits {
    depth: 128,
    batch: 1024,
};

/// What the server says in answer to the request with this id.
pub(super) fn talk(response: Response, id: u64, shared: &Arc<Shared>) -> Talk {
    let exchange = Exchange {
        id,
        status: response.status,
        reader: Reader::new(response, shared.message_bytes),
        resumed: 0,
        unanswered: Unanswered {
            shared: Arc::clone(shared),
            id,
            is_open: true,
        },
    };
    stream::unfold(Some(exchange), |exchange| async {
        let mut exchange = exchange?;
        let heard = exchange.next().await;
        let ended = matches!(heard, Ok(Heard::Answer(_)) | Err(_));
        exchange.unanswered.is_open = !ended;
        Some((heard, (!ended).then_some(exchange)))
    })
    .boxed()
}

/// One request and what has come of its answer.
struct Exchange {
    id: u64,
    status: StatusCode,
    reader: Reader,
    resumed: usize,
    unanswered: Unanswered,
}

impl Exchange {
    /// The next thing that is for this request.
    async fn next(&mut self) -> Result<Heard> {
        loop {
            match self.reader.next().await {
                Some(Ok(message)) => {
                    if let Some(heard) = hear(message, self.id, &self.unanswered.shared).await {
                        return Ok(heard);
                    }
                }
                Some(Err(error)) => {
                    if !self.resume().await {
                        return Err(error);
                    }
                }
                None if self.resume().await => {}
                None if self.status.is_success() => {
                    return Err(unavailable(
                        "the source ended its answer before it was complete",
                    ));
                }
                None => return Err(refused(self.status)),
            }
        }
    }

    /// Comes back for the rest of a stream that broke off, where the server said how.
    async fn resume(&mut self) -> bool {
        let Some(last) = self
            .reader
            .last_event
            .clone()
            .filter(|_| self.resumed < MOST_RESUMES)
        else {
            return false;
        };
        self.resumed += 1;
        tokio::time::sleep(self.reader.retry.min(LONGEST_RETRY)).await;
        let shared = &self.unanswered.shared;
        match shared.resume(&last).await {
            Some(response) => {
                self.reader = Reader::new(response, shared.message_bytes);
                self.reader.last_event = Some(last);
                true
            }
            None => false,
        }
    }
}

/// A request whose answer has not come. Dropped before it comes, the server is told; without a
/// session, closing the stream has told it.
struct Unanswered {
    shared: Arc<Shared>,
    id: u64,
    is_open: bool,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if self.is_open {
            self.shared.call_off(self.id);
        }
    }
}

/// What a message means to this request; none if it is not for it.
async fn hear(message: Message, id: u64, shared: &Arc<Shared>) -> Option<Heard> {
    match message {
        Message::Response {
            id: answered,
            answer,
        } if answered.key() == id.to_string() => Some(Heard::Answer(answer)),
        Message::Response { .. } => None,
        Message::Notification { method, params } => match said(&method, params.as_ref()) {
            // Progress of something else, or of nothing.
            Said::Progress { token, .. } if token != id.to_string() => None,
            said => Some(Heard::Said(said)),
        },
        Message::Request { id, method, params } => match question_kind(&method) {
            Some(kind) => {
                let params = params.unwrap_or_else(RawJson::empty_object);
                Some(Heard::Question { id, kind, params })
            }
            None => {
                shared
                    .post(unasked_answer(&id, &method), Vec::new())
                    .await
                    .ok();
                None
            }
        },
    }
}

/// Cuts a body into messages as its bytes arrive.
pub(super) struct Reader {
    body: Incoming,
    framing: Framing,
    ready: VecDeque<Message>,
    message_bytes: usize,
    /// The id of the last event, to come back with.
    last_event: Option<String>,
    /// How long the server wants to be left alone before that.
    retry: Duration,
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
            last_event: None,
            retry: RETRY,
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
                for event in events {
                    self.last_event = event.id.or(self.last_event.take());
                    self.retry = event.retry.unwrap_or(self.retry);
                    if !event.data.is_empty() {
                        self.take(event.data.into());
                    }
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
