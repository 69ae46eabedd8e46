//! How much is under way at all transports together, and the refusal of what would be too much.

use std::sync::Arc;

use tidegate_core::{
    Code, ComponentHealth, Error, ErrorOrigin, GaugeValue, Health, HealthCheck, Result, Step,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;
use crate::session::Sessions;

/// From this share of a bound on, someone should look.
const NEARLY: f64 = 0.9;

/// Messages are counted in pieces of so many bytes.
const PIECE: usize = 1024;

/// The calls, streams and sessions that are open, each within its bound.
pub struct Admission {
    calls: Gauge,
    streams: Gauge,
    /// Room for the bytes of messages, in pieces.
    pieces: Arc<Semaphore>,
    pub(crate) sessions: Sessions,
    max_sessions: usize,
    refused: Box<OnRefused>,
}

type OnRefused = dyn Fn(Step, Code) + Send + Sync;

/// One bounded quantity.
struct Gauge {
    free: Arc<Semaphore>,
    all: usize,
}

impl Admission {
    pub fn new(limits: &Limits) -> Self {
        Self {
            calls: Gauge::new(limits.max_concurrent_calls),
            streams: Gauge::new(limits.max_streams),
            pieces: Arc::new(Semaphore::new(limits.max_buffered_bytes.div_ceil(PIECE))),
            sessions: Sessions::new(limits),
            max_sessions: limits.max_sessions,
            refused: Box::new(|_, _| {}),
        }
    }

    /// Calls `rejected` for each message that is rejected before it becomes a call.
    #[must_use]
    pub fn on_rejected(mut self, rejected: impl Fn(Step, Code) + Send + Sync + 'static) -> Self {
        self.refused = Box::new(rejected);
        self
    }

    pub(crate) fn refused(&self, step: Step, code: Code) {
        (self.refused)(step, code);
    }

    /// Room for one more call.
    pub(crate) fn call(&self) -> Result<OwnedSemaphorePermit> {
        self.calls.take("calls")
    }

    /// Room for the bytes of one message, none yet.
    pub(crate) fn room(&self) -> Room {
        Room {
            pieces: Arc::clone(&self.pieces),
            held: None,
            bytes: 0,
        }
    }

    /// Room for one more stream of changes.
    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit> {
        self.streams.take("streams")
    }
}

/// The room that the bytes of one message take. It grows as they arrive: bytes that are only
/// announced take none.
pub(crate) struct Room {
    pieces: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Room {
    /// Takes room for more bytes.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        let held = self
            .held
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = self.bytes.div_ceil(PIECE).saturating_sub(held);
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let more = Arc::clone(&self.pieces)
            .try_acquire_many_owned(missing)
            .map_err(|_| {
                let message = "the gateway is taking as many bytes as it may; try again later";
                Error::new(Code::Unavailable, ErrorOrigin::Gateway, message)
            })?;
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        Ok(())
    }
}

impl Gauge {
    fn new(all: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(all)),
            all,
        }
    }

    fn used(&self) -> usize {
        self.all - self.free.available_permits()
    }

    fn take(&self, what: &str) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let message =
                format!("the gateway has as many {what} under way as it may; try again later");
            Error::new(Code::Unavailable, ErrorOrigin::Gateway, message)
        })
    }
}

impl HealthCheck for Admission {
    fn name(&self) -> &str {
        "transports"
    }

    fn report(&self) -> ComponentHealth {
        let sessions = self.sessions.count();
        let parts = [
            ("calls", self.calls.used(), self.calls.all),
            ("streams", self.streams.used(), self.streams.all),
            ("sessions", sessions, self.max_sessions),
        ];
        let nearly_full = parts.iter().find(|(_, used, all)| is_nearly(*used, *all));
        let health = match nearly_full {
            None => Health::Good,
            Some((what, used, all)) => {
                Health::Degraded(format!("{used} of {all} {what} are in use"))
            }
        };
        let gauges = parts.iter().map(|(name, used, _)| GaugeValue {
            name,
            value: *used as u64,
        });
        ComponentHealth {
            health,
            response_time: None,
            gauges: gauges.collect(),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no more than a float holds"
)]
fn is_nearly(used: usize, all: usize) -> bool {
    used as f64 >= all as f64 * NEARLY
}
