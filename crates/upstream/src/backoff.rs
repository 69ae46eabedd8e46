//! Exponential backoff with jitter.
//!
//! Must not know: what is retried.

use std::time::Duration;

/// An attempt that lasted this long counts as a success: the next delay is the first one again.
const STABLE: Duration = Duration::from_secs(30);

/// The delay before the next attempt. It doubles with each attempt, up to a limit.
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    /// For connections to a server.
    pub(crate) fn for_connections() -> Self {
        Self::new(Duration::from_millis(100), Duration::from_secs(30))
    }

    /// For streams and sessions on a server that is up.
    pub(crate) fn for_streams() -> Self {
        Self::new(Duration::from_secs(1), Duration::from_secs(60))
    }

    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }

    /// The delay after an attempt that lasted this long.
    pub(crate) fn delay_after(&mut self, lasted: Duration) -> Duration {
        if lasted >= STABLE {
            self.reset();
        }
        self.delay()
    }

    /// The delay before the next attempt. Random, so that clients that lost the same server do not
    /// reconnect at the same moment.
    pub(crate) fn delay(&mut self) -> Duration {
        let random = getrandom::u32().unwrap_or(u32::MAX);
        self.with_jitter(f64::from(random) / f64::from(u32::MAX))
    }

    /// Between half of the delay and all of it, for a `jitter` from 0 to 1.
    fn with_jitter(&mut self, jitter: f64) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(self.longest);
        delay.mul_f64(0.5 + jitter / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(30);

    #[test]
    fn doubles_the_delay_up_to_the_limit() {
        let mut backoff = Backoff::new(FIRST, LONGEST);
        let delays: Vec<_> = (0..12).map(|_| backoff.with_jitter(1.0)).collect();
        assert_eq!(delays[..4], [FIRST, FIRST * 2, FIRST * 4, FIRST * 8]);
        assert_eq!(delays[11], LONGEST);
    }

    #[test]
    fn starts_over_after_a_stable_attempt() {
        let mut backoff = Backoff::new(FIRST, LONGEST);
        for _ in 0..5 {
            backoff.delay_after(STABLE / 2);
        }
        assert!(backoff.next > FIRST);
        let delay = backoff.delay_after(STABLE);
        assert!((FIRST / 2..=FIRST).contains(&delay), "{delay:?}");
    }

    #[test]
    fn jitter_takes_at_most_half_of_the_delay() {
        let mut backoff = Backoff::new(FIRST, LONGEST);
        assert_eq!(backoff.with_jitter(0.0), FIRST / 2);
        assert_eq!(backoff.with_jitter(0.5), FIRST * 2 * 3 / 4);
    }
}
