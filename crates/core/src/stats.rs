//! Counters of calls since the gateway started. Cheap enough to update on every call.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts of calls, shared between the layer that counts and the source that reports.
#[derive(Debug)]
pub struct CallStats {
    started: Instant,
    calls: AtomicU64,
    failures: AtomicU64,
    client_errors: AtomicU64,
    cancellations: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Default for CallStats {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            calls: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            client_errors: AtomicU64::new(0),
            cancellations: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
        }
    }
}

impl CallStats {
    /// A call succeeded.
    pub fn record_success(&self, duration: Duration) {
        self.count(duration);
    }

    /// A call failed because of the client.
    pub fn record_client_error(&self, duration: Duration) {
        self.client_errors.fetch_add(1, Relaxed);
        self.count(duration);
    }

    /// A call failed because of the gateway or a source.
    pub fn record_failure(&self, duration: Duration) {
        self.failures.fetch_add(1, Relaxed);
        self.count(duration);
    }

    /// A call was cancelled by its client.
    pub fn record_cancellation(&self) {
        self.cancellations.fetch_add(1, Relaxed);
    }

    fn count(&self, duration: Duration) {
        self.calls.fetch_add(1, Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    pub fn failures(&self) -> u64 {
        self.failures.load(Relaxed)
    }

    pub fn client_errors(&self) -> u64 {
        self.client_errors.load(Relaxed)
    }

    pub fn cancellations(&self) -> u64 {
        self.cancellations.load(Relaxed)
    }

    /// The mean duration of a call; zero before the first.
    pub fn mean_duration(&self) -> Duration {
        let mean = self.nanoseconds.load(Relaxed).checked_div(self.calls());
        Duration::from_nanos(mean.unwrap_or_default())
    }
}
