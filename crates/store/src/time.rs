//! Timestamps as the database stores them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// Adds a duration, saturating at the maximum.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

impl From<SystemTime> for UnixMillis {
    fn from(time: SystemTime) -> Self {
        let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

impl From<UnixMillis> for SystemTime {
    fn from(UnixMillis(millis): UnixMillis) -> Self {
        UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}
