//! The notifications of one client that have not been sent yet. They are sent in order, and before the
//! later calls of the client.
//!
//! Must not know: how a notification is sent.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::session::connection::ClientNotification;

/// Notifications that may wait, for example for the start of a process. Others are dropped.
const MAX_WAITING: usize = 256;

pub(super) struct OutgoingNotifications {
    waiting: Mutex<VecDeque<ClientNotification>>,
    /// Held by the task that sends them.
    sending: Arc<Semaphore>,
}

impl Default for OutgoingNotifications {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            sending: Arc::new(Semaphore::new(1)),
        }
    }
}

/// The right to send the notifications of one client.
pub(super) struct Sending {
    _permit: OwnedSemaphorePermit,
}

impl OutgoingNotifications {
    /// Adds a notification. Returns the right to send it, unless another task has it.
    pub(super) fn push(&self, notification: ClientNotification) -> Option<Sending> {
        let mut waiting = self.waiting.lock();
        if waiting.len() < MAX_WAITING {
            waiting.push_back(notification);
        }
        let permit = Arc::clone(&self.sending).try_acquire_owned();
        permit.ok().map(|permit| Sending { _permit: permit })
    }

    /// The next notification to send. If there is none, the right to send ends.
    pub(super) fn next(&self, sending: Sending) -> Option<(ClientNotification, Sending)> {
        let mut waiting = self.waiting.lock();
        let Some(notification) = waiting.pop_front() else {
            // Under the lock: the next notification finds that no task sends.
            drop(sending);
            return None;
        };
        Some((notification, sending))
    }

    /// Waits until everything is sent.
    pub(super) async fn wait_until_sent(&self) {
        drop(self.sending.acquire().await);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tidegate_core::{ClientContext, RawJson};

    use super::*;

    fn notification(method: &str) -> ClientNotification {
        ClientNotification {
            client: ClientContext::default(),
            method: method.to_owned(),
            params: RawJson::empty_object(),
        }
    }

    #[test]
    fn one_task_sends_everything_in_order() {
        let outgoing = OutgoingNotifications::default();
        let mut sending = outgoing.push(notification("a")).unwrap();
        assert!(outgoing.push(notification("b")).is_none());
        for method in ["a", "b"] {
            assert!(outgoing.wait_until_sent().now_or_never().is_none());
            let (next, again) = outgoing.next(sending).unwrap();
            assert_eq!(next.method, method);
            sending = again;
        }
        assert!(outgoing.next(sending).is_none());
        assert!(outgoing.wait_until_sent().now_or_never().is_some());
        assert!(outgoing.push(notification("c")).is_some());
    }

    #[test]
    fn more_than_the_limit_are_dropped() {
        let outgoing = OutgoingNotifications::default();
        let mut sending = outgoing.push(notification("first"));
        for _ in 0..2 * MAX_WAITING {
            outgoing.push(notification("more"));
        }
        let mut count = 0;
        while let Some((_, again)) = sending.take().and_then(|sending| outgoing.next(sending)) {
            count += 1;
            sending = Some(again);
        }
        assert_eq!(count, MAX_WAITING);
    }
}
