//! A legacy session: what a client said once and counts on from then on.

mod outlet;
mod subscriptions;
mod table;

use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{AffinityKey, ClientContext, LogLevel, Principal, RawJson, Result, Scope};
use tidegate_interaction::ClientQuestions;
use tidegate_mcp::Revision;
use tidegate_mcp::revision::Handshake;
use tokio_util::sync::CancellationToken;

use crate::Limits;
use crate::in_flight::InFlight;
pub(crate) use outlet::{Outlet, Reader, parse_event_id};
pub(crate) use subscriptions::Subscriptions;
pub(crate) use table::{SessionId, Sessions};

/// The stream for what no call asked for.
const STANDING: u64 = 0;

/// Finished streams that are kept for a client that lost the connection.
const KEPT_STREAMS: usize = 4;

/// One client's session.
pub(crate) struct Session {
    pub(crate) affinity: AffinityKey,
    pub(crate) principal: Principal,
    pub(crate) scope: Scope,
    pub(crate) revision: Revision,
    capabilities: RawJson,
    client: Option<RawJson>,
    pub(crate) in_flight: Arc<InFlight>,
    /// What its client has been asked.
    pub(crate) questions: Arc<ClientQuestions>,
    /// Ends everything that belongs to the session.
    pub(crate) ended: CancellationToken,
    /// What no call asked for: changes.
    pub(crate) standing: Arc<Outlet>,
    pub(crate) subscriptions: Arc<Subscriptions>,
    state: Mutex<State>,
    limits: Limits,
}

struct State {
    log_level: Option<LogLevel>,
    streams: Vec<Arc<Outlet>>,
    next_stream: u64,
}

impl Session {
    pub(crate) fn new(
        principal: Principal,
        scope: Scope,
        handshake: Handshake,
        limits: &Limits,
        parent: &CancellationToken,
    ) -> Self {
        let standing = Outlet::new(STANDING, limits.replay_buffer_events, limits);
        Self {
            affinity: AffinityKey::unique(),
            principal,
            scope,
            revision: handshake.revision,
            questions: ClientQuestions::new(handshake.capabilities.clone()),
            capabilities: handshake.capabilities,
            client: handshake.client_info,
            in_flight: InFlight::new(limits.max_concurrent_calls_per_session),
            ended: parent.child_token(),
            standing,
            subscriptions: Arc::new(Subscriptions::new(limits.max_subscriptions)),
            state: Mutex::new(State {
                log_level: None,
                streams: Vec::new(),
                next_stream: STANDING + 1,
            }),
            limits: limits.clone(),
        }
    }

    /// What every request of this session says about its client.
    pub(crate) fn client(&self) -> ClientContext {
        ClientContext {
            stateless: false,
            affinity: Some(self.affinity),
            capabilities: self.capabilities.clone(),
            client_info: self.client.clone(),
            log_level: self.lock().log_level,
            progress: None,
        }
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.lock().log_level = Some(level);
    }

    /// Notes a subscription; the token ends it. None if it is there already.
    pub(crate) fn subscribe(&self, uri: &str) -> Result<Option<CancellationToken>> {
        self.subscriptions.add(uri, &self.ended)
    }

    /// Ends a subscription; one that is not there is nothing.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.remove(uri);
    }

    /// A stream for the events of one call, kept for a while after its end.
    pub(crate) fn open_stream(&self) -> Arc<Outlet> {
        let mut state = self.lock();
        let number = state.next_stream;
        state.next_stream += 1;
        let outlet = Outlet::new(number, self.limits.replay_buffer_events, &self.limits);
        state.streams.push(Arc::clone(&outlet));
        forget_oldest(&mut state.streams);
        outlet
    }

    /// Forgets a stream whose answer went out whole, without events.
    pub(crate) fn close_stream(&self, outlet: &Outlet) {
        self.lock()
            .streams
            .retain(|stream| stream.number() != outlet.number());
    }

    /// A stream of this session by its number.
    pub(crate) fn stream(&self, number: u64) -> Option<Arc<Outlet>> {
        if number == STANDING {
            return Some(Arc::clone(&self.standing));
        }
        self.lock()
            .streams
            .iter()
            .find(|stream| stream.number() == number)
            .cloned()
    }

    /// Whether something of the session is open: then it is in use.
    fn is_busy(&self) -> bool {
        let is_read = |stream: &Arc<Outlet>| stream.is_being_read();
        is_read(&self.standing)
            || !self.in_flight.is_empty()
            || self.lock().streams.iter().any(is_read)
    }

    /// When something of it was last open.
    fn last_busy(&self) -> Option<Instant> {
        self.in_flight.ended().max(self.standing.left())
    }

    /// Ends the session and everything that belongs to it.
    pub(crate) fn end(&self) {
        self.ended.cancel();
        self.standing.finish();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// Keeps the last few of the finished streams.
fn forget_oldest(streams: &mut Vec<Arc<Outlet>>) {
    let finished = streams.iter().filter(|stream| stream.is_finished()).count();
    let mut superfluous = finished.saturating_sub(KEPT_STREAMS);
    streams.retain(|stream| {
        let goes = superfluous > 0 && stream.is_finished();
        superfluous -= usize::from(goes);
        !goes
    });
}
