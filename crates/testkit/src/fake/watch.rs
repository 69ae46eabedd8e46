//! What a test sees of a tool's calls, and the gate at which they hold.
//!
//! Must not know: what a call does.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::soon;

/// How often a tool has been called, and how the calls ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub started: usize,
    /// Ended with a result or an error.
    pub finished: usize,
    /// Dropped before the end: cancelled, or broken by a panic.
    pub dropped: usize,
}

pub(super) struct Watch {
    counts: watch::Sender<Counts>,
    gate: Semaphore,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            counts: watch::Sender::default(),
            gate: Semaphore::new(0),
        }
    }
}

impl Watch {
    pub(super) fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    pub(super) async fn until(&self, tool: &str, condition: impl Fn(&Counts) -> bool) {
        let mut counts = self.counts.subscribe();
        let what = format!("calls of `{tool}`");
        soon(&what, counts.wait_for(condition))
            .await
            .expect("the source is there");
    }

    pub(super) fn release(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    /// Holds until the test lets one more call go on.
    pub(super) async fn hold(&self) {
        self.gate
            .acquire()
            .await
            .expect("the gate is never closed")
            .forget();
    }
}

/// One call under watch.
pub(super) struct Watched {
    pub(super) watch: Arc<Watch>,
    ended: bool,
}

impl Watched {
    pub(super) fn new(watch: Arc<Watch>) -> Self {
        watch.counts.send_modify(|counts| counts.started += 1);
        Self {
            watch,
            ended: false,
        }
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
        self.watch.counts.send_modify(|counts| counts.finished += 1);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.ended {
            self.watch.counts.send_modify(|counts| counts.dropped += 1);
        }
    }
}
