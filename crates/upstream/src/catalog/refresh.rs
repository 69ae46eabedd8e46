//! Keeps the catalogs of all client classes fresh. The default class ("everyone") and all other
//! classes share this refresher.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tidegate_core::{Catalog, Change, ChangeEvent, ChangeSender, Health, List};
use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use super::client_class::{ClassKey, ClientClass};
use super::loader::{LoadedCatalog, load_catalog};
use super::schedule::{CacheLifetime, RefreshSchedule};
use super::snapshot::{ClassCatalog, SnapshotStore};
use crate::backoff::Backoff;
use crate::config::RemoteConfig;
use crate::resource_subscriptions::ResourceSubscriptions;
use crate::session::connect::{EraPreference, connect};
use crate::session::{Connection, Notifications};

/// Refreshes the catalogs of one server.
pub(crate) struct Refresher {
    pub(crate) config: Arc<RemoteConfig>,
    pub(crate) snapshots: Arc<SnapshotStore>,
    pub(crate) changes: ChangeSender,
    pub(crate) subscriptions: ResourceSubscriptions,
    pub(crate) background_tasks: TaskTracker,
    /// How often the server was connected, and the default catalog refreshed.
    connects: watch::Sender<u64>,
    refreshes: watch::Sender<u64>,
    requested: Notify,
}

impl Refresher {
    pub(crate) fn new(config: Arc<RemoteConfig>, changes: ChangeSender) -> Self {
        Self {
            config,
            snapshots: Arc::new(SnapshotStore::new()),
            changes,
            subscriptions: ResourceSubscriptions::default(),
            background_tasks: TaskTracker::new(),
            connects: watch::Sender::default(),
            refreshes: watch::Sender::default(),
            requested: Notify::new(),
        }
    }

    /// How often the server was connected.
    pub(crate) fn connect_count(&self) -> u64 {
        *self.connects.borrow()
    }

    /// Requests a refresh of the default catalog. The receiver changes when it is done.
    pub(crate) fn request_refresh(&self) -> watch::Receiver<u64> {
        let refreshes = self.refreshes.subscribe();
        self.requested.notify_one();
        refreshes
    }

    /// Loads the default catalog over a new connection and publishes both.
    pub(crate) async fn publish_connection(&self, connection: &Arc<Connection>) -> RefreshSchedule {
        let schedule = self
            .refresh(self.snapshots.everyone(), connection, &[])
            .await;
        self.connects.send_modify(|count| *count += 1);
        schedule
    }

    /// Keeps the default catalog fresh until the connection is closed.
    pub(crate) async fn keep_everyone_fresh(
        &self,
        connection: &Arc<Connection>,
        notifications: Notifications,
        schedule: RefreshSchedule,
    ) {
        let everyone = self.snapshots.everyone();
        self.keep_fresh(everyone, connection, notifications, schedule)
            .await;
    }

    /// Keeps the catalogs of all other classes fresh, for as long as it is polled.
    pub(crate) async fn run_classes(&self) {
        let mut running = FuturesUnordered::new();
        loop {
            tokio::select! {
                classes = self.snapshots.new_classes() => {
                    running.extend(classes.into_iter().map(|class| self.run_class(class)));
                }
                Some(()) = running.next(), if !running.is_empty() => {}
            }
        }
    }

    async fn run_class(&self, class: Arc<ClientClass>) {
        let refreshed = async {
            match class.key {
                ClassKey::Clients {
                    in_session: true, ..
                } => self.refresh_in_sessions(&class).await,
                ClassKey::Clients { .. } | ClassKey::Everyone => {
                    self.refresh_with_everyone(&class).await;
                }
            }
        };
        tokio::select! {
            () = refreshed => {}
            () = class.wait_until_unused() => {}
        }
        self.snapshots.remove_class(&class);
    }

    /// A modern server lists by the capabilities of each request: the class is refreshed over the
    /// default connection, after each refresh of the default class.
    async fn refresh_with_everyone(&self, class: &ClientClass) {
        let mut refreshes = self.refreshes.subscribe();
        loop {
            refreshes.mark_unchanged();
            let connection = self.wait_for_connection().await;
            self.refresh(class, &connection, &[]).await;
            tokio::select! {
                _ = refreshes.changed() => {}
                () = connection.channel.closed() => {}
            }
        }
    }

    /// A legacy server lists by the capabilities of the session. The session is kept only if the
    /// lists of the class differ from the default lists.
    async fn refresh_in_sessions(&self, class: &ClientClass) {
        let mut connects = self.connects.subscribe();
        let mut backoff = Backoff::for_streams();
        while self.snapshots.load().contains(class) {
            connects.mark_unchanged();
            self.wait_for_connection().await;
            let capabilities = class.capabilities();
            let preference = EraPreference::LegacyFirst;
            let tasks = &self.background_tasks;
            match connect(&self.config, tasks, &capabilities, preference).await {
                Ok((connection, notifications)) => {
                    let schedule = self.refresh(class, &connection, &[]).await;
                    backoff.reset();
                    if self.snapshots.load().is_same_as_everyone(class) {
                        drop((connection, notifications));
                        connects.changed().await.ok();
                        continue;
                    }
                    self.keep_fresh(class, &connection, notifications, schedule)
                        .await;
                }
                Err(error) => {
                    self.snapshots.stop_waiting_for(class);
                    tracing::warn!(
                        source = self.config.name,
                        error = error.message(),
                        "cannot open a session for a client class; it sees the lists of everyone"
                    );
                }
            }
            tokio::time::sleep(backoff.delay()).await;
        }
    }

    /// Refreshes the catalog of a class whenever it is due, until the connection is closed.
    async fn keep_fresh(
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
                    schedule = self.refresh(class, connection, &list_changed).await;
                }
                () = self.requested.notified(), if class.is_everyone() => {
                    schedule.mark_stale(None);
                }
                event = notifications.next() => match event {
                    Some(event) => self.apply(event, class, &mut schedule),
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
                if class.is_everyone() {
                    self.changes.send(change);
                }
            }
            ChangeEvent::Change(list) => schedule.mark_stale(Some(list)),
            ChangeEvent::AllResourcesUpdated | ChangeEvent::Missed => {
                if class.is_everyone() {
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

    /// Loads the catalog of a class and publishes it, then announces what changed.
    async fn refresh(
        &self,
        class: &ClientClass,
        connection: &Arc<Connection>,
        list_changed: &[Change],
    ) -> RefreshSchedule {
        let snapshot = self.snapshots.load();
        let was_loading = snapshot.is_loading(class);
        let previous = snapshot.catalog_of(class);
        let capabilities = class.capabilities();
        let loaded = load_catalog(&self.config, connection, &capabilities, &previous).await;
        let LoadedCatalog { catalog, ttl } = loaded;
        let sends_list_changed = connection.facts.announces_changes;
        // A list that could not be loaded is retried, although no list_changed will announce it.
        let is_announced = sends_list_changed && catalog.defects.is_empty();
        let lifetime = CacheLifetime::new(ttl, sends_list_changed);
        let current = self.publish(class, connection, catalog, lifetime);
        // Announce only after the catalog is published, because clients list again immediately.
        // The server sends its notifications on every connection; only the default class announces
        // them.
        match class.is_everyone() {
            true => self.announce(&previous, &current, list_changed),
            false if !was_loading => self.announce(&previous, &current, &[]),
            false => {}
        }
        if class.is_everyone() {
            self.refreshes.send_modify(|count| *count += 1);
        }
        RefreshSchedule::new(ttl, is_announced)
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
        let catalog = Arc::new(catalog);
        let current = self.snapshots.update(|snapshot| {
            if class.is_everyone() {
                snapshot.facts = Some(Arc::new(connection.facts.clone()));
                snapshot.connection = Some(Arc::clone(connection));
                snapshot.health = health(&catalog);
                snapshot.cache_lifetime = lifetime;
                snapshot.catalog = catalog;
            } else {
                let own = match *catalog == *snapshot.catalog {
                    true => ClassCatalog::SameAsEveryone,
                    false => ClassCatalog::Own(catalog, lifetime),
                };
                snapshot.set_class_catalog(class, own);
            }
            snapshot.catalog_of(class)
        });
        class.settled.cancel();
        current
    }

    /// Announces the lists that changed, or that the server says changed.
    fn announce(&self, previous: &Catalog, current: &Catalog, list_changed: &[Change]) {
        let mut announced = list_changed.to_vec();
        for list in List::ALL {
            let change = match list {
                List::Tools => Change::Tools,
                List::Prompts => Change::Prompts,
                List::Resources | List::Templates => Change::Resources,
            };
            if previous.list(list) != current.list(list) && !announced.contains(&change) {
                announced.push(change);
            }
        }
        for change in announced {
            self.changes.send(change);
        }
    }

    /// Waits for the default connection.
    async fn wait_for_connection(&self) -> Arc<Connection> {
        let mut connects = self.connects.subscribe();
        loop {
            if let Some(connection) = &self.snapshots.load().connection {
                return Arc::clone(connection);
            }
            // The sender lives as long as the source.
            connects.changed().await.ok();
        }
    }
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
