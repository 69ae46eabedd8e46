//! The events of an answer, one by one as they come.
//!
//! Must not know: what the messages mean.

use std::collections::VecDeque;

use serde_json::Value;
use tidegate_mcp::sse::{Decoder, Event};

use super::Answer;
use crate::soon;

/// Larger than any event a test asks for.
const LIMIT: usize = 64 << 20;

/// A stream that is being read. Dropping it closes its connection.
#[derive(Debug)]
pub struct Events {
    answer: Answer,
    decoder: Decoder,
    waiting: VecDeque<Event>,
    text: String,
}

impl Events {
    pub(super) fn new(answer: Answer) -> Self {
        Self {
            answer,
            decoder: Decoder::new(LIMIT),
            waiting: VecDeque::new(),
            text: String::new(),
        }
    }

    /// The next event, empty ones too; none at the end.
    pub async fn next(&mut self) -> Option<Event> {
        // Comments keep a stream open for ever, so that only a bound ends the wait for an event.
        soon("an event", async {
            while self.waiting.is_empty() {
                if !self.fill().await {
                    return None;
                }
            }
            self.waiting.pop_front()
        })
        .await
    }

    /// The next event that carries something, with its message; none at the end.
    pub async fn next_message(&mut self) -> Option<(Event, Value)> {
        loop {
            let event = self.next().await?;
            if !event.data.is_empty() {
                let message = serde_json::from_str(&event.data);
                return Some((event, message.expect("an event carries JSON")));
            }
        }
    }

    /// The next message, which must come.
    pub async fn message(&mut self) -> Value {
        self.next_message().await.expect("the stream goes on").1
    }

    /// All messages until the end.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some((_, message)) = self.next_message().await {
            messages.push(message);
        }
        messages
    }

    /// Reads until that many comments have come.
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

    /// What has come so far, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The head of the answer.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    async fn fill(&mut self) -> bool {
        let Some(bytes) = self.answer.next_bytes().await else {
            return false;
        };
        self.text.push_str(&String::from_utf8_lossy(&bytes));
        let events = self.decoder.push(&bytes).expect("no event is that large");
        self.waiting.extend(events);
        true
    }
}
