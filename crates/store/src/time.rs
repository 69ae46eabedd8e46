//! Moments as the database keeps them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub i64);

impl Millis {
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// So much later; the end of time if that is later still.
    #[must_use]
    pub fn plus(self, time: Duration) -> Self {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

impl From<SystemTime> for Millis {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl From<Millis> for SystemTime {
    fn from(Millis(millis): Millis) -> Self {
        UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}
