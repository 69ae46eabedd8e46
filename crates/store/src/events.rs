//! Events about writes to the database, by this process or by another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::broadcast;

/// Events that a subscriber may fall behind before it gets [`StoreEvent::Gap`].
const MAX_PENDING_EVENTS: usize = 1024;

/// A write to one principal's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreChange {
    /// The domain, for instance `memory`.
    pub topic: String,
    pub source: String,
    pub principal: String,
    /// The changed item, named by two strings whose meaning depends on the topic. `None` if too
    /// many items changed to report them individually.
    pub item: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    Changed(StoreChange),
    /// A process has written. Follows the changes of that write.
    Written,
    /// Changes may have been missed.
    Gap,
}

/// One subscriber's events, from the moment of subscription.
pub struct StoreEvents {
    receiver: broadcast::Receiver<StoreEvent>,
}

impl StoreEvents {
    pub async fn next(&mut self) -> StoreEvent {
        match self.receiver.recv().await {
            Ok(event) => event,
            Err(broadcast::error::RecvError::Lagged(_)) => StoreEvent::Gap,
            // The store was dropped, so nothing will change.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// While this exists, the writes of other processes are polled for at short intervals.
pub struct FrequentPollGuard(Arc<AtomicUsize>);

impl Drop for FrequentPollGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends events to all subscribers.
pub(crate) struct EventSender {
    events: broadcast::Sender<StoreEvent>,
    frequent_poll_guards: Arc<AtomicUsize>,
}

impl EventSender {
    pub(crate) fn new() -> Self {
        Self {
            events: broadcast::Sender::new(MAX_PENDING_EVENTS),
            frequent_poll_guards: Arc::default(),
        }
    }

    pub(crate) fn send(&self, event: StoreEvent) {
        // An error means that there are no subscribers.
        self.events.send(event).ok();
    }

    pub(crate) fn subscribe(&self) -> StoreEvents {
        StoreEvents {
            receiver: self.events.subscribe(),
        }
    }

    pub(crate) fn frequent_poll_guard(&self) -> FrequentPollGuard {
        self.frequent_poll_guards.fetch_add(1, Ordering::Relaxed);
        FrequentPollGuard(Arc::clone(&self.frequent_poll_guards))
    }

    pub(crate) fn polls_frequently(&self) -> bool {
        self.frequent_poll_guards.load(Ordering::Relaxed) > 0
    }
}
