//! What a test observes of a tool's calls, and the gate that holds them.
//!
//! Must not know: what a call does.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::wait_for;

/// How many calls of a tool started, and how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub started: usize,
    /// Ended with a result or an error.
    pub finished: usize,
    /// Dropped before the end: cancelled or panicked.
    pub dropped: usize,
}

pub(super) struct CallMonitor {
    counts: watch::Sender<CallCounts>,
    gate: Semaphore,
}

impl Default for CallMonitor {
    fn default() -> Self {
        Self {
            counts: watch::Sender::default(),
            gate: Semaphore::new(0),
        }
    }
}

impl CallMonitor {
    pub(super) fn counts(&self) -> CallCounts {
        *self.counts.borrow()
    }

    pub(super) async fn wait_until(&self, tool: &str, condition: impl Fn(&CallCounts) -> bool) {
        let mut counts = self.counts.subscribe();
        let what = format!("calls of `{tool}` (so far: {:?})", self.counts());
        wait_for(&what, counts.wait_for(condition))
            .await
            .expect("the sender outlives the wait");
    }

    pub(super) fn release(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    /// Blocks until the test releases one more call.
    pub(super) async fn hold(&self) {
        self.gate
            .acquire()
            .await
            .expect("the gate is never closed")
            .forget();
    }
}

/// Counts one call: its start and how it ended.
pub(super) struct MonitoredCall {
    pub(super) monitor: Arc<CallMonitor>,
    ended: bool,
}

impl MonitoredCall {
    pub(super) fn new(monitor: Arc<CallMonitor>) -> Self {
        monitor.counts.send_modify(|counts| counts.started += 1);
        Self {
            monitor,
            ended: false,
        }
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
        self.monitor
            .counts
            .send_modify(|counts| counts.finished += 1);
    }
}

impl Drop for MonitoredCall {
    fn drop(&mut self) {
        if !self.ended {
            self.monitor
                .counts
                .send_modify(|counts| counts.dropped += 1);
        }
    }
}
