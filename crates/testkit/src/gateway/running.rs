//! A gateway that serves HTTP until it is stopped or dropped.
//!
//! Must not know: how it was built.

use std::net::SocketAddr;
use std::sync::Arc;

use tidegate_core::CallStats;
use tidegate_server::Transports;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{Client, wait_for};

/// The parts of a gateway that do not depend on the transport.
pub(crate) struct GatewayParts {
    pub(crate) transports: Arc<Transports>,
    pub(crate) stats: Arc<CallStats>,
    /// Aborted on drop.
    pub(crate) _background: JoinSet<()>,
}

/// A gateway that listens on an address.
pub struct TestGateway {
    parts: GatewayParts,
    address: SocketAddr,
    stop: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl TestGateway {
    pub(super) fn new(
        parts: GatewayParts,
        address: SocketAddr,
        stop: CancellationToken,
        serving: JoinHandle<()>,
    ) -> Self {
        Self {
            parts,
            address,
            stop,
            serving: Some(serving),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A client without credentials.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// The call counters.
    pub fn stats(&self) -> &CallStats {
        &self.parts.stats
    }

    /// Starts the shutdown, as a signal does in the program. With `TransportLimits::shutdown_delay` the
    /// transport stays open that long, so that a test can observe it.
    pub fn start_shutdown(&mut self) -> Stopping {
        self.stop.cancel();
        Stopping {
            serving: self.serving.take().expect("one shutdown"),
        }
    }

    /// Stops the gateway and waits until every task has ended.
    pub async fn stop(mut self) {
        self.start_shutdown().stopped().await;
    }
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A gateway that is shutting down.
pub struct Stopping {
    serving: JoinHandle<()>,
}

impl Stopping {
    /// Waits until the shutdown is complete.
    pub async fn stopped(self) {
        wait_for("the gateway to stop", self.serving)
            .await
            .expect("a shutdown without panic");
    }
}
