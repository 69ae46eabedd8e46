//! Counts and logs messages of a server that are invalid, or responses that no request waits for.
//!
//! Must not know: on which transport they arrived.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use tidegate_core::GaugeValue;

use crate::log_rate_limit::LogRateLimit;

/// How often invalid messages are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The invalid messages of one connection. Those that were not logged yet are logged on drop.
pub(super) struct InvalidMessages {
    source: String,
    rate_limit: Mutex<LogRateLimit>,
    invalid: AtomicU64,
    unexpected_responses: AtomicU64,
}

impl InvalidMessages {
    pub(super) fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            rate_limit: Mutex::new(LogRateLimit::new(1, LOG_INTERVAL)),
            invalid: AtomicU64::new(0),
            unexpected_responses: AtomicU64::new(0),
        }
    }

    /// Counts a response that no request waits for. Every cancelled call may leave one, so it is
    /// logged at the lowest level.
    pub(super) fn record_unexpected_response(&self) {
        self.unexpected_responses.fetch_add(1, Relaxed);
        tracing::debug!(source = self.source, "unexpected response dropped");
    }

    /// Counts a message that cannot be read, and logs it within the rate limit.
    pub(super) fn record_invalid(&self, error: &str) {
        self.invalid.fetch_add(1, Relaxed);
        let source = &self.source;
        let (suppressed, is_allowed) = {
            let mut limit = self.rate_limit.lock();
            let is_over = limit.is_window_over();
            let suppressed = is_over.then(|| limit.take_suppressed()).flatten();
            (suppressed, limit.allow())
        };
        if let Some(count) = suppressed {
            tracing::warn!(source, count, "more invalid messages from source");
        }
        if is_allowed {
            tracing::warn!(source, error, "invalid message from source");
        }
    }

    pub(super) fn gauges(&self) -> [GaugeValue; 2] {
        let gauge = |name, count: &AtomicU64| GaugeValue {
            name,
            value: count.load(Relaxed),
        };
        [
            gauge("invalid_messages", &self.invalid),
            gauge("unexpected_responses", &self.unexpected_responses),
        ]
    }
}

impl Drop for InvalidMessages {
    fn drop(&mut self) {
        if let Some(count) = self.rate_limit.get_mut().take_suppressed() {
            let source = &self.source;
            tracing::warn!(source, count, "more invalid messages from source");
        }
    }
}
