//! The calls under way in one session or on one pipe, so that a client can cancel them by id.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Code, Error, ErrorOrigin, Result};
use tidegate_mcp::RequestId;
use tokio_util::sync::CancellationToken;

/// Calls by the id their client gave them.
pub(crate) struct InFlight {
    limit: usize,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    next: u64,
    /// Clients may give one id to several calls, so the id is no key.
    open: HashMap<u64, (String, CancellationToken)>,
    /// When the last call ended.
    ended: Option<Instant>,
}

/// One call under way. Dropping it takes it off the list.
pub(crate) struct Ticket {
    in_flight: Arc<InFlight>,
    number: u64,
    pub(crate) cancelled: CancellationToken,
}

impl InFlight {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            calls: Mutex::default(),
        })
    }

    /// Puts a call on the list. It is cancelled with `parent`, or by its id.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &RequestId,
        parent: &CancellationToken,
    ) -> Result<Ticket> {
        let mut calls = self.lock();
        if calls.open.len() >= self.limit {
            let message = format!(
                "{} calls are under way here already; wait for one to end",
                self.limit
            );
            return Err(Error::new(Code::Unavailable, ErrorOrigin::Gateway, message));
        }
        let number = calls.next;
        calls.next += 1;
        let cancelled = parent.child_token();
        calls.open.insert(number, (id.key(), cancelled.clone()));
        drop(calls);
        Ok(Ticket {
            in_flight: Arc::clone(self),
            number,
            cancelled,
        })
    }

    pub(crate) fn has(&self, id: &RequestId) -> bool {
        let key = id.key();
        self.lock().open.values().any(|(open, _)| *open == key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().open.is_empty()
    }

    /// When the last call ended.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.lock().ended
    }

    /// Cancels what goes by this id; an unknown one is nothing.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let key = id.key();
        for (_, cancelled) in self.lock().open.values().filter(|(open, _)| *open == key) {
            cancelled.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut calls = self.in_flight.lock();
        calls.open.remove(&self.number);
        calls.ended = Some(Instant::now());
    }
}
