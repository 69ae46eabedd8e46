//! One stream of a session: frames with numbers, kept so that a client can come back for them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use tidegate_mcp::OutgoingMessage;
use tokio::sync::Notify;

use crate::Limits;

/// OutgoingMessages on their way to one client. Bounded: when too many wait, the oldest go.
pub(crate) struct Outlet {
    number: u64,
    max_events: usize,
    max_bytes: usize,
    state: Mutex<State>,
    wake: Notify,
}

struct State {
    events: VecDeque<(u64, Arc<OutgoingMessage>)>,
    bytes: usize,
    last: u64,
    read: u64,
    finished: bool,
    /// Who reads: a newer reader takes over from an older one.
    reader: u64,
    being_read: bool,
    /// When the last reader left.
    left: Option<Instant>,
}

impl Outlet {
    pub(crate) fn new(number: u64, max_events: usize, limits: &Limits) -> Arc<Self> {
        let state = State {
            events: VecDeque::new(),
            bytes: 0,
            last: 0,
            read: 0,
            finished: false,
            reader: 0,
            being_read: false,
            left: None,
        };
        let max_bytes = limits.replay_buffer_bytes;
        Arc::new(Self {
            number,
            max_events,
            max_bytes,
            state: Mutex::new(state),
            wake: Notify::new(),
        })
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn push(&self, frame: OutgoingMessage) {
        self.lock().push(frame, self.max_events, self.max_bytes);
        self.wake.notify_waiters();
    }

    /// Adds a notice unless the same one is waiting to be read already. Where too many wait, it adds
    /// `instead`: something that says less and comes once.
    pub(crate) fn push_once(&self, json: String, instead: impl FnOnce() -> String) {
        let mut state = self.lock();
        let crowded = state.unread() >= self.max_events;
        let frame = OutgoingMessage::Notification(if crowded { instead() } else { json });
        if !state.is_waiting(&frame) {
            let room = if crowded { usize::MAX } else { self.max_events };
            state.push(frame, room, usize::MAX);
        }
        drop(state);
        self.wake.notify_waiters();
    }

    /// Nothing more will come.
    pub(crate) fn finish(&self) {
        self.lock().finished = true;
        self.wake.notify_waiters();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.lock().finished
    }

    pub(crate) fn is_being_read(&self) -> bool {
        self.lock().being_read
    }

    /// Reads from the event after `after` on. Whoever read before hears no more.
    pub(crate) fn read_from(self: &Arc<Self>, after: u64) -> Reader {
        self.lock().attach(self, Some(after))
    }

    /// Reads what has not been read yet.
    pub(crate) fn read(self: &Arc<Self>) -> Reader {
        self.lock().attach(self, None)
    }

    /// Reads what has not been read yet, unless someone reads already.
    pub(crate) fn try_read(self: &Arc<Self>) -> Option<Reader> {
        let mut state = self.lock();
        (!state.being_read).then(|| state.attach(self, None))
    }

    /// Whether nothing will ever come after this event.
    pub(crate) fn is_over_after(&self, seq: u64) -> bool {
        let state = self.lock();
        state.finished && state.last <= seq
    }

    /// When the last reader left.
    pub(crate) fn left(&self) -> Option<Instant> {
        self.lock().left
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn attach(&mut self, outlet: &Arc<Outlet>, after: Option<u64>) -> Reader {
        self.reader += 1;
        self.being_read = true;
        outlet.wake.notify_waiters();
        let after = after.unwrap_or(self.read);
        Reader {
            outlet: Arc::clone(outlet),
            reader: self.reader,
            after,
        }
    }

    /// How many events nobody has read.
    fn unread(&self) -> usize {
        self.events.len() - self.first_after(self.read)
    }

    fn is_waiting(&self, frame: &OutgoingMessage) -> bool {
        let unread = self.events.range(self.first_after(self.read)..);
        unread.into_iter().any(|(_, waiting)| **waiting == *frame)
    }

    /// Where the events after `seq` begin.
    fn first_after(&self, seq: u64) -> usize {
        self.events.partition_point(|(known, _)| *known <= seq)
    }

    /// Adds a frame. When there are too many, the oldest goes that can: an answer that nobody has
    /// read cannot.
    fn push(&mut self, frame: OutgoingMessage, max_events: usize, max_bytes: usize) {
        self.last += 1;
        self.bytes += frame.json().len();
        self.events.push_back((self.last, Arc::new(frame)));
        while self.events.len() > max_events || self.bytes > max_bytes {
            let (read, last) = (self.read, self.last);
            let can_go = |(seq, frame): &(u64, Arc<OutgoingMessage>)| {
                *seq != last
                    && (*seq <= read || matches!(**frame, OutgoingMessage::Notification(_)))
            };
            let Some(at) = self.events.iter().position(can_go) else {
                return;
            };
            if let Some((_, gone)) = self.events.remove(at) {
                self.bytes -= gone.json().len();
            }
        }
    }
}

/// A place in a stream.
pub(crate) struct Reader {
    outlet: Arc<Outlet>,
    reader: u64,
    after: u64,
}

impl Reader {
    /// The next frame with its number; none at the end, or when someone else reads now. May be
    /// dropped while waiting: nothing is lost.
    pub(crate) async fn next(&mut self) -> Option<(u64, Arc<OutgoingMessage>)> {
        loop {
            let mut woken = std::pin::pin!(self.outlet.wake.notified());
            woken.as_mut().enable();
            {
                let mut state = self.outlet.lock();
                if state.reader != self.reader {
                    return None;
                }
                let next = state.events.get(state.first_after(self.after)).cloned();
                if let Some((seq, frame)) = next {
                    self.after = seq;
                    state.read = state.read.max(seq);
                    return Some((seq, frame));
                }
                if state.finished {
                    return None;
                }
            }
            woken.await;
        }
    }

    /// The same stream once more, from its first event.
    pub(crate) fn again(self) -> Self {
        self.outlet.read_from(0)
    }

    /// The number of the last event that was read.
    pub(crate) fn position(&self) -> u64 {
        self.after
    }

    /// The id of an event of this stream, for the client to come back with.
    pub(crate) fn event_id(&self, seq: u64) -> String {
        format!("{}-{seq}", self.outlet.number)
    }
}

/// The stream and the event that an id names.
pub(crate) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, seq) = id.split_once('-')?;
    Some((stream.parse().ok()?, seq.parse().ok()?))
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.outlet.lock();
        if state.reader == self.reader {
            state.being_read = false;
            state.left = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlet(events: usize) -> Arc<Outlet> {
        Outlet::new(7, events, &Limits::default())
    }

    fn notice(text: &str) -> OutgoingMessage {
        OutgoingMessage::Notification(text.to_owned())
    }

    async fn next(reader: &mut Reader) -> Option<String> {
        reader
            .next()
            .await
            .map(|(_, frame)| frame.json().to_owned())
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_gets_what_it_missed() {
        let outlet = outlet(8);
        let mut first = outlet.read();
        outlet.push(notice("a"));
        outlet.push(notice("b"));
        assert_eq!(next(&mut first).await.as_deref(), Some("a"));
        let mut second = outlet.read_from(1);
        assert_eq!(next(&mut first).await, None, "the second reader took over");
        assert_eq!(next(&mut second).await.as_deref(), Some("b"));
        outlet.finish();
        assert_eq!(next(&mut second).await, None);
    }

    #[tokio::test]
    async fn when_too_many_wait_the_oldest_go() {
        let outlet = outlet(2);
        for text in ["a", "b", "c"] {
            outlet.push(notice(text));
        }
        let mut reader = outlet.read();
        assert_eq!(next(&mut reader).await.as_deref(), Some("b"));
    }

    #[tokio::test]
    async fn the_same_change_waits_once_and_comes_again_after_it_was_read() {
        let outlet = outlet(8);
        outlet.push_once("x".to_owned(), String::new);
        outlet.push_once("x".to_owned(), String::new);
        let mut reader = outlet.read();
        assert_eq!(next(&mut reader).await.as_deref(), Some("x"));
        outlet.push_once("x".to_owned(), String::new);
        outlet.finish();
        assert_eq!(next(&mut reader).await.as_deref(), Some("x"));
        assert_eq!(next(&mut reader).await, None);
    }

    #[tokio::test]
    async fn an_answer_that_nobody_read_is_not_pushed_out() {
        let outlet = outlet(2);
        outlet.push(OutgoingMessage::Response {
            json: "answer".to_owned(),
            code: None,
        });
        for text in ["a", "b", "c"] {
            outlet.push(notice(text));
        }
        let mut reader = outlet.read();
        assert_eq!(next(&mut reader).await.as_deref(), Some("answer"));
        assert_eq!(next(&mut reader).await.as_deref(), Some("c"));
    }

    #[tokio::test]
    async fn where_too_many_changes_wait_one_stands_for_the_rest() {
        let outlet = outlet(2);
        for text in ["a", "b", "c", "d"] {
            outlet.push_once(text.to_owned(), || "all".to_owned());
        }
        outlet.finish();
        let mut reader = outlet.read();
        let mut heard = Vec::new();
        while let Some(text) = next(&mut reader).await {
            heard.push(text);
        }
        assert_eq!(heard, ["a", "b", "all"]);
    }

    #[test]
    fn event_ids_are_parsed_and_everything_else_is_refused() {
        assert_eq!(parse_event_id("3-14"), Some((3, 14)));
        for bad in ["", "3", "-", "3-", "a-1", "3-1-1", "-3-1"] {
            assert_eq!(parse_event_id(bad), None, "{bad}");
        }
    }
}
