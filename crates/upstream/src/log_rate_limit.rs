//! What may be said too often to be logged each time: so much is let through, the rest is counted.
//!
//! Must not know: what is said.

use std::time::Duration;

use tokio::time::Instant;

/// How much may pass in a window of time.
#[derive(Debug)]
pub(crate) struct Ration {
    most: u32,
    window: Duration,
    began: Instant,
    passed: u32,
    dropped: u64,
}

impl Ration {
    pub(crate) fn new(most: u32, window: Duration) -> Self {
        Self {
            most,
            window,
            began: Instant::now(),
            passed: 0,
            dropped: 0,
        }
    }

    /// Whether one more may pass; if not, it is counted.
    pub(crate) fn take(&mut self) -> bool {
        if self.began.elapsed() >= self.window {
            self.began = Instant::now();
            self.passed = 0;
        }
        let passes = self.passed < self.most;
        if passes {
            self.passed += 1;
        } else {
            self.drop_one();
        }
        passes
    }

    /// Counts one that may not pass for another reason.
    pub(crate) fn drop_one(&mut self) {
        self.dropped += 1;
    }

    /// Whether some did not pass and this has not been told.
    pub(crate) fn owes_count(&self) -> bool {
        self.dropped > 0
    }

    /// How many did not pass since this was last asked; none where all did.
    pub(crate) fn dropped(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.dropped)).filter(|dropped| *dropped > 0)
    }

    /// Whether what did not pass can be told: the window that it did not fit into is over.
    pub(crate) fn is_over(&self) -> bool {
        self.began.elapsed() >= self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_rest_is_counted_until_the_window_is_over() {
        let mut ration = Ration::new(2, Duration::from_secs(1));
        let passed: Vec<_> = (0..5).map(|_| ration.take()).collect();
        assert_eq!(passed, [true, true, false, false, false]);
        assert!(!ration.is_over());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(ration.is_over());
        assert_eq!(ration.dropped(), Some(3));
        assert_eq!(ration.dropped(), None, "told once");
        assert!(ration.take());
    }
}
