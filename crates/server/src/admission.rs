//! Admission control: limits the calls, streams, sessions and bytes of all transports together, and
//! rejects messages that exceed them.

use std::sync::Arc;

use tidegate_core::{
    Code, ComponentHealth, GaugeValue, Health, HealthCheck, Principal, Result, Step,
};

use crate::TransportLimits;
use crate::shared_pool::{SharedPermit, SharedPool};

/// Health is a warning from this share of a limit on.
const DEGRADED_SHARE: f64 = 0.9;

/// The permits of all transports.
pub struct Admission {
    calls: Arc<SharedPool>,
    streams: Arc<SharedPool>,
    sessions: Arc<SharedPool>,
    /// Bytes of messages that are being received.
    received_bytes: Arc<SharedPool>,
    /// Bytes of messages that clients have not read.
    unread_bytes: Arc<SharedPool>,
    on_rejected: Box<OnRejected>,
}

type OnRejected = dyn Fn(Step, Code) + Send + Sync;

impl Admission {
    pub fn new(limits: &TransportLimits) -> Self {
        let pool = |name, limit| SharedPool::new(name, limit, limits.principal_share_percent);
        Self {
            calls: pool("concurrent calls", limits.max_concurrent_calls),
            streams: pool("open streams", limits.max_streams),
            // How many of them a principal may have is a limit of its own.
            sessions: SharedPool::new("open sessions", limits.max_sessions, 100),
            received_bytes: pool("buffered bytes", limits.max_buffered_bytes),
            unread_bytes: pool("bytes of unread responses", limits.max_unread_bytes),
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

    pub(crate) fn call_permit(&self, principal: &Principal) -> Result<SharedPermit> {
        self.calls.acquire(principal, 1)
    }

    pub(crate) fn stream_permit(&self, principal: &Principal) -> Result<SharedPermit> {
        self.streams.acquire(principal, 1)
    }

    /// Acquires a permit for a session, after `evict` if there is none. Fails if `evict` does not
    /// release one.
    pub(crate) fn session_permit(
        &self,
        principal: &Principal,
        evict: impl FnOnce(),
    ) -> Result<SharedPermit> {
        self.sessions.acquire(principal, 1).or_else(|_| {
            evict();
            self.sessions.acquire(principal, 1)
        })
    }

    /// An empty permit for a message that is being received. It grows as the bytes arrive, so that an
    /// announced body reserves no memory that others could use.
    pub(crate) fn received_permit(&self, principal: &Principal) -> SharedPermit {
        self.received_bytes.empty_permit(principal)
    }

    /// A permit for a message that its client has not read yet.
    pub(crate) fn unread_permit(
        &self,
        principal: &Principal,
        bytes: usize,
    ) -> Result<SharedPermit> {
        self.unread_bytes.acquire(principal, bytes)
    }
}

impl HealthCheck for Admission {
    fn name(&self) -> &str {
        "transports"
    }

    fn report(&self) -> ComponentHealth {
        let usage = [
            ("calls", self.calls.used(), self.calls.limit()),
            ("streams", self.streams.used(), self.streams.limit()),
            ("sessions", self.sessions.used(), self.sessions.limit()),
            (
                "unread_bytes",
                self.unread_bytes.used(),
                self.unread_bytes.limit(),
            ),
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
