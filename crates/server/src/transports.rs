//! What all transports share, and how they close.

use std::sync::Arc;

use tidegate_core::{Gateway, Identify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Admission, Limits};

/// What all transports share.
pub struct Transports {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) identify: Arc<dyn Identify>,
    pub(crate) limits: Limits,
    pub(crate) admission: Arc<Admission>,
    /// Every task a transport starts; none outlives the transports.
    pub(crate) tasks: TaskTracker,
    /// No more calls should be sent here.
    pub(crate) stopping: CancellationToken,
    /// What only waits for something to happen ends now.
    pub(crate) draining: CancellationToken,
    /// Ends everything at once, after the time to drain.
    pub(crate) ended: CancellationToken,
}

impl Transports {
    pub fn new(
        gateway: Arc<Gateway>,
        identify: Arc<dyn Identify>,
        limits: Limits,
        admission: Arc<Admission>,
    ) -> Self {
        let token = CancellationToken::new;
        let (stopping, draining, ended) = (token(), token(), token());
        let tasks = TaskTracker::new();
        Self {
            gateway,
            identify,
            limits,
            admission,
            tasks,
            stopping,
            draining,
            ended,
        }
    }

    /// Ends idle sessions, for as long as it is polled.
    pub async fn expire_idle_sessions(&self) {
        let mut ticks = tokio::time::interval(self.admission.sessions.sweep_every());
        loop {
            ticks.tick().await;
            self.admission.sessions.sweep();
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
        self.admission.sessions.drain();
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
