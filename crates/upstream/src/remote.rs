//! A remote MCP server as a source: a facade over its supervisor, its connection pool and the
//! questions to its clients.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, join_all, ready};
use parking_lot::Mutex;
use tidegate_core::{
    AffinityKey, Call, Catalog, CatalogEntry, ChangeSender, ChangeStream, ClientContext,
    EventStream, GaugeValue, Health, List, Reply, ResourceSubscription, Result, Source,
    TaskUpdates, Viewer, on_end,
};
use tidegate_interaction::Interaction;
use tokio::sync::Semaphore;
use tokio::time::{timeout, timeout_at};

use crate::catalog::client_class::ClientClass;
use crate::catalog::loader::load_tools;
use crate::catalog::snapshot::{Snapshot, SnapshotStore};
use crate::change_stream::tasks;
use crate::config::RemoteConfig;
use crate::error::source_unreachable;
use crate::pool::{Pool, PooledConnection};
use crate::relay::call_events;
use crate::relay::retry_once::{RetryAfter, retry_after_first_message};
use crate::session::Connection;
use crate::session::connect::reconnect;
use crate::supervisor::Supervisor;

/// How long a caller that requests an unlisted resource waits for a refresh.
const REFRESH_WAIT: Duration = Duration::from_secs(2);

/// Minimum interval between refreshes on demand.
const REFRESH_INTERVAL: Duration = Duration::from_secs(5);

/// Longer than it takes to kill a process that does not exit.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// A remote MCP server.
pub struct Remote {
    supervisor: Supervisor,
    pool: Pool,
    interaction: Interaction,
    changes: ChangeSender,
    task_streams: Arc<Semaphore>,
    created: tokio::time::Instant,
    last_refresh_request: Mutex<Option<Instant>>,
}

impl Remote {
    pub fn new(config: RemoteConfig) -> Self {
        let config = Arc::new(config);
        let changes = ChangeSender::default();
        let seal = Arc::clone(&config.seal);
        let interaction = Interaction::new(seal, config.parked_call_timeout, changes.clone());
        let supervisor = Supervisor::new(Arc::clone(&config), changes.clone());
        let background_tasks = supervisor.refresher.background_tasks.clone();
        let url_elicitations = Arc::clone(&interaction.url_elicitations);
        Self {
            pool: Pool::new(config, background_tasks, url_elicitations),
            supervisor,
            interaction,
            changes,
            task_streams: Arc::new(Semaphore::new(tasks::MAX_TASK_STREAMS)),
            created: tokio::time::Instant::now(),
            last_refresh_request: Mutex::default(),
        }
    }

    /// Keeps the server connected and its catalogs fresh, for as long as it is polled.
    pub async fn run(&self) {
        tokio::join!(
            self.supervisor.run(),
            self.pool.sweep(),
            self.interaction.parked_calls.sweep()
        );
    }

    /// Closes all connections, and waits until cancellations are sent and processes have exited. Only
    /// when nothing polls [`Self::run`] any more, which would reconnect.
    pub async fn stop(&self) {
        self.interaction.parked_calls.cancel_all();
        let own = self
            .snapshots()
            .update(|snapshot| snapshot.connection.take());
        let connections = self.pool.drain().into_iter().chain(own);
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

    /// The current snapshot, and the class of a client in it.
    fn view(&self, client: &ClientContext) -> (Arc<Snapshot>, Arc<ClientClass>) {
        self.snapshots().view(self.config(), client)
    }

    async fn relay(&self, call: &Call) -> Result<Reply> {
        let (snapshot, class) = self.view(&call.client);
        let everyone = snapshot.connection.as_ref();
        let everyone = everyone.ok_or_else(|| self.unreachable())?;
        let era = everyone.facts.revision.era();
        if let Some(events) = self.interaction.resume(call, era)? {
            return Ok(Reply::Stream(events));
        }
        let catalog = snapshot.catalog_of(&class);
        let tools = catalog.list(List::Tools);
        let events = match self.pool.select(everyone, call).await? {
            Some(pooled) => self.send_pooled(pooled, call, tools).await?,
            None => self.send(everyone, call, tools).await?,
        };
        Ok(Reply::Stream(self.interaction.adapt(events, call, era)))
    }

    /// Sends a call over a pooled connection, which is held until the call is done.
    async fn send_pooled(
        &self,
        pooled: PooledConnection,
        call: &Call,
        tools: &[CatalogEntry],
    ) -> Result<EventStream> {
        let events = self.send(&pooled.connection, call, tools).await?;
        Ok(on_end(events, pooled, |pooled, _| pooled.finish()))
    }

    /// Sends a call, and retries it once if the server rejected its encoding.
    async fn send(
        &self,
        connection: &Arc<Connection>,
        call: &Call,
        tools: &[CatalogEntry],
    ) -> Result<EventStream> {
        // The call is registered before anything is sent: a question that arrives before the call
        // is sent belongs to it.
        let messages = connection.send_call(call, tools)?;
        connection.request_log_level(call.client.log_level).await;
        match retry_after_first_message(messages, call).await {
            (messages, None) => Ok(call_events(messages, connection, call)),
            (_, Some(RetryAfter::ReloadTools)) => {
                self.supervisor.refresher.request_refresh();
                let capabilities = &call.client.capabilities;
                let tools = load_tools(self.config(), connection, capabilities).await?;
                let messages = connection.send_call(call, &tools)?;
                Ok(call_events(messages, connection, call))
            }
            (messages, Some(RetryAfter::Reconnect)) => {
                match reconnect(self.config(), connection).await {
                    None => Ok(call_events(messages, connection, call)),
                    Some(reconnected) => {
                        let connection = reconnected?;
                        let messages = connection.send_call(call, tools)?;
                        Ok(call_events(messages, &connection, call))
                    }
                }
            }
        }
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

    fn unreachable(&self) -> tidegate_core::Error {
        let name = &self.config().name;
        source_unreachable(&format!("source `{name}` is not connected; retry later"))
    }
}

impl Source for Remote {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        let (snapshot, class) = self.view(viewer.client);
        snapshot.catalog_of(&class)
    }

    fn cache_lifetime(&self, viewer: &Viewer<'_>) -> Option<Duration> {
        let (snapshot, class) = self.view(viewer.client);
        snapshot.cache_lifetime_of(&class).remaining()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.relay(&call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
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
        for connection in self.pool.with_affinity(affinity) {
            let notification = connection.gateway_encoder().roots_changed();
            tokio::spawn(async move { connection.channel.send(notification).await.ok() });
        }
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let snapshot = self.snapshots().load();
        let gauge = |name, value| GaugeValue { name, value };
        let parked_calls = self.interaction.parked_calls.count();
        let mut gauges = vec![
            gauge(
                "parked_calls",
                u64::try_from(parked_calls).unwrap_or(u64::MAX),
            ),
            gauge("connects", self.supervisor.refresher.connect_count()),
            gauge("incomplete_lists", snapshot.catalog.incomplete_lists()),
        ];
        let connection = snapshot.connection.as_ref();
        gauges.extend(connection.into_iter().flat_map(|it| it.channel.gauges()));
        gauges
    }

    fn subscribe(&self, uri: &str) -> ResourceSubscription {
        self.supervisor.refresher.subscriptions.add(uri)
    }

    fn task_updates(
        &self,
        ids: BTreeSet<String>,
        client: &ClientContext,
    ) -> BoxFuture<'static, TaskUpdates> {
        let Ok(permit) = Arc::clone(&self.task_streams).try_acquire_owned() else {
            return Box::pin(ready(TaskUpdates::default()));
        };
        let snapshots = Arc::clone(self.snapshots());
        Box::pin(tasks::open(snapshots, ids, client.clone(), permit))
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.supervisor.first_attempt.cancelled())
    }

    fn wait_for_catalog(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        let client = viewer.client.clone();
        Box::pin(async move {
            // Measured from the creation of the source, so that later callers do not wait again.
            let list_wait = self.config().list_wait;
            let deadline = self.created + list_wait;
            let first_attempt = self.supervisor.first_attempt.cancelled();
            if timeout_at(deadline, first_attempt).await.is_err() {
                let reason = format!("still starting (waited {} s)", list_wait.as_secs());
                self.snapshots()
                    .update(|snapshot| snapshot.set_unavailable(&reason));
            }
            let (_, class) = self.view(&client);
            if class.is_everyone() {
                return;
            }
            if timeout(list_wait, class.wait_until_settled())
                .await
                .is_err()
            {
                self.snapshots().stop_waiting_for(&class);
            }
        })
    }

    fn refresh(&self, _: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let snapshot = self.snapshots().load();
            let has_resources = snapshot.catalog.features.resources;
            if snapshot.connection.is_some() && has_resources && self.may_request_refresh() {
                let mut refreshes = self.supervisor.refresher.request_refresh();
                timeout(REFRESH_WAIT, refreshes.changed()).await.ok();
            }
        })
    }
}
