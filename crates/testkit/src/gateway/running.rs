//! A gateway whose HTTP transport is open, until it is stopped or dropped.
//!
//! Must not know: how it was put together.

use std::net::SocketAddr;
use std::sync::Arc;

use tidegate_core::CallStats;
use tidegate_server::Transports;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{Client, soon};

/// What every gateway consists of, whatever its transport.
pub(crate) struct Parts {
    pub(crate) transports: Arc<Transports>,
    pub(crate) stats: Arc<CallStats>,
    /// Ends when it is dropped.
    pub(crate) _background: JoinSet<()>,
}

/// A gateway at an address.
pub struct TestGateway {
    parts: Parts,
    address: SocketAddr,
    stop: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl TestGateway {
    pub(super) fn new(
        parts: Parts,
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

    /// A client that shows no credential.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// What has been counted of calls.
    pub fn stats(&self) -> &CallStats {
        &self.parts.stats
    }

    /// Begins to stop as the program does on a signal. With `Limits::shutdown_delay` the transport stays
    /// open for so long, so that a test can look at it.
    pub fn begin_to_stop(&mut self) -> Stopping {
        self.stop.cancel();
        Stopping {
            serving: self.serving.take().expect("a gateway stops once"),
        }
    }

    /// Stops, and waits until nothing is left.
    pub async fn stop(mut self) {
        self.begin_to_stop().stopped().await;
    }
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A gateway on its way out.
pub struct Stopping {
    serving: JoinHandle<()>,
}

impl Stopping {
    /// Waits until everything has ended.
    pub async fn stopped(self) {
        soon("the gateway to stop", self.serving)
            .await
            .expect("stopping does not panic");
    }
}
