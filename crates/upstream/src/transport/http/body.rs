//! The body of an answer: one JSON value, several of them, or events. All are messages.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tidegate_core::Result;
use tidegate_mcp::revision::question::encode_rejection;
use tidegate_mcp::{
    DecodeLimits, Inbound, Message, RpcError, decode, decode_error_without_id, sse,
};

use super::Response;
use super::json_values::Values;
use crate::session::invalid_messages::Junk;
use crate::session::{too_large, unavailable};

/// How long a server is left alone before the rest of a stream is asked for, where it does not say.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 128,
    max_batch: 1024,
};

/// Cuts a body into messages as its bytes arrive.
pub(crate) struct Reader {
    body: Incoming,
    framing: Framing,
    ready: VecDeque<Spoken>,
    max_message_bytes: usize,
    junk: Arc<Junk>,
    /// The id of the last event, to come back with.
    pub(crate) last_event: Option<String>,
    /// How long the server wants to be left alone before that.
    retry: Duration,
}

/// What a body is made of.
pub(crate) enum Spoken {
    Message(Message),
    /// An error that does not say to which request: to the one whose answer this body is.
    Error(RpcError),
    /// A request that cannot be read: the answer to it.
    Unreadable(String),
}

enum Framing {
    Events(sse::SseDecoder),
    /// JSON values, one after the other.
    Values(Values),
}

impl Reader {
    pub(crate) fn new(response: Response, max_message_bytes: usize, junk: &Arc<Junk>) -> Self {
        let framing = match response.is_events {
            true => Framing::Events(sse::SseDecoder::new(max_message_bytes)),
            false => Framing::Values(Values::default()),
        };
        Self {
            body: response.body,
            framing,
            ready: VecDeque::new(),
            max_message_bytes,
            junk: Arc::clone(junk),
            last_event: None,
            retry: RETRY,
        }
    }

    /// How long to wait before the rest is asked for.
    pub(crate) fn retry(&self) -> Duration {
        self.retry.min(LONGEST_RETRY)
    }

    /// The next thing that is said; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Spoken>> {
        loop {
            if let Some(spoken) = self.ready.pop_front() {
                return Some(Ok(spoken));
            }
            let data = match self.body.frame().await {
                None => return None,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(cause)) => {
                    return Some(Err(
                        unavailable("the source broke off its answer").with_cause(cause)
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
                        self.take(&event.data.into());
                    }
                }
            }
            Framing::Values(values) => {
                let complete = values.push(data);
                if values.rest() > self.max_message_bytes {
                    return Err(too_large());
                }
                complete.into_iter().for_each(|value| self.take(&value));
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: &Bytes) {
        match decode(bytes.clone(), LIMITS) {
            Ok(Inbound::Single(message)) => self.ready.push_back(Spoken::Message(message)),
            Ok(Inbound::Batch(messages)) => {
                let messages = messages.into_iter().flatten().map(Spoken::Message);
                self.ready.extend(messages);
            }
            Err(refused) => {
                if let Some(error) = decode_error_without_id(bytes.clone(), LIMITS) {
                    self.ready.push_back(Spoken::Error(error));
                    return;
                }
                self.junk.note(refused.1.message());
                let answer = encode_rejection(bytes, &refused).map(Spoken::Unreadable);
                self.ready.extend(answer);
            }
        }
    }
}
