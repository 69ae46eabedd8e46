//! Cuts a response body into messages: one JSON value, several, or server-sent events.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tidegate_core::Result;
use tidegate_mcp::sse;

use super::Response;
use super::json_values::JsonValues;
use crate::error::{response_too_large, source_failed};

/// The delay before a stream is resumed, where the server names none, and the longest it may name.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_secs(30);

/// How much of an error response is kept.
const MAX_BEGINNING_BYTES: usize = 2048;

/// Reads the messages of a body as its bytes arrive.
pub(crate) struct MessageReader {
    body: Incoming,
    framing: Framing,
    complete: VecDeque<Bytes>,
    /// The first bytes of an error response, which may be a text instead of a message.
    beginning: Option<Vec<u8>>,
    max_message_bytes: usize,
    /// The id of the last event, with which the stream can be resumed.
    pub(crate) last_event_id: Option<String>,
    retry: Duration,
}

enum Framing {
    Events(sse::SseDecoder),
    /// JSON values, one after the other.
    Values(JsonValues),
}

impl MessageReader {
    pub(crate) fn new(response: Response, max_message_bytes: usize) -> Self {
        let framing = match response.is_event_stream {
            true => Framing::Events(sse::SseDecoder::new(max_message_bytes)),
            false => Framing::Values(JsonValues::default()),
        };
        Self {
            body: response.body,
            framing,
            complete: VecDeque::new(),
            beginning: (!response.status.is_success()).then(Vec::new),
            max_message_bytes,
            last_event_id: None,
            retry: DEFAULT_RETRY,
        }
    }

    /// The beginning of an error response, as far as it has been read.
    pub(crate) fn beginning(&self) -> &[u8] {
        self.beginning.as_deref().unwrap_or_default()
    }

    /// The delay before the stream is resumed.
    pub(crate) fn retry_delay(&self) -> Duration {
        self.retry.min(MAX_RETRY)
    }

    /// The next message; `None` at the end of the body.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes>> {
        loop {
            if let Some(message) = self.complete.pop_front() {
                return Some(Ok(message));
            }
            let data = match self.body.frame().await? {
                Ok(frame) => frame.into_data().unwrap_or_default(),
                Err(cause) => {
                    let error = source_failed("the connection broke during the source's response");
                    return Some(Err(error.with_cause(cause)));
                }
            };
            if let Err(error) = self.push(&data) {
                return Some(Err(error));
            }
        }
    }

    fn push(&mut self, data: &Bytes) -> Result<()> {
        if let Some(beginning) = &mut self.beginning {
            let missing = MAX_BEGINNING_BYTES.saturating_sub(beginning.len());
            beginning.extend_from_slice(&data[..missing.min(data.len())]);
        }
        match &mut self.framing {
            Framing::Events(decoder) => {
                let events = decoder.push(data).map_err(|_| response_too_large())?;
                for event in events {
                    self.last_event_id = event.id.or(self.last_event_id.take());
                    self.retry = event.retry.unwrap_or(self.retry);
                    if !event.data.is_empty() {
                        self.complete.push_back(event.data.into());
                    }
                }
            }
            Framing::Values(values) => {
                let complete = values.push(data);
                if values.incomplete_bytes() > self.max_message_bytes {
                    return Err(response_too_large());
                }
                self.complete.extend(complete);
            }
        }
        Ok(())
    }
}
