//! A rate limit for log messages: some pass in each window of time, the others are counted.
//!
//! Must not know: what is logged.

use std::time::Duration;

use tokio::time::Instant;

/// How many messages may pass in a window of time.
#[derive(Debug)]
pub(crate) struct LogRateLimit {
    limit: u32,
    window: Duration,
    window_start: Instant,
    passed: u32,
    suppressed: u64,
}

impl LogRateLimit {
    pub(crate) fn new(limit: u32, window: Duration) -> Self {
        Self {
            limit,
            window,
            window_start: Instant::now(),
            passed: 0,
            suppressed: 0,
        }
    }

    /// Whether one more message may pass. Counts it as suppressed if not.
    pub(crate) fn allow(&mut self) -> bool {
        if self.is_window_over() {
            self.window_start = Instant::now();
            self.passed = 0;
        }
        let allowed = self.passed < self.limit;
        if allowed {
            self.passed += 1;
        } else {
            self.suppress();
        }
        allowed
    }

    /// Counts a message that is suppressed for another reason.
    pub(crate) fn suppress(&mut self) {
        self.suppressed += 1;
    }

    /// Whether messages were suppressed since the last [`Self::take_suppressed`].
    pub(crate) fn has_suppressed(&self) -> bool {
        self.suppressed > 0
    }

    /// How many messages were suppressed since the last call; `None` if all passed.
    pub(crate) fn take_suppressed(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.suppressed)).filter(|count| *count > 0)
    }

    /// Whether the current window is over, so that the suppressed messages can be reported.
    pub(crate) fn is_window_over(&self) -> bool {
        self.window_start.elapsed() >= self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn counts_suppressed_messages_until_the_window_is_over() {
        let mut limit = LogRateLimit::new(2, Duration::from_secs(1));
        let allowed: Vec<_> = (0..5).map(|_| limit.allow()).collect();
        assert_eq!(allowed, [true, true, false, false, false]);
        assert!(!limit.is_window_over());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(limit.is_window_over());
        assert_eq!(limit.take_suppressed(), Some(3));
        assert_eq!(limit.take_suppressed(), None, "reported once");
        assert!(limit.allow());
    }
}
