//! A remote MCP server as a source: a facade over its supervisor, its connection pool and the
//! questions to its clients.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, join_all, ready};
use parking_lot::Mutex;
use tidegate_core::{
    AffinityKey, Call, Caller, Catalog, ChangeSender, ChangeStream, ExtensionMembers,
    ExtensionSubscription, GaugeValue, Health, LogStream, LoggingLevel, RawJson, Reply,
    ResourceSubscription, Result, Source, TaskUpdates, Viewer,
};
use tidegate_interaction::Interaction;
use tokio::sync::Semaphore;
use tokio::time::{timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::catalog::refresh::Refresher;
use crate::catalog::snapshot::{CatalogConnection, Snapshot, SnapshotStore};
use crate::change_stream::MAX_CLIENT_STREAMS;
use crate::change_stream::extensions::{self, ClientConnections, HeldConnection};
use crate::change_stream::tasks::{self, TaskConnections};
use crate::client_key::ClientKey;
use crate::config::{CatalogFile, RemoteConfig, TransportConfig};
use crate::occupancy::Occupancy;
use crate::pool::Pool;
use crate::relay::Relay;
use crate::session::connect::EraMemory;
use crate::session::connection::ClientNotification;
use crate::supervisor::Supervisor;

/// How long a caller that requests an unlisted resource waits for a refresh.
const REFRESH_WAIT: Duration = Duration::from_secs(2);

/// Minimum interval between refreshes on demand.
const REFRESH_INTERVAL: Duration = Duration::from_secs(5);

/// How long a new subscriber waits until the server accepts or refuses.
const SUBSCRIBE_WAIT: Duration = Duration::from_secs(5);

/// The same, at a server that is down.
const SUBSCRIBE_WAIT_WHEN_DOWN: Duration = Duration::from_millis(500);

/// Longer than it takes to kill a process that does not exit.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// A remote MCP server.
pub struct Remote {
    supervisor: Supervisor,
    relay: Relay,
    /// Permits for change streams of clients.
    client_streams: Arc<Semaphore>,
    created: tokio::time::Instant,
    last_refresh_request: Mutex<Option<Instant>>,
}

impl Remote {
    pub fn new(config: RemoteConfig) -> Self {
        let config = Arc::new(config);
        let changes = ChangeSender::default();
        let seal = Arc::clone(&config.seal);
        let interaction = Interaction::new(seal, config.parked_call_timeout, changes.clone());
        let saved = config.saved_catalog.as_ref().and_then(CatalogFile::load);
        let needs_session = saved.as_ref().is_some_and(|saved| saved.needs_session);
        let refresher = Refresher::new(Arc::clone(&config), changes, saved.as_ref());
        let refresher = Arc::new(refresher);
        let first_attempt = CancellationToken::new();
        let is_process = matches!(config.transport, TransportConfig::Stdio(_));
        let is_shared = config.is_shared_by_principals();
        let occupancy = Arc::new(Occupancy::new(is_process && !is_shared));
        let pool = Arc::new(Pool::new(
            Arc::clone(&config),
            Arc::clone(&occupancy),
            Arc::clone(&refresher),
            Arc::clone(&interaction.url_elicitations),
        ));
        Self {
            supervisor: Supervisor {
                config: Arc::clone(&config),
                refresher: Arc::clone(&refresher),
                pool: Arc::clone(&pool),
                occupancy: Arc::clone(&occupancy),
                era_memory: EraMemory::new(needs_session),
                probed_connection: tokio::sync::Mutex::default(),
                first_attempt: first_attempt.clone(),
            },
            relay: Relay {
                config,
                refresher,
                pool,
                occupancy,
                interaction,
                sampled_models: Arc::default(),
                first_attempt,
            },
            client_streams: Arc::new(Semaphore::new(MAX_CLIENT_STREAMS)),
            created: tokio::time::Instant::now(),
            last_refresh_request: Mutex::default(),
        }
    }

    /// Keeps the server connected and its catalogs fresh, for as long as it is polled.
    pub async fn run(&self) {
        tokio::join!(
            self.supervisor.run(),
            self.relay.pool.sweep(),
            self.relay.interaction.parked_calls.sweep()
        );
    }

    /// Closes all connections, and waits until cancellations are sent and processes have exited. Only
    /// when nothing polls [`Self::run`] any more, which would reconnect.
    pub async fn stop(&self) {
        self.relay.interaction.parked_calls.cancel_all();
        let catalog_connection = self.snapshots().update(|snapshot| {
            std::mem::replace(&mut snapshot.connection, CatalogConnection::Unavailable)
        });
        let mut connections = self.relay.pool.drain();
        if let CatalogConnection::Open(connection) = catalog_connection {
            connections.push(connection);
        }
        let connections = connections.into_iter();
        join_all(connections.map(|connection| async move { connection.channel.close().await }))
            .await;
        let background_tasks = &self.supervisor.refresher.background_tasks;
        background_tasks.close();
        timeout(STOP_TIMEOUT, background_tasks.wait()).await.ok();
    }

    fn config(&self) -> &RemoteConfig {
        &self.supervisor.config
    }

    fn snapshots(&self) -> &Arc<SnapshotStore> {
        &self.supervisor.refresher.snapshots
    }

    /// Whether no caller requested a refresh recently. If so, records this request.
    fn may_request_refresh(&self) -> bool {
        let mut last = self.last_refresh_request.lock();
        let is_recent = last.is_some_and(|last| last.elapsed() < REFRESH_INTERVAL);
        if !is_recent {
            *last = Some(Instant::now());
        }
        !is_recent
    }

    /// Provides the connection on which a client's calls are made.
    fn connections_of(&self, viewer: &Viewer<'_>) -> TaskConnections {
        let key = self.client_key(&self.snapshots().load(), viewer);
        let (pool, snapshots) = (Arc::clone(&self.relay.pool), Arc::clone(self.snapshots()));
        Box::new(move || {
            let of_client = key.as_ref().and_then(|key| pool.current(key));
            of_client.or_else(|| snapshots.load().open_connection().cloned())
        })
    }

    /// Provides the connection on which a client's calls are made; opens it if necessary.
    fn held_connections_of(&self, viewer: &Viewer<'_>) -> ClientConnections {
        let key = self.client_key(&self.snapshots().load(), viewer);
        let (pool, snapshots) = (Arc::clone(&self.relay.pool), Arc::clone(self.snapshots()));
        let client = viewer.client.clone();
        Box::new(move || {
            let (pool, snapshots) = (Arc::clone(&pool), Arc::clone(&snapshots));
            let (key, client) = (key.clone(), client.clone());
            Box::pin(async move {
                let Some(key) = key else {
                    let connection = snapshots.load().open_connection().cloned()?;
                    return Some(HeldConnection::shared(connection));
                };
                let pooled = pool.open_for(&key, &client).await.ok()?;
                let connection = Arc::clone(&pooled.connection);
                Some(HeldConnection::until_dropped(connection, pooled))
            })
        })
    }

    /// The open connections of clients, and the catalog connection.
    fn connection_count(&self) -> u64 {
        let counts = self.relay.pool.counts();
        let of_clients: u64 = counts.iter().map(|(_, count)| count).sum();
        of_clients + u64::from(self.snapshots().load().open_connection().is_some())
    }

    /// Waits until the lists of a viewer's class are loaded. Its class may change when the sessions of
    /// the server become known.
    async fn wait_for_class(&self, viewer: &Viewer<'_>) {
        let deadline = tokio::time::Instant::now() + self.config().list_wait;
        loop {
            let (_, class) = self.snapshots().view(self.config(), viewer);
            if class.is_settled() {
                return;
            }
            if timeout_at(deadline, class.wait_until_settled())
                .await
                .is_err()
            {
                return self.snapshots().stop_waiting_for(&class);
            }
        }
    }

    fn client_key(&self, snapshot: &Snapshot, viewer: &Viewer<'_>) -> Option<ClientKey> {
        let facts = snapshot.facts.as_ref()?;
        let principal = &viewer.caller.principal;
        ClientKey::for_client(self.config(), facts, principal, viewer.client)
    }
}

impl Source for Remote {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.snapshots().catalog(self.config(), viewer)
    }

    fn cache_lifetime(&self, viewer: &Viewer<'_>) -> Option<Duration> {
        let (snapshot, class) = self.snapshots().view(self.config(), viewer);
        snapshot.cache_lifetime_of(&class).remaining()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.relay.call(&call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.supervisor.refresher.changes.stream()
    }

    fn log_messages(&self) -> LogStream {
        self.supervisor.refresher.log_messages.stream()
    }

    fn health(&self) -> Health {
        self.snapshots().load().health.clone()
    }

    fn failure_details(&self) -> Option<String> {
        let snapshot = self.snapshots().load();
        match snapshot.health {
            Health::Critical(_) => snapshot.failure_details.clone(),
            Health::Healthy | Health::Warning(_) => None,
        }
    }

    fn roots_changed(&self, affinity: AffinityKey) {
        for connection in self.relay.pool.with_affinity(affinity) {
            let notification = connection.gateway_encoder().roots_changed();
            tokio::spawn(
                async move { connection.channel.send(notification, Vec::new()).await.ok() },
            );
        }
    }

    fn log_level_changed(&self, affinity: AffinityKey, level: LoggingLevel) {
        for connection in self.relay.pool.with_affinity(affinity) {
            tokio::spawn(async move { connection.request_log_level(Some(level)).await });
        }
    }

    fn client_gone(&self, affinity: AffinityKey) {
        self.relay.pool.client_gone(affinity);
    }

    fn connects(&self) -> u64 {
        self.supervisor.refresher.connect_count()
    }

    fn connections(&self) -> Vec<(String, u64)> {
        self.relay.pool.counts()
    }

    fn sampled_models(&self, caller: &Caller) -> BTreeMap<String, u64> {
        self.relay.sampled_models.counts(caller)
    }

    fn notify(&self, viewer: &Viewer<'_>, method: &str, params: &RawJson) {
        let notification = ClientNotification {
            client: viewer.client.clone(),
            method: method.to_owned(),
            params: params.clone(),
        };
        let snapshot = self.snapshots().load();
        if let Some(key) = self.client_key(&snapshot, viewer) {
            self.relay.pool.notify(key, notification);
        } else if let Some(connection) = snapshot.open_connection().cloned() {
            tokio::spawn(async move { connection.send_notification(&notification).await.ok() });
        }
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let snapshot = self.snapshots().load();
        let gauge = |name, value| GaugeValue { name, value };
        let parked_calls = self.relay.interaction.parked_calls.count();
        let mut gauges = vec![
            gauge(
                "parked_calls",
                u64::try_from(parked_calls).unwrap_or(u64::MAX),
            ),
            gauge("connections", self.connection_count()),
            gauge("connects", self.connects()),
            gauge(
                "dropped_log_messages",
                self.supervisor.refresher.dropped_log_messages(),
            ),
            gauge("incomplete_lists", snapshot.catalog.incomplete_lists()),
        ];
        let connection = snapshot.open_connection();
        gauges.extend(connection.into_iter().flat_map(|it| it.channel.gauges()));
        gauges
    }

    fn subscribe(&self, uri: &str, viewer: &Viewer<'_>) -> ResourceSubscription {
        let snapshot = self.snapshots().load();
        let wait = match snapshot.health {
            Health::Healthy | Health::Warning(_) => SUBSCRIBE_WAIT,
            Health::Critical(_) => SUBSCRIBE_WAIT_WHEN_DOWN,
        };
        let key = self.client_key(&snapshot, viewer);
        let over_client_connection =
            key.and_then(|key| self.relay.pool.subscribe(uri, wait, &key, viewer.client));
        let subscriptions = &self.supervisor.refresher.subscriptions;
        over_client_connection.unwrap_or_else(|| subscriptions.add(uri, wait))
    }

    fn task_updates(
        &self,
        ids: BTreeSet<String>,
        viewer: &Viewer<'_>,
    ) -> BoxFuture<'static, TaskUpdates> {
        let Ok(permit) = Arc::clone(&self.client_streams).try_acquire_owned() else {
            return Box::pin(ready(TaskUpdates::default()));
        };
        let connections = self.connections_of(viewer);
        let client = viewer.client.clone();
        Box::pin(tasks::open(connections, ids, client, permit))
    }

    fn extension_notifications(
        &self,
        members: ExtensionMembers,
        viewer: &Viewer<'_>,
    ) -> BoxFuture<'static, ExtensionSubscription> {
        let Ok(permit) = Arc::clone(&self.client_streams).try_acquire_owned() else {
            return Box::pin(ready(ExtensionSubscription::default()));
        };
        let connections = self.held_connections_of(viewer);
        let client = viewer.client.clone();
        Box::pin(extensions::open(connections, members, client, permit))
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.supervisor.first_attempt.cancelled())
    }

    fn wait_for_catalog(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        let is_known = self.snapshots().load().catalog.gap.is_none();
        let (caller, client) = (viewer.caller.clone(), viewer.client.clone());
        Box::pin(async move {
            if is_known {
                let viewer = Viewer {
                    caller: &caller,
                    client: &client,
                };
                return self.wait_for_class(&viewer).await;
            }
            // Measured from the creation of the source, so that later callers do not wait again.
            let list_wait = self.config().list_wait;
            let deadline = self.created + list_wait;
            let first_attempt = self.supervisor.first_attempt.cancelled();
            if timeout_at(deadline, first_attempt).await.is_err() {
                let reason = format!("still starting (waited {} s)", list_wait.as_secs());
                self.snapshots()
                    .update(|snapshot| snapshot.set_unavailable(&reason));
            }
        })
    }

    fn served_preliminary(&self, viewer: &Viewer<'_>) {
        let (_, class) = self.snapshots().view(self.config(), viewer);
        class.mark_served_preliminary();
    }

    fn refresh(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        let snapshot = self.snapshots().load();
        let key = self.client_key(&snapshot, viewer);
        let own = key.and_then(|key| self.relay.pool.current(&key).map(|own| (key, own)));
        Box::pin(async move {
            // A process may have added the resource for this client alone.
            if let Some((key, connection)) = own
                && self.relay.pool.may_reload_lists(&key)
            {
                let refresher = &self.supervisor.refresher;
                let capabilities = connection.capabilities().clone();
                let refreshed = refresher.refresh_client(&key, &connection, &capabilities, &[]);
                timeout(REFRESH_WAIT, refreshed).await.ok();
            }
            let has_resources = snapshot.catalog.features.resources;
            let is_open = snapshot.open_connection().is_some();
            if is_open && has_resources && self.may_request_refresh() {
                let mut refreshes = self.supervisor.refresher.request_refresh();
                timeout(REFRESH_WAIT, refreshes.changed()).await.ok();
            }
        })
    }
}
