//! Follows the log of changes and sends events to subscribers.

use std::convert::Infallible;
use std::time::Duration;

use super::Store;
use crate::events::{FrequentPollGuard, StoreEvent, StoreEvents};
use crate::sqlite::ChangeLog;
use crate::{Result, StoreErrorKind};

/// Intervals at which the writes of other processes are polled for.
const FREQUENT_POLL_INTERVAL: Duration = Duration::from_millis(250);
const IDLE_POLL_INTERVAL: Duration = Duration::from_secs(2);

impl Store {
    /// Subscribes to events from now on. They are sent while [`Store::run`] is polled.
    pub fn subscribe(&self) -> StoreEvents {
        self.events.subscribe()
    }

    /// Polls for the writes of other processes at short intervals while the guard exists.
    pub fn poll_frequently(&self) -> FrequentPollGuard {
        let guard = self.events.frequent_poll_guard();
        self.wake_poller.notify_one();
        guard
    }

    /// Waits until the change log is followed, so that no later change is missed, or until that has
    /// failed once.
    pub async fn wait_until_following(&self) {
        let mut following = self.following.subscribe();
        // An error means that the store was dropped.
        following.wait_for(|following| *following).await.ok();
    }

    /// Opens the database and sends events about its changes for as long as it is polled.
    pub async fn run(&self) {
        let (mut last_logged, mut is_interrupted) = (None, false);
        loop {
            let Err(error) = self.follow(is_interrupted).await;
            is_interrupted = true;
            self.following.send_replace(true);
            // A repeated error is logged once; a replaced file is logged when it is reopened.
            let message = error.to_string();
            if last_logged.as_ref() != Some(&message) && error.kind() != StoreErrorKind::Replaced {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(error = message, cause, "database unavailable");
                last_logged = Some(message);
            }
            tokio::time::sleep(IDLE_POLL_INTERVAL).await;
        }
    }

    /// Follows the log until an error. After an interruption, subscribers first get a gap.
    async fn follow(&self, after_interruption: bool) -> Result<Infallible> {
        let database = self.database().await?;
        let mut connection = self.finish_read(database.poll_connection().await)?;
        let mut log = self.finish_read(ChangeLog::open_at_end(&mut connection).await)?;
        self.following.send_replace(true);
        if after_interruption {
            self.events.send(StoreEvent::Gap);
            self.events.send(StoreEvent::Written);
        }
        loop {
            let interval = match self.events.polls_frequently() {
                true => FREQUENT_POLL_INTERVAL,
                false => IDLE_POLL_INTERVAL,
            };
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = self.wake_poller.notified() => {}
                () = database.closing() => {}
            }
            database.check_in_place()?;
            for event in self.finish_read(log.read_new(&mut connection).await)? {
                self.events.send(event);
            }
            if log.needs_pruning() {
                let pruned = log.prune(&database).await;
                self.record_write(&database, pruned)?;
            }
        }
    }
}
