//! The state that all transports share, and their shutdown.

use std::sync::Arc;

use tidegate_core::{Gateway, Identify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::session::SessionTable;
use crate::{Admission, TransportLimits};

/// The state that all transports share.
pub struct Transports {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) identify: Arc<dyn Identify>,
    pub(crate) limits: TransportLimits,
    pub(crate) admission: Arc<Admission>,
    pub(crate) sessions: SessionTable,
    /// The tasks of all transports. No task outlives the transports.
    pub(crate) tasks: TaskTracker,
    /// Shutdown was requested: the gateway is no longer ready.
    pub(crate) stopping: CancellationToken,
    /// Streams that only wait for changes end.
    pub(crate) draining: CancellationToken,
    /// Everything ends immediately, after the shutdown timeout.
    pub(crate) aborted: CancellationToken,
}

impl Transports {
    pub fn new(
        gateway: Arc<Gateway>,
        identify: Arc<dyn Identify>,
        limits: TransportLimits,
        admission: Arc<Admission>,
    ) -> Self {
        Self {
            gateway,
            identify,
            sessions: SessionTable::new(&limits),
            limits,
            admission,
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            draining: CancellationToken::new(),
            aborted: CancellationToken::new(),
        }
    }

    /// Ends idle sessions, for as long as it is polled.
    pub async fn expire_idle_sessions(&self) {
        let mut ticks = tokio::time::interval(self.sessions.expiry_interval());
        loop {
            ticks.tick().await;
            self.sessions.expire_idle();
        }
    }

    /// Makes the gateway report that it is not ready.
    pub(crate) fn begin_stop(&self) {
        self.stopping.cancel();
    }

    /// Ends change streams gracefully. Calls in flight continue.
    pub(crate) fn begin_drain(&self) {
        self.begin_stop();
        self.draining.cancel();
        self.gateway.drain();
        self.sessions.drain();
    }

    /// Waits until no task is left.
    pub(crate) async fn wait_until_idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends all calls that are still in flight.
    pub(crate) async fn abort(&self) {
        self.aborted.cancel();
        self.wait_until_idle().await;
    }
}
