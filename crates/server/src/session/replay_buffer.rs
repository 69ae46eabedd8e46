//! One stream of a session: numbered messages, buffered so that a client can reconnect and resume.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidegate_mcp::OutgoingMessage;
use tokio::sync::Notify;

use crate::TransportLimits;
use crate::outgoing::Outgoing;
pub(crate) use reader::{ReplayReader, parse_event_id};

/// A bounded buffer of messages for one client. At a limit the oldest messages are removed.
pub(crate) struct ReplayBuffer {
    number: u64,
    max_events: usize,
    max_bytes: usize,
    state: Mutex<BufferState>,
    changed: Notify,
}

#[derive(Default)]
struct BufferState {
    /// Messages by their sequence number, which starts at 1.
    events: VecDeque<(u64, Arc<Outgoing>)>,
    bytes: usize,
    last_pushed: u64,
    last_read: u64,
    is_finished: bool,
    /// The number of the current reader: a new reader replaces the previous one.
    reader: u64,
    has_reader: bool,
    /// When the last reader disconnected.
    reader_left: Option<Instant>,
}

impl ReplayBuffer {
    pub(crate) fn new(number: u64, limits: &TransportLimits) -> Arc<Self> {
        Arc::new(Self {
            number,
            max_events: limits.replay_buffer_events,
            max_bytes: limits.replay_buffer_bytes,
            state: Mutex::default(),
            changed: Notify::new(),
        })
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn push(&self, message: impl Into<Outgoing>) {
        let mut state = self.state.lock();
        state.push(message.into(), self.max_events, self.max_bytes);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Pushes a notification, unless the same one is unread. If the buffer is full of unread
    /// messages, pushes `summary` instead: a less precise notification that covers many.
    pub(crate) fn push_coalesced(&self, json: String, summary: impl FnOnce() -> String) {
        let mut state = self.state.lock();
        let is_full = state.unread() >= self.max_events;
        let json = if is_full { summary() } else { json };
        let message = OutgoingMessage::Notification(json);
        if !state.is_unread(&message) {
            // The summary must not displace an unread message.
            let max_events = if is_full { usize::MAX } else { self.max_events };
            state.push(message.into(), max_events, usize::MAX);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Pushes a notification that may be lost. It is dropped if half of the buffer is unread, so that
    /// there is always space for other messages.
    pub(crate) fn push_lossy(&self, json: String) {
        let mut state = self.state.lock();
        let (unread, unread_bytes) = (state.unread(), state.unread_bytes());
        let has_space =
            unread < self.max_events / 2 && unread_bytes + json.len() <= self.max_bytes / 2;
        if has_space {
            let message = OutgoingMessage::Notification(json);
            state.push(message.into(), self.max_events, self.max_bytes);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Ends the stream after the messages that are buffered.
    pub(crate) fn finish(&self) {
        self.state.lock().is_finished = true;
        self.changed.notify_waiters();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.state.lock().is_finished
    }

    /// Whether the stream is finished and has no message after this sequence number.
    pub(crate) fn is_finished_after(&self, sequence: u64) -> bool {
        let state = self.state.lock();
        state.is_finished && state.last_pushed <= sequence
    }

    pub(crate) fn has_reader(&self) -> bool {
        self.state.lock().has_reader
    }

    /// When the last reader disconnected.
    pub(crate) fn reader_left(&self) -> Option<Instant> {
        self.state.lock().reader_left
    }
}

impl BufferState {
    fn unread(&self) -> usize {
        self.events.len() - self.index_after(self.last_read)
    }

    fn unread_bytes(&self) -> usize {
        let unread = self.events.range(self.index_after(self.last_read)..);
        unread.map(|(_, message)| message.json().len()).sum()
    }

    fn is_unread(&self, message: &OutgoingMessage) -> bool {
        let mut unread = self.events.range(self.index_after(self.last_read)..);
        unread.any(|(_, known)| known.message() == message)
    }

    /// The index of the first message after this sequence number.
    fn index_after(&self, sequence: u64) -> usize {
        self.events.partition_point(|(known, _)| *known <= sequence)
    }

    /// Adds a message and removes the oldest ones over the limits. Unread responses are never removed.
    fn push(&mut self, message: Outgoing, max_events: usize, max_bytes: usize) {
        self.last_pushed += 1;
        self.bytes += message.json().len();
        self.events.push_back((self.last_pushed, Arc::new(message)));
        while self.events.len() > max_events || self.bytes > max_bytes {
            let (last_read, last_pushed) = (self.last_read, self.last_pushed);
            let is_removable = |(sequence, message): &(u64, Arc<Outgoing>)| {
                *sequence != last_pushed && (*sequence <= last_read || !message.is_response())
            };
            let Some(index) = self.events.iter().position(is_removable) else {
                return;
            };
            if let Some((_, removed)) = self.events.remove(index) {
                self.bytes -= removed.json().len();
            }
        }
    }
}
