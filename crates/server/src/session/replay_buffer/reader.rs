//! Readers of a replay buffer, and the event ids that clients resume with.

use std::sync::Arc;
use std::time::Instant;

use super::{BufferState, ReplayBuffer};
use crate::outgoing::Outgoing;

/// A position in a replay buffer. Only the newest reader of a buffer gets messages.
pub(crate) struct ReplayReader {
    buffer: Arc<ReplayBuffer>,
    number: u64,
    position: u64,
}

impl ReplayBuffer {
    /// Reads the unread messages.
    pub(crate) fn reader(self: &Arc<Self>) -> ReplayReader {
        let mut state = self.state.lock();
        let last_read = state.last_read;
        self.attach(&mut state, last_read)
    }

    /// Reads the unread messages, unless there is a reader already.
    pub(crate) fn try_reader(self: &Arc<Self>) -> Option<ReplayReader> {
        let mut state = self.state.lock();
        let last_read = state.last_read;
        (!state.has_reader).then(|| self.attach(&mut state, last_read))
    }

    /// Reads the messages after this sequence number.
    pub(crate) fn reader_after(self: &Arc<Self>, sequence: u64) -> ReplayReader {
        self.attach(&mut self.state.lock(), sequence)
    }

    fn attach(self: &Arc<Self>, state: &mut BufferState, position: u64) -> ReplayReader {
        state.reader += 1;
        state.has_reader = true;
        self.changed.notify_waiters();
        ReplayReader {
            buffer: Arc::clone(self),
            number: state.reader,
            position,
        }
    }
}

impl ReplayReader {
    /// The next message with its sequence number; `None` at the end of the stream or when a newer
    /// reader has replaced this one. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<(u64, Arc<Outgoing>)> {
        loop {
            let mut changed = std::pin::pin!(self.buffer.changed.notified());
            changed.as_mut().enable();
            {
                let mut state = self.buffer.state.lock();
                if state.reader != self.number {
                    return None;
                }
                let next = state.events.get(state.index_after(self.position)).cloned();
                if let Some((sequence, message)) = next {
                    self.position = sequence;
                    state.last_read = state.last_read.max(sequence);
                    return Some((sequence, message));
                }
                if state.is_finished {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// A reader of the same stream from its first message.
    pub(crate) fn restart(self) -> Self {
        self.buffer.reader_after(0)
    }

    /// The sequence number of the last message that was read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The id of an event, from which a client can resume.
    pub(crate) fn event_id(&self, sequence: u64) -> String {
        format!("{}-{sequence}", self.buffer.number)
    }
}

impl Drop for ReplayReader {
    fn drop(&mut self) {
        let mut state = self.buffer.state.lock();
        if state.reader == self.number {
            state.has_reader = false;
            state.reader_left = Some(Instant::now());
        }
    }
}

/// Parses an event id into the number of its stream and its sequence number.
pub(crate) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, sequence) = id.split_once('-')?;
    Some((stream.parse().ok()?, sequence.parse().ok()?))
}
