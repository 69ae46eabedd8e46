//! A legacy session: the state that a client sets once and relies on afterwards.

mod replay_buffer;
mod subscriptions;
mod table;

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidegate_core::{AffinityKey, ClientContext, Era, LoggingLevel, Principal, RawJson, Scope};
use tidegate_interaction::ClientQuestions;
use tidegate_mcp::Revision;
use tidegate_mcp::revision::HandshakeRequest;
use tokio_util::sync::CancellationToken;

use crate::TransportLimits;
use crate::in_flight::InFlightCalls;
use crate::requester::Requester;
pub(crate) use replay_buffer::{ReplayBuffer, ReplayReader, parse_event_id};
pub(crate) use subscriptions::{Subscriptions, too_many_subscriptions};
pub(crate) use table::{SessionId, SessionTable};

/// The number of the standalone stream.
const STANDALONE_STREAM: u64 = 0;

/// Finished streams that are kept for clients that reconnect.
const MAX_FINISHED_STREAMS: usize = 4;

/// The session of one client.
pub(crate) struct Session {
    pub(crate) affinity: AffinityKey,
    pub(crate) principal: Principal,
    pub(crate) scope: Scope,
    pub(crate) revision: Revision,
    capabilities: RawJson,
    client_info: Option<RawJson>,
    pub(crate) in_flight: Arc<InFlightCalls>,
    /// Open questions to the client.
    pub(crate) questions: Arc<ClientQuestions>,
    /// Cancelled when the session ends, with everything that belongs to it.
    pub(crate) ended: CancellationToken,
    /// The stream for notifications that belong to no call.
    pub(crate) standalone: Arc<ReplayBuffer>,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) log_level: SessionLogLevel,
    state: Mutex<SessionState>,
    limits: TransportLimits,
}

/// The log level that the client has set, if it has.
#[derive(Clone, Default)]
pub(crate) struct SessionLogLevel(Arc<Mutex<Option<LoggingLevel>>>);

impl SessionLogLevel {
    pub(crate) fn get(&self) -> Option<LoggingLevel> {
        *self.0.lock()
    }

    pub(crate) fn set(&self, level: LoggingLevel) {
        *self.0.lock() = Some(level);
    }
}

struct SessionState {
    /// The streams of calls.
    streams: Vec<Arc<ReplayBuffer>>,
    next_stream: u64,
}

impl Session {
    pub(crate) fn new(
        requester: Requester,
        handshake: HandshakeRequest,
        limits: &TransportLimits,
        parent: &CancellationToken,
    ) -> Self {
        Self {
            affinity: requester.affinity.unwrap_or_else(AffinityKey::generate),
            principal: requester.caller.principal.clone(),
            scope: requester.scope,
            revision: handshake.revision,
            questions: ClientQuestions::new(handshake.capabilities.clone()),
            capabilities: handshake.capabilities,
            client_info: handshake.client_info,
            in_flight: InFlightCalls::new(limits.max_concurrent_calls_per_session),
            ended: parent.child_token(),
            standalone: ReplayBuffer::new(STANDALONE_STREAM, limits),
            subscriptions: Arc::new(Subscriptions::new(limits.max_subscriptions)),
            log_level: SessionLogLevel::default(),
            state: Mutex::new(SessionState {
                streams: Vec::new(),
                next_stream: STANDALONE_STREAM + 1,
            }),
            limits: limits.clone(),
        }
    }

    /// The client context of every request in this session.
    pub(crate) fn client(&self) -> ClientContext {
        ClientContext {
            era: Era::Legacy,
            affinity: Some(self.affinity),
            capabilities: self.capabilities.clone(),
            client_info: self.client_info.clone(),
            log_level: self.log_level.get(),
            progress: None,
        }
    }

    /// Opens a stream for the messages of one call.
    pub(crate) fn open_stream(&self) -> Arc<ReplayBuffer> {
        let mut state = self.state.lock();
        let number = state.next_stream;
        state.next_stream += 1;
        let stream = ReplayBuffer::new(number, &self.limits);
        state.streams.push(Arc::clone(&stream));
        remove_oldest_finished(&mut state.streams);
        stream
    }

    /// Removes a stream that no client needs to resume.
    pub(crate) fn close_stream(&self, stream: &ReplayBuffer) {
        let mut state = self.state.lock();
        state
            .streams
            .retain(|known| known.number() != stream.number());
    }

    /// A stream of this session by its number.
    pub(crate) fn stream(&self, number: u64) -> Option<Arc<ReplayBuffer>> {
        if number == STANDALONE_STREAM {
            return Some(Arc::clone(&self.standalone));
        }
        let state = self.state.lock();
        let mut streams = state.streams.iter();
        streams.find(|stream| stream.number() == number).cloned()
    }

    /// Whether a call is in flight or a stream is being read.
    fn is_in_use(&self) -> bool {
        let has_reader = |stream: &Arc<ReplayBuffer>| stream.has_reader();
        has_reader(&self.standalone)
            || !self.in_flight.is_empty()
            || self.state.lock().streams.iter().any(has_reader)
    }

    /// When the last call ended or the last reader of the standalone stream disconnected.
    fn last_used(&self) -> Option<Instant> {
        let reader_left = self.standalone.reader_left();
        self.in_flight.last_ended().max(reader_left)
    }

    /// Ends the session and everything that belongs to it.
    pub(crate) fn end(&self) {
        self.ended.cancel();
        self.standalone.finish();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// Keeps the newest `MAX_FINISHED_STREAMS` of the finished streams.
fn remove_oldest_finished(streams: &mut Vec<Arc<ReplayBuffer>>) {
    let finished = streams.iter().filter(|stream| stream.is_finished()).count();
    let mut excess = finished.saturating_sub(MAX_FINISHED_STREAMS);
    streams.retain(|stream| {
        let remove = excess > 0 && stream.is_finished();
        excess -= usize::from(remove);
        !remove
    });
}
