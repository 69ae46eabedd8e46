//! Whether the catalog connection or clients have the processes of a server. Some servers tolerate
//! one process only, so the process for the catalog ends before the first process of a client starts,
//! and starts again when no client has one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long a client waits for the process of the catalog to end, and for other processes.
const YIELD_TIMEOUT: Duration = Duration::from_secs(15);
const CLOSING_TIMEOUT: Duration = Duration::from_secs(3);

/// Who has processes of one server.
pub(crate) struct Occupancy {
    /// False where the catalog connection stays open next to the connections of clients.
    is_exclusive: bool,
    clients: watch::Sender<ClientCounts>,
    has_catalog_connection: watch::Sender<bool>,
    /// Calls in flight on the catalog connection.
    catalog_calls: Arc<watch::Sender<usize>>,
}

#[derive(Clone, Copy, Default)]
struct ClientCounts {
    /// Clients that have a connection, or open one.
    open: usize,
    /// Connections of clients that are being closed.
    closing: usize,
}

/// A call on the catalog connection, which stays open until this is dropped.
pub(crate) struct CatalogUse(Arc<watch::Sender<usize>>);

impl Drop for CatalogUse {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// A connection of a client that is closed when this is dropped.
pub(crate) struct Closing(Arc<Occupancy>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.clients.send_modify(|clients| clients.closing -= 1);
    }
}

impl Occupancy {
    pub(crate) fn new(is_exclusive: bool) -> Self {
        Self {
            is_exclusive,
            clients: watch::Sender::default(),
            has_catalog_connection: watch::Sender::new(false),
            catalog_calls: Arc::default(),
        }
    }

    pub(crate) fn set_clients(&self, open: usize) {
        self.clients.send_modify(|clients| clients.open = open);
    }

    pub(crate) fn begin_closing(self: &Arc<Self>) -> Closing {
        self.clients.send_modify(|clients| clients.closing += 1);
        Closing(Arc::clone(self))
    }

    /// Waits until a process of a client may be started.
    pub(crate) async fn wait_for_process(&self) {
        if self.is_exclusive {
            let mut has_catalog_connection = self.has_catalog_connection.subscribe();
            let closed = has_catalog_connection.wait_for(|is_open| !is_open);
            timeout(YIELD_TIMEOUT, closed).await.ok();
            let mut clients = self.clients.subscribe();
            let closed = clients.wait_for(|clients| clients.closing == 0);
            timeout(CLOSING_TIMEOUT, closed).await.ok();
        }
    }

    /// Waits until the catalog connection may be opened, and marks it as open.
    pub(crate) async fn begin_catalog_connection(&self) {
        if !self.is_exclusive {
            return;
        }
        let mut clients = self.clients.subscribe();
        loop {
            let ended = clients.wait_for(|clients| clients.open == 0 && clients.closing == 0);
            ended.await.ok();
            self.has_catalog_connection.send_replace(true);
            if clients.borrow().open == 0 {
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
        let may_use = !self.is_exclusive || self.clients.borrow().open == 0;
        may_use.then_some(in_use)
    }

    /// Waits until the catalog connection has to be closed, because a client needs a process.
    pub(crate) async fn wait_for_clients(&self) {
        if !self.is_exclusive {
            return std::future::pending().await;
        }
        let mut clients = self.clients.subscribe();
        clients.wait_for(|clients| clients.open > 0).await.ok();
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
        let occupancy = Arc::new(Occupancy::new(true));
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
        let closing = occupancy.begin_closing();
        occupancy.set_clients(0);
        let begun = occupancy.begin_catalog_connection().now_or_never();
        assert!(
            begun.is_none(),
            "the process of the client has not ended yet"
        );
        drop(closing);
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
