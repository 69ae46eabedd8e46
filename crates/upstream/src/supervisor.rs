//! Keeps a server connected, reconnects with backoff, and publishes the state of the connection in the
//! snapshot.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_core::{ChangeSender, Error};
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::catalog::refresh::Refresher;
use crate::change_stream;
use crate::config::RemoteConfig;
use crate::session::connect::EraMemory;
use crate::session::{Connection, Notifications};
use crate::transport::stdio::ProcessReport;

/// The supervisor of one server.
pub(crate) struct Supervisor {
    pub(crate) config: Arc<RemoteConfig>,
    pub(crate) refresher: Refresher,
    era_memory: EraMemory,
    /// Cancelled when the first attempt to connect has succeeded or failed.
    pub(crate) first_attempt: CancellationToken,
}

impl Supervisor {
    pub(crate) fn new(config: Arc<RemoteConfig>, changes: ChangeSender) -> Self {
        Self {
            refresher: Refresher::new(Arc::clone(&config), changes),
            config,
            era_memory: EraMemory::default(),
            first_attempt: CancellationToken::new(),
        }
    }

    /// Keeps the server connected and its catalogs fresh, for as long as it is polled.
    pub(crate) async fn run(&self) {
        tokio::join!(self.keep_connected(), self.refresher.run_classes());
    }

    async fn keep_connected(&self) {
        let mut backoff = Backoff::for_connections();
        let mut last_failure = None;
        loop {
            let mut connected_for = Duration::ZERO;
            let tasks = &self.refresher.background_tasks;
            match self.era_memory.connect(&self.config, tasks).await {
                Ok((connection, notifications)) => {
                    let start = Instant::now();
                    self.serve(&connection, notifications).await;
                    connected_for = start.elapsed();
                    last_failure = None;
                    self.disconnected();
                    // Two processes of one program might interfere with each other.
                    connection.channel.close().await;
                }
                Err(error) => {
                    self.connect_failed(&error, last_failure.as_deref());
                    last_failure = Some(error.message().to_owned());
                }
            }
            self.first_attempt.cancel();
            tokio::time::sleep(backoff.delay_after(connected_for)).await;
        }
    }

    /// Serves over one connection until it is closed.
    async fn serve(&self, connection: &Arc<Connection>, notifications: Notifications) {
        let schedule = self.refresher.publish_connection(connection).await;
        self.first_attempt.cancel();
        let revision = connection.facts.revision;
        tracing::info!(source = self.config.name, %revision, "source connected");
        let subscriptions = self.refresher.subscriptions.follow();
        // Updates may have been missed while the server was not connected.
        self.refresher.announce_subscribed_resources();
        tokio::select! {
            () = change_stream::run(connection, subscriptions) => {}
            () = self.refresher.keep_everyone_fresh(connection, notifications, schedule) => {}
        }
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
