//! The events of a response, one by one as they arrive.
//!
//! Must not know: what the messages mean.

use std::collections::VecDeque;

use serde_json::Value;
use tidegate_mcp::sse::{SseDecoder, SseEvent};

use super::HttpResponse;
use crate::wait_for;

/// Larger than any event in a test.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// An event stream that is being read. Dropping it closes its connection.
#[derive(Debug)]
pub struct Events {
    response: HttpResponse,
    decoder: SseDecoder,
    buffered: VecDeque<SseEvent>,
    text: String,
}

impl Events {
    pub(super) fn new(response: HttpResponse) -> Self {
        Self {
            response,
            decoder: SseDecoder::new(MAX_EVENT_BYTES),
            buffered: VecDeque::new(),
            text: String::new(),
        }
    }

    /// The next event, including empty ones; `None` at the end.
    pub async fn next(&mut self) -> Option<SseEvent> {
        wait_for("an event", self.receive()).await
    }

    /// Like [`Self::next`], but waits for as long as comments keep the stream open.
    pub async fn receive(&mut self) -> Option<SseEvent> {
        while self.buffered.is_empty() {
            if !self.fill().await {
                return None;
            }
        }
        self.buffered.pop_front()
    }

    /// The next event with data, and its message; `None` at the end.
    pub async fn next_message(&mut self) -> Option<(SseEvent, Value)> {
        loop {
            let event = self.next().await?;
            if !event.data.is_empty() {
                let message = serde_json::from_str(&event.data);
                return Some((event, message.expect("event data is JSON")));
            }
        }
    }

    /// The next message; panics if the stream ends.
    pub async fn message(&mut self) -> Value {
        self.next_message().await.expect("another message").1
    }

    /// All messages until the end.
    pub async fn remaining(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some((_, message)) = self.next_message().await {
            messages.push(message);
        }
        messages
    }

    /// Reads until that many comments have arrived.
    pub async fn comments(&mut self, count: usize) {
        while self
            .text
            .lines()
            .filter(|line| line.starts_with(':'))
            .count()
            < count
        {
            assert!(self.fill().await, "the stream ended: {}", self.text);
        }
    }

    /// Everything received so far, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The head of the response.
    pub fn response(&self) -> &HttpResponse {
        &self.response
    }

    async fn fill(&mut self) -> bool {
        let Some(bytes) = self.response.next_bytes().await else {
            return false;
        };
        self.text.push_str(&String::from_utf8_lossy(&bytes));
        let events = self
            .decoder
            .push(&bytes)
            .expect("an event within the limit");
        self.buffered.extend(events);
        true
    }
}
