//! Whether the catalog connection or clients have the processes of a server. Some servers tolerate
//! one process only, so the process for the catalog ends before the first process of a client starts,
//! and starts again when no client has one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long a client waits for the process of the catalog to end.
const YIELD_TIMEOUT: Duration = Duration::from_secs(15);

/// Who has processes of one server.
pub(crate) struct Occupancy {
    /// False where the catalog connection stays open next to the connections of clients.
    is_exclusive: bool,
    /// The clients that have a connection, or open one.
    clients: watch::Sender<usize>,
    has_catalog_connection: watch::Sender<bool>,
    /// Calls in flight on the catalog connection.
    catalog_calls: Arc<watch::Sender<usize>>,
}

/// A call on the catalog connection, which stays open until this is dropped.
pub(crate) struct CatalogUse(Arc<watch::Sender<usize>>);

impl Drop for CatalogUse {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Occupancy {
    pub(crate) fn new(is_exclusive: bool) -> Self {
        Self {
            is_exclusive,
            clients: watch::Sender::new(0),
            has_catalog_connection: watch::Sender::new(false),
            catalog_calls: Arc::default(),
        }
    }

    pub(crate) fn set_clients(&self, count: usize) {
        self.clients.send_replace(count);
    }

    /// Waits until the catalog connection is closed, if it may not stay open.
    pub(crate) async fn wait_for_process(&self) {
        if self.is_exclusive {
            let mut has_catalog_connection = self.has_catalog_connection.subscribe();
            let closed = has_catalog_connection.wait_for(|is_open| !is_open);
            timeout(YIELD_TIMEOUT, closed).await.ok();
        }
    }

    /// Waits until the catalog connection may be opened, and marks it as open.
    pub(crate) async fn begin_catalog_connection(&self) {
        if !self.is_exclusive {
            return;
        }
        let mut clients = self.clients.subscribe();
        loop {
            clients.wait_for(|count| *count == 0).await.ok();
            self.has_catalog_connection.send_replace(true);
            if *clients.borrow() == 0 {
                return;
            }
            self.has_catalog_connection.send_replace(false);
        }
    }

    pub(crate) fn end_catalog_connection(&self) {
        self.has_catalog_connection.send_replace(false);
    }

    /// Keeps the catalog connection open for a call; `None` if a client already waits for a process.
    pub(crate) fn use_catalog_connection(&self) -> Option<CatalogUse> {
        self.catalog_calls.send_modify(|count| *count += 1);
        let in_use = CatalogUse(Arc::clone(&self.catalog_calls));
        let may_use = !self.is_exclusive || *self.clients.borrow() == 0;
        may_use.then_some(in_use)
    }

    /// Waits until the catalog connection has to be closed, because a client needs a process.
    pub(crate) async fn wait_for_clients(&self) {
        if !self.is_exclusive {
            return std::future::pending().await;
        }
        let mut clients = self.clients.subscribe();
        clients.wait_for(|count| *count > 0).await.ok();
        let mut calls = self.catalog_calls.subscribe();
        calls.wait_for(|count| *count == 0).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_client_waits_until_the_catalog_connection_is_closed() {
        let occupancy = Occupancy::new(true);
        occupancy.begin_catalog_connection().await;
        assert!(occupancy.wait_for_clients().now_or_never().is_none());
        occupancy.set_clients(1);
        occupancy.wait_for_clients().await;
        assert!(occupancy.wait_for_process().now_or_never().is_none());
        occupancy.end_catalog_connection();
        occupancy.wait_for_process().await;
        assert!(
            occupancy
                .begin_catalog_connection()
                .now_or_never()
                .is_none()
        );
        occupancy.set_clients(0);
        occupancy.begin_catalog_connection().await;
    }

    #[tokio::test]
    async fn connections_that_are_not_exclusive_never_wait() {
        let occupancy = Occupancy::new(false);
        occupancy.set_clients(1);
        occupancy.begin_catalog_connection().await;
        occupancy.wait_for_process().await;
        assert!(occupancy.wait_for_clients().now_or_never().is_none());
    }
}
