//! When the lists of a server are refreshed: on list_changed, when their ttlMs is over, or on a timer
//! for servers that send neither; soon after a list could not be loaded. And how long clients may
//! cache them.

use std::time::Duration;

use tidegate_core::Change;
use tokio::time::Instant;

/// The shortest time between two refreshes of a server that sends list_changed again and again.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// The shortest time between two refreshes because of ttlMs.
const MIN_TTL: Duration = Duration::from_secs(5);

/// The refresh interval for a server that sends neither list_changed nor ttlMs.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(300);

/// The delay after the first failure to load a list. It doubles with each further one, up to
/// [`DEFAULT_INTERVAL`].
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// The maximum cache lifetime; a longer ttlMs is cut to it.
const MAX_TTL: Duration = Duration::from_secs(86_400);

/// When the lists of one class of clients are refreshed next.
pub(crate) struct RefreshSchedule {
    loaded_at: Instant,
    due: Option<Instant>,
    /// Lists for which the server sent list_changed.
    list_changed: Vec<Change>,
    /// How often in a row the lists could not be loaded.
    pub(crate) failures: u32,
}

impl RefreshSchedule {
    /// The schedule of lists that could not be loaded this often in a row.
    pub(crate) fn retry(failures: u32) -> Self {
        let doublings = failures.saturating_sub(1).min(16);
        let delay = (FIRST_RETRY * 2_u32.pow(doublings)).min(DEFAULT_INTERVAL);
        let mut schedule = Self::never();
        schedule.due = Some(schedule.loaded_at + delay);
        schedule.failures = failures;
        schedule
    }

    /// The schedule of lists that have just been loaded.
    pub(crate) fn new(ttl: Option<Duration>, sends_list_changed: bool) -> Self {
        let loaded_at = Instant::now();
        let interval = match ttl.filter(|ttl| !ttl.is_zero()) {
            Some(ttl) => Some(ttl.max(MIN_TTL)),
            None if sends_list_changed => None,
            None => Some(DEFAULT_INTERVAL),
        };
        Self {
            loaded_at,
            due: interval.map(|interval| loaded_at + interval),
            list_changed: Vec::new(),
            failures: 0,
        }
    }

    /// No refresh is due until the server sends list_changed, or a caller requests it.
    pub(crate) fn never() -> Self {
        Self {
            loaded_at: Instant::now(),
            due: None,
            list_changed: Vec::new(),
            failures: 0,
        }
    }

    /// Makes a refresh due: the server sent list_changed, or a caller requested it.
    pub(crate) fn mark_stale(&mut self, list_changed: Option<Change>) {
        self.due = Some(self.loaded_at + MIN_INTERVAL);
        if let Some(change) = list_changed.filter(|change| !self.list_changed.contains(change)) {
            self.list_changed.push(change);
        }
    }

    /// Waits until a refresh is due. Returns the lists for which the server sent list_changed.
    pub(crate) async fn wait_until_due(&mut self) -> Vec<Change> {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
        std::mem::take(&mut self.list_changed)
    }
}

/// How long clients may cache the lists that were loaded last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheLifetime {
    /// The server sent ttlMs.
    Until(Instant),
    /// The server sends list_changed instead.
    UntilListChanged,
    Unknown,
}

impl CacheLifetime {
    /// The lifetime of lists that have just been loaded.
    pub(crate) fn new(ttl: Option<Duration>, sends_list_changed: bool) -> Self {
        match ttl {
            Some(ttl) => Self::Until(Instant::now() + ttl.min(MAX_TTL)),
            None if sends_list_changed => Self::UntilListChanged,
            None => Self::Unknown,
        }
    }

    /// The remaining lifetime; `None` if the server announces changes.
    pub(crate) fn remaining(self) -> Option<Duration> {
        match self {
            Self::Until(end) => Some(end.saturating_duration_since(Instant::now())),
            Self::UntilListChanged => None,
            Self::Unknown => Some(Duration::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    async fn time_until_due(schedule: &mut RefreshSchedule) -> Duration {
        let start = Instant::now();
        tokio::time::timeout(HOUR, schedule.wait_until_due())
            .await
            .ok();
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_refresh_is_due_when_the_ttl_is_over() {
        let minute = Duration::from_secs(60);
        for sends_list_changed in [true, false] {
            let mut schedule = RefreshSchedule::new(Some(minute), sends_list_changed);
            assert_eq!(time_until_due(&mut schedule).await, minute);
        }
        let mut short = RefreshSchedule::new(Some(Duration::from_millis(1)), true);
        assert_eq!(time_until_due(&mut short).await, MIN_TTL);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_ttl_the_timer_runs_unless_changes_are_announced() {
        let mut silent = RefreshSchedule::new(None, false);
        assert_eq!(time_until_due(&mut silent).await, DEFAULT_INTERVAL);
        let mut announcing = RefreshSchedule::new(Some(Duration::ZERO), true);
        assert_eq!(time_until_due(&mut announcing).await, HOUR, "never due");
    }

    #[tokio::test(start_paused = true)]
    async fn lists_that_failed_are_retried_with_growing_delays() {
        for (failures, seconds) in [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (1000, 300)] {
            let mut schedule = RefreshSchedule::retry(failures);
            let delay = time_until_due(&mut schedule).await;
            assert_eq!(delay, Duration::from_secs(seconds), "{failures}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_notifications_cause_one_refresh() {
        let mut schedule = RefreshSchedule::new(None, true);
        for _ in 0..1000 {
            schedule.mark_stale(Some(Change::Tools));
            schedule.mark_stale(Some(Change::Prompts));
        }
        let start = Instant::now();
        let changed = schedule.wait_until_due().await;
        assert_eq!(changed, [Change::Tools, Change::Prompts]);
        assert_eq!(start.elapsed(), MIN_INTERVAL);
    }
}
