//! Keeps the catalog connection to a server open, reconnects with backoff, and publishes the state of
//! the connection in the snapshot. Where clients have processes of their own, the catalog connection
//! is closed for as long as there are any.

mod catalog_file;
mod client_classes;
mod liveness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_core::Error;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff::Backoff;
use crate::catalog::refresh::Refresher;
use crate::catalog::snapshot::CatalogConnection;
use crate::change_stream;
use crate::config::{RemoteConfig, TransportConfig};
use crate::occupancy::Occupancy;
use crate::pool::Pool;
use crate::session::connect::{Connected, EraMemory};
use crate::session::{Connection, Notifications};
use crate::transport::stdio::ProcessReport;

/// The supervisor of one server.
pub(crate) struct Supervisor {
    pub(crate) config: Arc<RemoteConfig>,
    pub(crate) refresher: Arc<Refresher>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) occupancy: Arc<Occupancy>,
    pub(crate) era_memory: EraMemory,
    /// The catalog connection during which the server was last asked for a session, by its number.
    pub(crate) probed_connection: Mutex<Option<u64>>,
    /// Cancelled when the first attempt to connect has succeeded or failed.
    pub(crate) first_attempt: CancellationToken,
}

/// Why the catalog connection has ended.
enum ConnectionEnd {
    Closed,
    /// A client needs a process.
    Replaced,
}

impl Supervisor {
    /// Keeps the server connected and its catalogs fresh, for as long as it is polled.
    pub(crate) async fn run(&self) {
        tokio::join!(
            self.keep_connected(),
            self.run_classes(),
            self.save_catalog()
        );
    }

    async fn keep_connected(&self) {
        let mut backoff = Backoff::for_connections();
        let mut last_failure = None;
        loop {
            self.occupancy.begin_catalog_connection().await;
            let Some(connected) = self.connect().await else {
                self.replaced();
                continue;
            };
            let mut connected_for = Duration::ZERO;
            match connected {
                Ok((connection, notifications)) => {
                    let start = Instant::now();
                    let end = self.serve(&connection, notifications).await;
                    connected_for = start.elapsed();
                    last_failure = None;
                    if matches!(end, ConnectionEnd::Closed) {
                        self.disconnected();
                    }
                    // Two processes of one program might interfere with each other.
                    connection.channel.close().await;
                    if matches!(end, ConnectionEnd::Replaced) {
                        self.replaced();
                        continue;
                    }
                }
                Err(error) => {
                    self.connect_failed(&error, last_failure.as_deref());
                    last_failure = Some(error.message().to_owned());
                }
            }
            self.occupancy.end_catalog_connection();
            self.first_attempt.cancel();
            tokio::time::sleep(backoff.delay_after(connected_for)).await;
        }
    }

    /// Opens the catalog connection; `None` if a client needs a process first.
    async fn connect(&self) -> Option<Result<Connected, Error>> {
        let background_tasks = &self.refresher.background_tasks;
        if !matches!(self.config.transport, TransportConfig::Stdio(_)) {
            return Some(
                self.era_memory
                    .connect(&self.config, background_tasks)
                    .await,
            );
        }
        // The tasks of this connection alone, so that the end of its process can be waited for.
        let tasks = TaskTracker::new();
        let connected = tokio::select! {
            connected = self.era_memory.connect(&self.config, &tasks) => Some(connected),
            () = self.occupancy.wait_for_clients() => None,
        };
        tasks.close();
        match connected {
            Some(_) => drop(background_tasks.spawn(async move { tasks.wait().await })),
            None => tasks.wait().await,
        }
        connected
    }

    /// Serves over one connection until it is closed, or a client needs a process.
    async fn serve(
        &self,
        connection: &Arc<Connection>,
        notifications: Notifications,
    ) -> ConnectionEnd {
        let schedule = self.refresher.publish_connection(connection).await;
        self.first_attempt.cancel();
        let revision = connection.facts.revision;
        tracing::info!(source = self.config.name, %revision, "source connected");
        let subscriptions = self.refresher.subscriptions.follow();
        // Updates may have been missed while the server was not connected.
        self.refresher.announce_subscribed_resources();
        tokio::select! {
            () = change_stream::run(connection, subscriptions) => ConnectionEnd::Closed,
            () = self.refresher.keep_default_fresh(connection, notifications, schedule) => {
                ConnectionEnd::Closed
            }
            () = self.wait_until_unreachable(connection) => ConnectionEnd::Closed,
            () = self.occupancy.wait_for_clients() => ConnectionEnd::Replaced,
        }
    }

    /// Clients have processes of their own from now on.
    fn replaced(&self) {
        self.refresher
            .snapshots
            .update(|snapshot| snapshot.connection = CatalogConnection::Replaced);
        self.first_attempt.cancel();
        self.occupancy.end_catalog_connection();
        tracing::debug!(
            source = self.config.name,
            "catalog connection closed: clients have connections of their own"
        );
    }

    fn disconnected(&self) {
        let snapshots = &self.refresher.snapshots;
        snapshots.update(|snapshot| snapshot.set_disconnected("disconnected; reconnecting", None));
        tracing::warn!(source = self.config.name, "source disconnected");
    }

    /// Records a failed attempt. The same failure is logged once, however often it is retried.
    fn connect_failed(&self, error: &Error, last_failure: Option<&str>) {
        let (source, message) = (&self.config.name, error.message());
        let cause = std::error::Error::source(error);
        let shown_cause = cause.map(ToString::to_string);
        match last_failure == Some(message) {
            true => tracing::debug!(source, cause = shown_cause, "source still unreachable"),
            false => {
                tracing::warn!(
                    source,
                    error = message,
                    cause = shown_cause,
                    "cannot connect to source"
                );
            }
        }
        // Administrators see why a process failed; other callers see only the message.
        let report = cause.and_then(|cause| cause.downcast_ref::<ProcessReport>());
        let details = report.map(ToString::to_string);
        self.refresher.snapshots.update(|snapshot| {
            snapshot.set_unavailable(message);
            snapshot.set_disconnected(message, details.clone());
        });
    }
}
