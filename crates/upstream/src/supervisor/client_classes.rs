//! Loads the lists of each client class over a connection on which the server lists for that class.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{ServerFacts, SessionSupport};

use super::Supervisor;
use crate::backoff::Backoff;
use crate::catalog::client_class::{ClassKey, ClientClass};
use crate::client_key::ClientKey;
use crate::config::TransportConfig;
use crate::session::DeclaredClient;
use crate::session::connect::{EraPreference, connect, probe_sessions};

impl Supervisor {
    /// Keeps the catalogs of all classes but the default class fresh, for as long as it is polled.
    pub(super) async fn run_classes(&self) {
        let mut running = FuturesUnordered::new();
        loop {
            tokio::select! {
                classes = self.refresher.snapshots.new_classes() => {
                    running.extend(classes.into_iter().map(|class| self.run_class(class)));
                }
                Some(()) = running.next(), if !running.is_empty() => {}
            }
        }
    }

    async fn run_class(&self, class: Arc<ClientClass>) {
        let is_process = matches!(self.config.transport, TransportConfig::Stdio(_));
        let refreshed = async {
            match class.key {
                _ if is_process => self.load_over_client_connection(&class).await,
                ClassKey::Clients {
                    in_session: true, ..
                } => self.refresh_in_sessions(&class).await,
                ClassKey::Clients { .. } | ClassKey::Default => {
                    self.refresh_over_catalog_connection(&class).await;
                }
            }
        };
        tokio::select! {
            () = refreshed => {}
            () = class.wait_until_unused() => {}
        }
        self.refresher.snapshots.remove_class(&class);
    }

    /// Loads the lists over the process of the first client of the class, which needs one anyway as
    /// soon as it makes a call.
    async fn load_over_client_connection(&self, class: &ClientClass) {
        let Some(first) = &class.first_client else {
            return;
        };
        let mut restarts = self.refresher.restarts();
        while self.refresher.snapshots.load().contains(class) {
            restarts.mark_unchanged();
            let snapshot = self.refresher.snapshots.load();
            let key = snapshot.facts.as_ref().and_then(|facts| {
                ClientKey::for_client(&self.config, facts, &first.principal, &first.client)
            });
            match key {
                None => self.refresher.snapshots.stop_waiting_for(class),
                Some(key) => match self.pool.open_for(&key, &first.client).await {
                    Ok(pooled) => {
                        self.refresher
                            .refresh(class, &pooled.connection, &[], 0)
                            .await;
                    }
                    Err(error) => self.cannot_load(class, &error),
                },
            }
            restarts.changed().await.ok();
        }
    }

    /// A modern server at a URL lists by the capabilities of each request: the class is refreshed over
    /// the catalog connection, after each refresh of the default class.
    async fn refresh_over_catalog_connection(&self, class: &ClientClass) {
        let (mut refreshes, mut failures) = (self.refresher.refreshes(), 0);
        loop {
            refreshes.mark_unchanged();
            let connection = self.refresher.wait_for_connection().await;
            let refreshed = self.refresher.refresh(class, &connection, &[], failures);
            let mut schedule = refreshed.await;
            failures = schedule.failures;
            tokio::select! {
                _ = refreshes.changed() => {}
                () = connection.channel.closed() => {}
                _ = schedule.wait_until_due(), if failures > 0 => {}
            }
        }
    }

    /// A server at a URL lists for legacy clients by the capabilities of the session. The session is kept
    /// only if the lists of the class differ from the default lists.
    async fn refresh_in_sessions(&self, class: &ClientClass) {
        let snapshots = &self.refresher.snapshots;
        let mut restarts = self.refresher.restarts();
        let mut backoff = Backoff::for_streams();
        while snapshots.load().contains(class) {
            restarts.mark_unchanged();
            self.refresher.wait_for_connection().await;
            match self.supports_sessions().await {
                Some(true) => {}
                Some(false) => return snapshots.stop_waiting_for(class),
                None => {
                    snapshots.stop_waiting_for(class);
                    tokio::time::sleep(backoff.delay()).await;
                    continue;
                }
            }
            let client = DeclaredClient {
                capabilities: class.capabilities(),
                info: None,
            };
            let tasks = &self.refresher.background_tasks;
            match connect(&self.config, tasks, &client, EraPreference::LegacyFirst).await {
                Ok((connection, notifications)) => {
                    let schedule = self.refresher.refresh(class, &connection, &[], 0).await;
                    backoff.reset();
                    if snapshots.load().is_same_as_default(class) {
                        drop((connection, notifications));
                        restarts.changed().await.ok();
                        continue;
                    }
                    self.refresher
                        .keep_fresh(class, &connection, notifications, schedule)
                        .await;
                }
                Err(error) => self.cannot_load(class, &error),
            }
            tokio::time::sleep(backoff.delay()).await;
        }
    }

    /// Whether the server opens sessions for legacy clients, if that is known. A modern server is asked
    /// once for each catalog connection; without a conclusive response, what was known counts.
    async fn supports_sessions(&self) -> Option<bool> {
        let mut probed_connection = self.probed_connection.lock().await;
        let snapshots = &self.refresher.snapshots;
        let is_modern = |facts: &ServerFacts| facts.revision.era() == Era::Modern;
        let is_modern = snapshots.load().facts.as_deref().is_some_and(is_modern);
        let connection = Some(self.refresher.connect_count());
        if is_modern && *probed_connection != connection {
            let tasks = &self.refresher.background_tasks;
            let sessions = probe_sessions(&self.config, tasks).await;
            if sessions != SessionSupport::Unknown {
                self.refresher.set_session_support(sessions);
                *probed_connection = connection;
            }
        }
        let facts = snapshots.load().facts.clone()?;
        (facts.sessions != SessionSupport::Unknown).then(|| facts.supports_sessions())
    }

    fn cannot_load(&self, class: &ClientClass, error: &tidegate_core::Error) {
        self.refresher.snapshots.stop_waiting_for(class);
        tracing::warn!(
            source = self.config.name,
            error = error.message(),
            "cannot load the lists of a client class; its clients see the default lists"
        );
    }
}
