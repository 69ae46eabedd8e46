//! Notifications of a server that belong to no request, until they are processed. Repeated
//! change notifications are merged.
//!
//! Must not know: how a change is handled.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tidegate_core::{Change, ChangeEvent, ExtensionNotification, LoggingLevel, RawJson};
use tokio::sync::{broadcast, mpsc};

/// Resource updates that may wait. With more, all subscribed resources may have changed.
const MAX_UPDATES: usize = 1024;

/// Completed elicitations, notifications of extensions and log messages that may wait.
const MAX_ELICITATIONS: usize = 256;
const MAX_EXTENSIONS: usize = 256;
const MAX_LOG_MESSAGES: usize = 256;

pub(super) fn notification_queue() -> (NotificationSender, Notifications) {
    let (wake, woken) = mpsc::channel(1);
    let queued = Arc::<Mutex<Queued>>::default();
    let sender = NotificationSender {
        queued: Arc::clone(&queued),
        wake,
        extensions: broadcast::Sender::new(MAX_EXTENSIONS),
    };
    (sender, Notifications { queued, woken })
}

#[derive(Default)]
struct Queued {
    /// Tools, prompts, resources.
    lists: [bool; 3],
    updated: BTreeSet<Arc<str>>,
    /// Ids of completed URL elicitations.
    elicitations: VecDeque<Arc<str>>,
    /// Notifications of extensions.
    extensions: VecDeque<Arc<ExtensionNotification>>,
    log_messages: VecDeque<(LoggingLevel, RawJson)>,
    /// Notifications were lost.
    missed: bool,
}

/// A notification that belongs to no request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueuedNotification {
    Change(ChangeEvent),
    Log {
        level: LoggingLevel,
        params: RawJson,
    },
}

/// The writing end of the queue.
#[derive(Clone)]
pub(crate) struct NotificationSender {
    queued: Arc<Mutex<Queued>>,
    wake: mpsc::Sender<()>,
    /// Notifications of extensions, for the clients that subscribed to them.
    extensions: broadcast::Sender<Arc<ExtensionNotification>>,
}

impl NotificationSender {
    /// The notifications of extensions from now on.
    pub(crate) fn extensions(&self) -> broadcast::Receiver<Arc<ExtensionNotification>> {
        self.extensions.subscribe()
    }

    /// Notifications may have been lost: anything may have changed.
    pub(super) fn missed(&self) {
        {
            let mut queued = self.queued.lock();
            queued.lists = [true; 3];
            queued.missed = true;
        }
        self.wake.try_send(()).ok();
    }

    pub(crate) fn push(&self, change: Change) {
        if let Change::Extension(notification) = &change {
            // An error means that no client subscribed.
            self.extensions.send(Arc::clone(notification)).ok();
        }
        self.queued.lock().add(change);
        // A full channel means that the reader will wake already.
        self.wake.try_send(()).ok();
    }

    /// Adds a log message. The oldest is dropped if too many wait.
    pub(super) fn push_log(&self, level: LoggingLevel, params: RawJson) {
        {
            let log_messages = &mut self.queued.lock().log_messages;
            if log_messages.len() == MAX_LOG_MESSAGES {
                log_messages.pop_front();
            }
            log_messages.push_back((level, params));
        }
        self.wake.try_send(()).ok();
    }
}

impl Queued {
    fn add(&mut self, change: Change) {
        match change {
            Change::Tools => self.lists[0] = true,
            Change::Prompts => self.lists[1] = true,
            Change::Resources => self.lists[2] = true,
            Change::ResourceUpdated(uri) if self.updated.len() < MAX_UPDATES => {
                self.updated.insert(uri);
            }
            Change::ResourceUpdated(uri) => self.missed |= !self.updated.contains(&uri),
            Change::ElicitationComplete(id) => {
                if self.elicitations.len() == MAX_ELICITATIONS {
                    self.elicitations.pop_front();
                }
                self.elicitations.push_back(id);
            }
            Change::Extension(notification) => {
                if self.extensions.len() == MAX_EXTENSIONS {
                    self.extensions.pop_front();
                }
                self.extensions.push_back(notification);
            }
        }
    }

    fn take(&mut self) -> Option<QueuedNotification> {
        let change = self.take_change().map(QueuedNotification::Change);
        change.or_else(|| {
            let (level, params) = self.log_messages.pop_front()?;
            Some(QueuedNotification::Log { level, params })
        })
    }

    fn take_change(&mut self) -> Option<ChangeEvent> {
        if std::mem::take(&mut self.missed) {
            self.updated.clear();
            return Some(ChangeEvent::Missed);
        }
        let updated = self.updated.pop_first().map(Change::ResourceUpdated);
        let elicitation = || {
            let id = self.elicitations.pop_front();
            id.map(Change::ElicitationComplete)
        };
        let extension = || self.extensions.pop_front().map(Change::Extension);
        let change = updated.or_else(extension).or_else(elicitation);
        let change = change.or_else(|| {
            let list = self.lists.iter_mut().position(std::mem::take)?;
            Some([Change::Tools, Change::Prompts, Change::Resources][list].clone())
        });
        change.map(ChangeEvent::Change)
    }
}

/// The reading end of the queue.
pub(crate) struct Notifications {
    queued: Arc<Mutex<Queued>>,
    woken: mpsc::Receiver<()>,
}

impl Notifications {
    /// The next notification; `None` when the connection has ended.
    pub(crate) async fn next(&mut self) -> Option<QueuedNotification> {
        loop {
            if let Some(event) = self.queued.lock().take() {
                return Some(event);
            }
            self.woken.recv().await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn updated(uri: &str) -> Change {
        Change::ResourceUpdated(uri.into())
    }

    fn changed(change: Change) -> Option<QueuedNotification> {
        Some(QueuedNotification::Change(ChangeEvent::Change(change)))
    }

    #[tokio::test]
    async fn log_messages_wait_up_to_a_limit() {
        let (sender, mut notifications) = notification_queue();
        for number in 0..=MAX_LOG_MESSAGES {
            sender.push_log(LoggingLevel::Info, RawJson::copy_of(&number.to_string()));
        }
        for number in 1..=MAX_LOG_MESSAGES {
            let expected = QueuedNotification::Log {
                level: LoggingLevel::Info,
                params: RawJson::copy_of(&number.to_string()),
            };
            assert_eq!(notifications.next().await, Some(expected));
        }
        assert_eq!(notifications.next().now_or_never(), None);
    }

    #[tokio::test]
    async fn repeated_notifications_are_merged() {
        let (sender, mut notifications) = notification_queue();
        for _ in 0..10_000 {
            sender.push(Change::Tools);
            sender.push(updated("a"));
        }
        let first = notifications.next().await;
        assert_eq!(first, changed(updated("a")));
        let second = notifications.next().await;
        assert_eq!(second, changed(Change::Tools));
        assert_eq!(notifications.next().now_or_never(), None);
        sender.push(Change::Tools);
        assert_eq!(notifications.next().await, changed(Change::Tools));
        drop(sender);
        assert_eq!(notifications.next().await, None);
    }

    #[tokio::test]
    async fn an_overflow_is_reported_as_missed() {
        let (sender, mut notifications) = notification_queue();
        for number in 0..=MAX_UPDATES {
            sender.push(updated(&number.to_string()));
        }
        let missed = QueuedNotification::Change(ChangeEvent::Missed);
        assert_eq!(notifications.next().await, Some(missed));
        assert_eq!(notifications.next().now_or_never(), None);
    }
}
