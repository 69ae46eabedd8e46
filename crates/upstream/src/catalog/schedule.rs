//! When the lists of a server are taken in again: when it says that they changed, when it said they
//! would no longer be good, and now and then where it says nothing at all.

use std::time::Duration;

use tidegate_core::Change;
use tokio::time::Instant;

/// A server that tells of a change again and again is not asked more often than this.
const AT_MOST_EVERY: Duration = Duration::from_millis(250);

/// Nor is one whose lists are never good for long.
const SHORTEST_TTL: Duration = Duration::from_secs(5);

/// How long the lists of a server are kept that neither tells of changes nor says how long.
const SILENT: Duration = Duration::from_secs(300);

/// Nobody keeps a list for longer, whatever its server says.
const LONGEST_TTL: Duration = Duration::from_secs(86_400);

/// What is known about when to look again.
pub(crate) struct Freshness {
    loaded: Instant,
    due: Option<Instant>,
    /// The lists that the server says are others.
    said: Vec<Change>,
}

impl Freshness {
    /// The lists have just been taken in.
    pub(crate) fn new(ttl: Option<Duration>, announces_changes: bool) -> Self {
        let loaded = Instant::now();
        let cache_lifetime = match ttl.filter(|ttl| !ttl.is_zero()) {
            Some(ttl) => Some(ttl.max(SHORTEST_TTL)),
            None if announces_changes => None,
            None => Some(SILENT),
        };
        Self {
            loaded,
            due: cache_lifetime.map(|cache_lifetime| loaded + cache_lifetime),
            said: Vec::new(),
        }
    }

    /// The server says that a list is another, or someone wants to know.
    pub(crate) fn is_stale(&mut self, change: Option<Change>) {
        self.due = Some(self.loaded + AT_MOST_EVERY);
        if let Some(change) = change.filter(|change| !self.said.contains(change)) {
            self.said.push(change);
        }
    }

    /// Waits until it is time to look again; gives what the server said changed.
    pub(crate) async fn stale(&mut self) -> Vec<Change> {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
        std::mem::take(&mut self.said)
    }
}

/// How long the lists that were taken in last may be kept by those who were given them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lasting {
    /// The server says until when.
    Until(Instant),
    /// It does not, but tells of changes.
    Told,
    /// Neither is known.
    Unknown,
}

impl Lasting {
    /// Of lists that have just been taken in.
    pub(crate) fn new(ttl: Option<Duration>, announces_changes: bool) -> Self {
        match ttl {
            Some(ttl) => Self::Until(Instant::now() + ttl.min(LONGEST_TTL)),
            None if announces_changes => Self::Told,
            None => Self::Unknown,
        }
    }

    /// What is left of it; none where changes are told.
    pub(crate) fn left(self) -> Option<Duration> {
        match self {
            Self::Until(end) => Some(end.saturating_duration_since(Instant::now())),
            Self::Told => None,
            Self::Unknown => Some(Duration::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn waits(fresh: &mut Freshness) -> Duration {
        let since = Instant::now();
        tokio::time::timeout(Duration::from_secs(3600), fresh.stale())
            .await
            .ok();
        since.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn lists_are_taken_in_when_the_server_said_they_would_be_old() {
        let minute = Some(Duration::from_secs(60));
        for announces_changes in [true, false] {
            let mut fresh = Freshness::new(minute, announces_changes);
            assert_eq!(waits(&mut fresh).await, Duration::from_secs(60));
        }
        let mut hasty = Freshness::new(Some(Duration::from_millis(1)), true);
        assert_eq!(waits(&mut hasty).await, SHORTEST_TTL);
        let mut silent = Freshness::new(None, false);
        assert_eq!(waits(&mut silent).await, SILENT);
        let mut telling = Freshness::new(Some(Duration::ZERO), true);
        assert_eq!(
            waits(&mut telling).await,
            Duration::from_secs(3600),
            "never"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_changes_is_one_change_of_each_list() {
        let mut fresh = Freshness::new(None, true);
        for _ in 0..1000 {
            fresh.is_stale(Some(Change::Tools));
            fresh.is_stale(Some(Change::Prompts));
        }
        let since = Instant::now();
        assert_eq!(fresh.stale().await, [Change::Tools, Change::Prompts]);
        assert_eq!(since.elapsed(), AT_MOST_EVERY);
    }
}
