//! Loads and publishes the catalogs of all client classes, and of clients with lists of their own. All
//! share this refresher.
//!
//! Must not know: which connection a class is loaded over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tidegate_core::{
    Catalog, Change, ChangeEvent, ChangeSender, Health, List, LogSender, LoggingLevel, RawJson,
    truncate_for_message,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::SessionSupport;
use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use super::client_class::ClientClass;
use super::loader::{LoadedCatalog, load_catalog};
use super::saved::SavedCatalog;
use super::schedule::{CacheLifetime, RefreshSchedule};
use super::snapshot::{CatalogConnection, Snapshot, SnapshotStore};
use crate::client_key::ClientKey;
use crate::config::{RemoteConfig, TransportConfig};
use crate::resource_subscriptions::ResourceSubscriptions;
use crate::session::{Connection, Notifications, QueuedNotification};

/// Refreshes the catalogs of one server.
pub(crate) struct Refresher {
    pub(crate) config: Arc<RemoteConfig>,
    pub(crate) snapshots: Arc<SnapshotStore>,
    pub(crate) changes: ChangeSender,
    pub(crate) log_messages: LogSender,
    /// Log messages outside of calls that belong to no client.
    dropped_log_messages: AtomicU64,
    pub(crate) subscriptions: ResourceSubscriptions,
    pub(crate) background_tasks: TaskTracker,
    /// How often the catalog connection was opened, how often that changed the default catalog, and
    /// how often the default catalog was refreshed.
    connects: watch::Sender<u64>,
    restarts: watch::Sender<u64>,
    refreshes: watch::Sender<u64>,
    /// How often something was learned that may have to be saved.
    learned: watch::Sender<u64>,
    requested: Notify,
    /// A call did not reach the server.
    pub(crate) call_failed: Notify,
}

impl Refresher {
    pub(crate) fn new(
        config: Arc<RemoteConfig>,
        changes: ChangeSender,
        saved: Option<&SavedCatalog>,
    ) -> Self {
        Self {
            config,
            snapshots: Arc::new(SnapshotStore::new(saved)),
            changes,
            log_messages: LogSender::default(),
            dropped_log_messages: AtomicU64::new(0),
            subscriptions: ResourceSubscriptions::default(),
            background_tasks: TaskTracker::new(),
            connects: watch::Sender::default(),
            restarts: watch::Sender::default(),
            refreshes: watch::Sender::default(),
            learned: watch::Sender::default(),
            requested: Notify::new(),
            call_failed: Notify::new(),
        }
    }

    /// Counts a log message that belongs to no client, and logs it at the lowest level.
    pub(crate) fn drop_log_message(&self, level: LoggingLevel, params: &RawJson) {
        self.dropped_log_messages.fetch_add(1, Relaxed);
        let (source, level) = (&self.config.name, level.as_str());
        let text = truncate_for_message(params.as_str());
        tracing::debug!(source, level, text, "log message outside of a call dropped");
    }

    pub(crate) fn dropped_log_messages(&self) -> u64 {
        self.dropped_log_messages.load(Relaxed)
    }

    /// How often the server was connected.
    pub(crate) fn connect_count(&self) -> u64 {
        *self.connects.borrow()
    }

    /// Changes when the catalog connection was opened and the default catalog is another than before.
    pub(crate) fn restarts(&self) -> watch::Receiver<u64> {
        self.restarts.subscribe()
    }

    /// Changes when the default catalog was refreshed.
    pub(crate) fn refreshes(&self) -> watch::Receiver<u64> {
        self.refreshes.subscribe()
    }

    /// Changes when something was learned about the server that may have to be saved.
    pub(crate) fn learned(&self) -> watch::Receiver<u64> {
        self.learned.subscribe()
    }

    /// Records whether a modern server supports sessions, and what it declares there.
    pub(crate) fn set_session_support(&self, sessions: SessionSupport) {
        let snapshot = self.snapshots.load();
        let known = snapshot.facts.as_ref();
        let known = known.filter(|facts| facts.revision.era() == Era::Modern);
        if known.is_some_and(|facts| facts.sessions != sessions) {
            let update = |snapshot: &mut Snapshot| snapshot.set_session_support(sessions);
            self.snapshots.update(update);
            self.learned.send_modify(|count| *count += 1);
        }
    }

    /// Records what a connection of a legacy client shows about the sessions of a modern server. What
    /// it declares there may depend on the capabilities of the client: those of a client without any
    /// count.
    pub(crate) fn record_session_support(&self, connection: &Connection) {
        let snapshot = self.snapshots.load();
        let known = snapshot.facts.as_ref().and_then(|facts| facts.in_session());
        match connection.facts.revision.era() {
            Era::Modern => self.set_session_support(SessionSupport::Unsupported),
            Era::Legacy if known.is_none() || connection.capabilities().as_str() == "{}" => {
                let facts = Some(Arc::new(connection.facts.clone()));
                self.set_session_support(SessionSupport::Supported { facts });
            }
            Era::Legacy => {}
        }
    }

    /// Requests a refresh of the default catalog. The receiver changes when it is done.
    pub(crate) fn request_refresh(&self) -> watch::Receiver<u64> {
        let refreshes = self.refreshes.subscribe();
        self.requested.notify_one();
        refreshes
    }

    /// Loads the default catalog over a new connection and publishes both.
    pub(crate) async fn publish_connection(&self, connection: &Arc<Connection>) -> RefreshSchedule {
        let previous = Arc::clone(&self.snapshots.load().catalog);
        let class = self.snapshots.default_class();
        let schedule = self.refresh(class, connection, &[], 0).await;
        self.connects.send_modify(|count| *count += 1);
        if *previous != *self.snapshots.load().catalog {
            self.restarts.send_modify(|count| *count += 1);
        }
        schedule
    }

    /// Keeps the default catalog fresh until the connection is closed.
    pub(crate) async fn keep_default_fresh(
        &self,
        connection: &Arc<Connection>,
        notifications: Notifications,
        schedule: RefreshSchedule,
    ) {
        let class = self.snapshots.default_class();
        self.keep_fresh(class, connection, notifications, schedule)
            .await;
    }

    /// Refreshes the catalog of a class whenever it is due, until the connection is closed.
    pub(crate) async fn keep_fresh(
        &self,
        class: &ClientClass,
        connection: &Arc<Connection>,
        mut notifications: Notifications,
        mut schedule: RefreshSchedule,
    ) {
        loop {
            tokio::select! {
                () = connection.channel.closed() => return,
                list_changed = schedule.wait_until_due() => {
                    let failures = schedule.failures;
                    schedule = self.refresh(class, connection, &list_changed, failures).await;
                }
                () = self.requested.notified(), if class.is_default() => {
                    schedule.mark_stale(None);
                }
                notification = notifications.next() => match notification {
                    Some(QueuedNotification::Change(event)) => {
                        self.apply(event, class, &mut schedule);
                    }
                    Some(QueuedNotification::Log { level, params }) => {
                        self.drop_log_message(level, &params);
                    }
                    None => return,
                },
            }
        }
    }

    /// Applies a notification of the server. Resource updates are announced once, from the default
    /// connection.
    fn apply(&self, event: ChangeEvent, class: &ClientClass, schedule: &mut RefreshSchedule) {
        match event {
            ChangeEvent::Change(
                change @ (Change::ResourceUpdated(_) | Change::ElicitationComplete(_)),
            ) => {
                if class.is_default() {
                    self.changes.send(change);
                }
            }
            // Other clients have connections of their own.
            ChangeEvent::Change(change @ Change::Extension(_)) => {
                if class.is_default() && self.config.is_shared_by_principals() {
                    self.changes.send(change);
                }
            }
            ChangeEvent::Change(list) => schedule.mark_stale(Some(list)),
            ChangeEvent::AllResourcesUpdated | ChangeEvent::Missed => {
                if class.is_default() {
                    self.announce_subscribed_resources();
                }
            }
        }
    }

    /// Announces an update of every subscribed resource: it may have changed.
    pub(crate) fn announce_subscribed_resources(&self) {
        for uri in self.subscriptions.uris() {
            self.changes.send(Change::ResourceUpdated(uri.into()));
        }
    }

    /// Loads the catalog of a class and publishes it, then announces what changed. `failures` is the
    /// number of attempts before this one that failed.
    pub(crate) async fn refresh(
        &self,
        class: &ClientClass,
        connection: &Arc<Connection>,
        list_changed: &[Change],
        failures: u32,
    ) -> RefreshSchedule {
        let snapshot = self.snapshots.load();
        let previous = snapshot.catalog_of(class);
        let capabilities = class.capabilities();
        let loaded = load_catalog(&self.config, connection, &capabilities, &previous).await;
        let LoadedCatalog {
            catalog,
            ttl,
            has_failed,
        } = loaded;
        let sends_list_changed = connection.facts.announces_changes;
        // An incomplete list is loaded again, although no list_changed will announce it.
        let is_announced = sends_list_changed && catalog.defects.is_empty();
        let lifetime = CacheLifetime::new(ttl, sends_list_changed);
        let current = self.publish(class, connection, catalog, lifetime);
        // Announce only after the catalog is published, because clients list again immediately.
        // The server sends its notifications on every connection; only the default class announces
        // them.
        let list_changed = match class.is_default() {
            true => list_changed,
            false => &[],
        };
        if !previous.is_preliminary || class.must_announce_first_lists() {
            for change in changes_between(&previous, &current, list_changed) {
                self.changes.send(change);
            }
        }
        if class.is_default() {
            self.refreshes.send_modify(|count| *count += 1);
        }
        match has_failed {
            true => RefreshSchedule::retry(failures + 1),
            false => RefreshSchedule::new(ttl, is_announced),
        }
    }

    /// Publishes the catalog of a class; for the default class, also its connection and the health
    /// of the server. Returns the catalog that the class sees now.
    fn publish(
        &self,
        class: &ClientClass,
        connection: &Arc<Connection>,
        catalog: Catalog,
        lifetime: CacheLifetime,
    ) -> Arc<Catalog> {
        let current = self.snapshots.update(|snapshot| {
            if class.is_default() {
                let may_be_another = self.may_be_another_server(snapshot, connection);
                snapshot.set_facts(&connection.facts, may_be_another);
                snapshot.connection = CatalogConnection::Open(Arc::clone(connection));
                snapshot.health = health(&catalog);
                snapshot.cache_lifetime = lifetime;
                snapshot.set_catalog(catalog);
            } else {
                snapshot.publish_class(class, catalog, lifetime);
            }
            snapshot.catalog_of(class)
        });
        self.learned.send_modify(|count| *count += 1);
        class.settled.cancel();
        current
    }

    /// Whether the server of this connection may have been replaced since it was last known: it was
    /// connected again, or before this gateway was started. The program of a process stays the same.
    fn may_be_another_server(&self, snapshot: &Snapshot, connection: &Arc<Connection>) -> bool {
        let known = snapshot.open_connection();
        let is_new = !known.is_some_and(|known| Arc::ptr_eq(known, connection));
        let is_process = matches!(self.config.transport, TransportConfig::Stdio(_));
        is_new && (!is_process || self.connect_count() == 0)
    }

    /// Loads the lists of one client over its own connection. Returns the lists that changed, or that
    /// the server says changed, and whether a list could not be loaded.
    pub(crate) async fn refresh_client(
        &self,
        key: &ClientKey,
        connection: &Arc<Connection>,
        capabilities: &RawJson,
        list_changed: &[Change],
    ) -> (Vec<Change>, bool) {
        let snapshot = self.snapshots.load();
        let in_session = connection.facts.revision.era() == Era::Legacy;
        let of_class = snapshot.catalog_for(in_session, capabilities);
        let previous = snapshot.client_catalog(key).unwrap_or(&of_class);
        let loaded = load_catalog(&self.config, connection, capabilities, previous).await;
        let current = Arc::new(loaded.catalog);
        let changes = changes_between(previous, &current, list_changed);
        let own = (*current != *of_class).then_some(current);
        self.snapshots
            .update(|snapshot| snapshot.set_client_catalog(key, own));
        (changes, loaded.has_failed)
    }

    /// The connection of a client has ended, and the lists that it showed with it.
    pub(crate) fn forget_client(&self, key: &ClientKey) {
        if self.snapshots.load().client_catalog(key).is_some() {
            self.snapshots
                .update(|snapshot| snapshot.set_client_catalog(key, None));
        }
    }

    /// Waits for the catalog connection.
    pub(crate) async fn wait_for_connection(&self) -> Arc<Connection> {
        let mut connects = self.connects.subscribe();
        loop {
            if let Some(connection) = self.snapshots.load().open_connection() {
                return Arc::clone(connection);
            }
            // The sender lives as long as the source.
            connects.changed().await.ok();
        }
    }
}

/// The lists that differ, or that the server says changed.
fn changes_between(previous: &Catalog, current: &Catalog, list_changed: &[Change]) -> Vec<Change> {
    let mut changes = list_changed.to_vec();
    for list in List::ALL {
        let change = match list {
            List::Tools => Change::Tools,
            List::Prompts => Change::Prompts,
            List::Resources | List::Templates => Change::Resources,
        };
        if previous.list(list) != current.list(list) && !changes.contains(&change) {
            changes.push(change);
        }
    }
    changes
}

/// The health of a connected server: good if its lists are complete.
fn health(catalog: &Catalog) -> Health {
    let defects: Vec<_> = catalog
        .defects
        .iter()
        .map(|defect| defect.reason.as_str())
        .collect();
    match defects.is_empty() {
        true => Health::Healthy,
        false => Health::Warning(defects.join("; ")),
    }
}
