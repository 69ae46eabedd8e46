//! What all doors share, and how they close.

use std::sync::Arc;

use tidegate_core::{Gateway, Identify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Limits, Load};

/// What all doors share.
pub struct Doors {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) identify: Arc<dyn Identify>,
    pub(crate) limits: Limits,
    pub(crate) load: Arc<Load>,
    /// Every task a door starts; none outlives the doors.
    pub(crate) tasks: TaskTracker,
    /// No more calls should be sent here.
    pub(crate) stopping: CancellationToken,
    /// What only waits for something to happen ends now.
    pub(crate) draining: CancellationToken,
    /// Ends everything at once, after the time to drain.
    pub(crate) ended: CancellationToken,
}

impl Doors {
    pub fn new(
        gateway: Arc<Gateway>,
        identify: Arc<dyn Identify>,
        limits: Limits,
        load: Arc<Load>,
    ) -> Self {
        let token = CancellationToken::new;
        let (stopping, draining, ended) = (token(), token(), token());
        let tasks = TaskTracker::new();
        Self {
            gateway,
            identify,
            limits,
            load,
            tasks,
            stopping,
            draining,
            ended,
        }
    }

    /// Ends idle sessions, for as long as it is polled.
    pub async fn sweep(&self) {
        let mut ticks = tokio::time::interval(self.load.sessions.sweep_every());
        loop {
            ticks.tick().await;
            self.load.sessions.sweep();
        }
    }

    /// Says that no more calls should be sent here.
    pub(crate) fn stop(&self) {
        self.stopping.cancel();
    }

    /// Begins to stop: streams of changes end gracefully, calls under way go on.
    pub(crate) fn drain(&self) {
        self.stop();
        self.draining.cancel();
        self.gateway.drain();
        self.load.sessions.drain();
    }

    /// Waits until nothing is under way.
    pub(crate) async fn idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends whatever is still under way.
    pub(crate) async fn end(&self) {
        self.ended.cancel();
        self.idle().await;
    }
}
