//! The calls in flight of one session or duplex connection, which its client can cancel by id.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidegate_core::{Code, Error, ErrorOrigin, Result};
use tidegate_mcp::RequestId;
use tokio_util::sync::CancellationToken;

/// Calls by their request id, up to a limit.
pub(crate) struct InFlightCalls {
    limit: usize,
    state: Mutex<InFlightState>,
}

#[derive(Default)]
struct InFlightState {
    next_number: u64,
    /// By number: clients may use the same id for several calls.
    calls: HashMap<u64, (String, CancellationToken)>,
    last_ended: Option<Instant>,
}

/// One call in flight. Dropping it removes the call.
pub(crate) struct InFlightCall {
    owner: Arc<InFlightCalls>,
    number: u64,
    pub(crate) cancelled: CancellationToken,
}

impl InFlightCalls {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            state: Mutex::default(),
        })
    }

    /// Adds a call. It is cancelled by its id, or together with `parent`.
    pub(crate) fn add(
        self: &Arc<Self>,
        id: &RequestId,
        parent: &CancellationToken,
    ) -> Result<InFlightCall> {
        let mut state = self.state.lock();
        if state.calls.len() >= self.limit {
            let message = format!(
                "limit of concurrent calls reached ({} per session); wait for a response and retry",
                self.limit
            );
            return Err(Error::new(Code::Unavailable, ErrorOrigin::Gateway, message));
        }
        let number = state.next_number;
        state.next_number += 1;
        let cancelled = parent.child_token();
        state.calls.insert(number, (id.key(), cancelled.clone()));
        drop(state);
        Ok(InFlightCall {
            owner: Arc::clone(self),
            number,
            cancelled,
        })
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        let key = id.key();
        let state = self.state.lock();
        state.calls.values().any(|(known, _)| *known == key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().calls.is_empty()
    }

    /// When the last call ended.
    pub(crate) fn last_ended(&self) -> Option<Instant> {
        self.state.lock().last_ended
    }

    /// Cancels the calls with this id. An unknown id is ignored.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let key = id.key();
        let state = self.state.lock();
        for (_, cancelled) in state.calls.values().filter(|(known, _)| *known == key) {
            cancelled.cancel();
        }
    }
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        let mut state = self.owner.state.lock();
        state.calls.remove(&self.number);
        state.last_ended = Some(Instant::now());
    }
}
