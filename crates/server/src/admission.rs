//! Admission control: limits the calls, streams, sessions and buffered bytes of all transports
//! together, and rejects messages that exceed them.

use std::sync::Arc;

use tidegate_core::{
    Code, ComponentHealth, Error, ErrorOrigin, GaugeValue, Health, HealthCheck, Result, Step,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::TransportLimits;

/// Health is a warning from this share of a limit on.
const DEGRADED_SHARE: f64 = 0.9;

/// Buffered bytes are counted in blocks of this size.
const BUFFER_BLOCK_BYTES: usize = 1024;

/// The permits of all transports.
pub struct Admission {
    calls: PermitPool,
    streams: PermitPool,
    /// One permit for each block of buffered bytes.
    buffer_blocks: Arc<Semaphore>,
    sessions: PermitPool,
    on_rejected: Box<OnRejected>,
}

type OnRejected = dyn Fn(Step, Code) + Send + Sync;

impl Admission {
    pub fn new(limits: &TransportLimits) -> Self {
        let blocks = limits.max_buffered_bytes.div_ceil(BUFFER_BLOCK_BYTES);
        Self {
            calls: PermitPool::new("concurrent calls", limits.max_concurrent_calls),
            streams: PermitPool::new("open streams", limits.max_streams),
            buffer_blocks: Arc::new(Semaphore::new(blocks)),
            sessions: PermitPool::new("open sessions", limits.max_sessions),
            on_rejected: Box::new(|_, _| {}),
        }
    }

    /// Calls `on_rejected` for each message that is rejected before it becomes a call.
    #[must_use]
    pub fn on_rejected(mut self, on_rejected: impl Fn(Step, Code) + Send + Sync + 'static) -> Self {
        self.on_rejected = Box::new(on_rejected);
        self
    }

    pub(crate) fn record_rejection(&self, step: Step, code: Code) {
        (self.on_rejected)(step, code);
    }

    pub(crate) fn call_permit(&self) -> Result<OwnedSemaphorePermit> {
        self.calls.acquire()
    }

    pub(crate) fn stream_permit(&self) -> Result<OwnedSemaphorePermit> {
        self.streams.acquire()
    }

    /// Acquires a permit for a session, after `evict` if there is none. Fails if `evict` does not
    /// release one.
    pub(crate) fn session_permit(&self, evict: impl FnOnce()) -> Result<OwnedSemaphorePermit> {
        self.sessions.acquire().or_else(|_| {
            evict();
            self.sessions.acquire()
        })
    }

    /// An empty permit for the bytes of one message.
    pub(crate) fn buffer_permit(&self) -> BufferPermit {
        BufferPermit {
            blocks: Arc::clone(&self.buffer_blocks),
            held: None,
            bytes: 0,
        }
    }
}

/// A permit for the buffered bytes of one message. It grows as they arrive, so that an announced
/// body reserves no memory that others could use.
pub(crate) struct BufferPermit {
    blocks: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl BufferPermit {
    /// Extends the permit by `bytes`.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        let held = self
            .held
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = self.bytes.div_ceil(BUFFER_BLOCK_BYTES).saturating_sub(held);
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let more = Arc::clone(&self.blocks)
            .try_acquire_many_owned(missing)
            .map_err(|_| overloaded("limit of buffered bytes reached; retry later".to_owned()))?;
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        Ok(())
    }
}

/// A limited number of permits.
struct PermitPool {
    name: &'static str,
    limit: usize,
    free: Arc<Semaphore>,
}

impl PermitPool {
    fn new(name: &'static str, limit: usize) -> Self {
        Self {
            name,
            limit,
            free: Arc::new(Semaphore::new(limit)),
        }
    }

    fn used(&self) -> usize {
        self.limit - self.free.available_permits()
    }

    fn acquire(&self) -> Result<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.free).try_acquire_owned();
        permit.map_err(|_| {
            let (name, limit) = (self.name, self.limit);
            overloaded(format!("limit of {name} reached ({limit}); retry later"))
        })
    }
}

fn overloaded(message: String) -> Error {
    Error::new(Code::Unavailable, ErrorOrigin::Gateway, message)
}

impl HealthCheck for Admission {
    fn name(&self) -> &str {
        "transports"
    }

    fn report(&self) -> ComponentHealth {
        let usage = [
            ("calls", self.calls.used(), self.calls.limit),
            ("streams", self.streams.used(), self.streams.limit),
            ("sessions", self.sessions.used(), self.sessions.limit),
        ];
        let nearly_full = usage
            .iter()
            .find(|(_, used, limit)| is_nearly_full(*used, *limit));
        let health = match nearly_full {
            None => Health::Healthy,
            Some((name, used, limit)) => {
                Health::Warning(format!("{used} of {limit} {name} are in use"))
            }
        };
        let gauges = usage.iter().map(|(name, used, _)| GaugeValue {
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
    reason = "a share does not need more precision"
)]
fn is_nearly_full(used: usize, limit: usize) -> bool {
    used as f64 >= limit as f64 * DEGRADED_SHARE
}
