//! How long to wait before a server that went away is tried again.
//!
//! Must not know: why it went away.

use std::time::Duration;

/// The shortest and the longest wait.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// A server that stayed this long did not come back only to go again.
const SETTLED: Duration = Duration::from_secs(30);

/// The wait before the next attempt: twice as long each time.
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    /// The wait after an attempt that lasted this long. Somewhat random, so that those who lost the
    /// same server do not all come back at once.
    pub(crate) fn after(&mut self, stayed: Duration) -> Duration {
        let chance = getrandom::u32().unwrap_or(u32::MAX);
        self.wait(stayed, f64::from(chance) / f64::from(u32::MAX))
    }

    /// Between half of the wait and all of it, as `chance` from 0 to 1 has it.
    fn wait(&mut self, stayed: Duration, chance: f64) -> Duration {
        if stayed >= SETTLED {
            *self = Self::default();
        }
        let wait = self.0;
        self.0 = (wait * 2).min(LONGEST);
        wait.mul_f64(0.5 + chance / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_until_a_server_has_settled() {
        let mut backoff = Backoff::default();
        let brief = SETTLED / 2;
        let waits: Vec<_> = (0..12).map(|_| backoff.wait(brief, 1.0)).collect();
        assert_eq!(waits[..4], [FIRST, FIRST * 2, FIRST * 4, FIRST * 8]);
        assert_eq!(waits[11], LONGEST, "there is a longest");
        assert_eq!(backoff.wait(SETTLED, 1.0), FIRST);
    }

    #[test]
    fn chance_takes_no_more_than_half() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.wait(Duration::ZERO, 0.0), FIRST / 2);
        assert_eq!(backoff.wait(Duration::ZERO, 0.5), FIRST * 2 * 3 / 4);
        let random = backoff.after(SETTLED);
        assert!((FIRST / 2..=FIRST).contains(&random), "{random:?}");
    }
}
