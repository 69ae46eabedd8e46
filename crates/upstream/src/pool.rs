//! The connections of clients to one server. Servers keep state between calls, such as the page of a
//! browser, so each client has its own process or session, in which all of its calls are made. Clients
//! share one only where the configuration says that the server keeps no state.
//!
//! Nothing links the question of a process to a call. Where a server has sent such a question, its
//! calls from a client that can be asked are sent one after another.

mod client_connection;
mod client_table;
mod connection_selection;
mod follow;
mod outgoing_notifications;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidegate_core::{AffinityKey, ClientContext, ResourceSubscription, Result};
use tidegate_interaction::UrlElicitations;
use tidegate_interaction::capabilities::accepts_questions;
use tidegate_mcp::revision::client::SessionSupport;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::AbortOnDropHandle;

use crate::backoff::Backoff;
use crate::catalog::refresh::Refresher;
use crate::client_key::{ClientIdentity, ClientKey};
use crate::config::{RemoteConfig, TransportConfig};
use crate::occupancy::Occupancy;
use crate::session::Connection;
use crate::session::connect::{EraPreference, connect};
use crate::session::connection::ClientNotification;
use client_connection::ClientConnection;
use client_table::{ClientTable, RemovedConnection};

/// How often idle connections are closed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// How long it may take to send one notification of a client, while its calls wait.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// The connections of all clients of one server.
pub(crate) struct Pool {
    opener: ConnectionOpener,
    /// Whether the server has sent a question that nothing links to a call.
    has_unlinked_questions: AtomicBool,
}

/// Opens and closes the connections of the pool.
#[derive(Clone)]
struct ConnectionOpener {
    config: Arc<RemoteConfig>,
    table: Arc<ClientTable>,
    occupancy: Arc<Occupancy>,
    refresher: Arc<Refresher>,
    url_elicitations: Arc<UrlElicitations>,
}

impl ConnectionOpener {
    /// The connection of a client; opened if necessary.
    async fn connection(
        &self,
        key: &ClientKey,
        client: &Arc<ClientConnection>,
    ) -> Result<Arc<Connection>> {
        client
            .get_or_open(async || self.open(key, client).await)
            .await
    }

    async fn open(&self, key: &ClientKey, client: &ClientConnection) -> Result<Arc<Connection>> {
        self.occupancy.wait_for_process().await;
        let facts = self.refresher.snapshots.load().facts.clone();
        let lacks_sessions =
            facts.is_some_and(|facts| facts.sessions == SessionSupport::Unsupported);
        let preference = match key.in_session && !lacks_sessions {
            true => EraPreference::LegacyFirst,
            // Known from the catalog connection, or from the process of another client.
            false => EraPreference::ModernOnly,
        };
        let tasks = &self.refresher.background_tasks;
        let connected = connect(&self.config, tasks, &client.declared, preference);
        let (connection, notifications) = connected.await?;
        if preference == EraPreference::LegacyFirst {
            self.refresher.record_session_support(&connection);
        }
        let is_process = matches!(self.config.transport, TransportConfig::Stdio(_));
        let following = follow::Following {
            loads_lists: is_process,
            opener: self.clone(),
            key: key.clone(),
            capabilities: client.declared.capabilities.clone(),
            connection: Arc::clone(&connection),
        };
        let subscriptions = client.subscriptions.follow();
        tasks.spawn(following.run(notifications, subscriptions));
        Ok(connection)
    }

    /// Closes connections in the background.
    fn close(&self, removed: impl IntoIterator<Item = RemovedConnection>) {
        for RemovedConnection {
            connection,
            closing,
        } in removed
        {
            let tasks = &self.refresher.background_tasks;
            tasks.spawn(async move {
                connection.channel.close().await;
                drop(closing);
            });
        }
    }
}

/// A connection that is in use.
pub(crate) struct PooledConnection {
    pub(crate) connection: Arc<Connection>,
    key: ClientKey,
    opener: ConnectionOpener,
    client: Option<Arc<ClientConnection>>,
    /// Admits the next call of the client when dropped.
    turn: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(crate) fn new(
        config: Arc<RemoteConfig>,
        occupancy: Arc<Occupancy>,
        refresher: Arc<Refresher>,
        url_elicitations: Arc<UrlElicitations>,
    ) -> Self {
        let table = ClientTable::new(Arc::clone(&config), Arc::clone(&occupancy));
        Self {
            opener: ConnectionOpener {
                config,
                table: Arc::new(table),
                occupancy,
                refresher,
                url_elicitations,
            },
            has_unlinked_questions: AtomicBool::default(),
        }
    }

    /// The connection of a client, for one call.
    async fn acquire(&self, key: &ClientKey, client: &ClientContext) -> Result<PooledConnection> {
        let mut pooled = self.open_for(key, client).await?;
        if let Some(client) = &pooled.client {
            client.claim();
            client.outgoing.wait_until_sent().await;
            if self.has_one_call_at_a_time(&pooled) {
                pooled.turn = client.wait_for_turn().await;
            }
        }
        Ok(pooled)
    }

    /// The connection of a client, to load its lists or to subscribe.
    pub(crate) async fn open_for(
        &self,
        key: &ClientKey,
        client: &ClientContext,
    ) -> Result<PooledConnection> {
        let entry = self.entry(key, client).await?;
        let opened = self.opener.connection(key, &entry).await;
        let opened = opened.inspect_err(|_| {
            self.opener.close(self.opener.table.remove(key, &entry));
        });
        Ok(PooledConnection {
            connection: opened?,
            key: key.clone(),
            opener: self.opener.clone(),
            client: Some(entry),
            turn: None,
        })
    }

    /// The entry of a client. Where each call has a connection, waits until there may be one more.
    async fn entry(
        &self,
        key: &ClientKey,
        client: &ClientContext,
    ) -> Result<Arc<ClientConnection>> {
        let (table, config) = (&self.opener.table, &self.opener.config);
        loop {
            let removed = table.removed();
            match table.find_or_add(key, || key.declaration(config, client)) {
                Ok((entry, evicted)) => {
                    self.opener.close(evicted);
                    return Ok(entry);
                }
                Err(_) if matches!(key.identity, ClientIdentity::Call(_)) => removed.await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether nothing else would link a question of the server to its call.
    fn has_one_call_at_a_time(&self, pooled: &PooledConnection) -> bool {
        let connection = &pooled.connection;
        if connection.channel.has_unlinked_questions() {
            self.has_unlinked_questions.store(true, Ordering::Relaxed);
        }
        self.has_unlinked_questions.load(Ordering::Relaxed)
            && accepts_questions(connection.capabilities())
    }

    /// Subscribes to a resource over the connection of a client, which stays open until the
    /// subscription is dropped.
    pub(crate) fn subscribe(
        &self,
        uri: &str,
        wait: Duration,
        key: &ClientKey,
        client: &ClientContext,
    ) -> Option<ResourceSubscription> {
        let config = &self.opener.config;
        let declaration = || key.declaration(config, client);
        let (entry, evicted) = self.opener.table.find_or_add(key, declaration).ok()?;
        self.opener.close(evicted);
        entry.claim();
        let subscription = entry.subscriptions.add(uri, wait);
        let (opener, key) = (self.opener.clone(), key.clone());
        let open = tokio::spawn(async move {
            let mut backoff = Backoff::for_streams();
            loop {
                if let Ok(connection) = opener.connection(&key, &entry).await {
                    backoff.reset();
                    connection.channel.closed().await;
                }
                tokio::time::sleep(backoff.delay()).await;
            }
        });
        Some(subscription.with_guard(AbortOnDropHandle::new(open)))
    }

    /// Sends a notification over the connection of its client; opens it if necessary.
    pub(crate) fn notify(&self, key: ClientKey, notification: ClientNotification) {
        let Some(key) = self.sender_of(key, &notification.client) else {
            return;
        };
        let config = &self.opener.config;
        let declaration = || key.declaration(config, &notification.client);
        let Ok((entry, evicted)) = self.opener.table.find_or_add(&key, declaration) else {
            return;
        };
        self.opener.close(evicted);
        entry.claim();
        let Some(mut sending) = entry.outgoing.push(notification) else {
            return;
        };
        let opener = self.opener.clone();
        tokio::spawn(async move {
            while let Some((notification, again)) = entry.outgoing.next(sending) {
                sending = again;
                if let Ok(connection) = opener.connection(&key, &entry).await {
                    let sent = connection.send_notification(&notification);
                    tokio::time::timeout(NOTIFICATION_TIMEOUT, sent).await.ok();
                }
            }
        });
    }

    /// The client that sent a notification. A notification need not describe its client: it is then from
    /// the only client that it can be from. `None` also where each call has a connection of its own.
    fn sender_of(&self, key: ClientKey, client: &ClientContext) -> Option<ClientKey> {
        match (&key.identity, client.is_undescribed()) {
            (ClientIdentity::Call(_), _) => None,
            (_, true) => self.opener.table.only_similar(&key),
            (_, false) => Some(key),
        }
    }

    /// The open connection of a client.
    pub(crate) fn current(&self, key: &ClientKey) -> Option<Arc<Connection>> {
        self.opener.table.find(key)?.current()
    }

    /// Whether the lists of a client may be reloaded on demand. If so, records that they are.
    pub(crate) fn may_reload_lists(&self, key: &ClientKey) -> bool {
        let client = self.opener.table.find(key);
        client.is_some_and(|client| client.may_reload_lists())
    }

    /// Closes idle connections, for as long as it is polled.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            self.opener.close(self.opener.table.remove_idle());
        }
    }

    /// Closes the connections of a client whose session has ended.
    pub(crate) fn client_gone(&self, affinity: AffinityKey) {
        self.opener
            .close(self.opener.table.remove_affinity(affinity));
    }

    /// Removes all connections, so that the caller can close them.
    pub(crate) fn drain(&self) -> Vec<Arc<Connection>> {
        let removed = self.opener.table.remove_all().into_iter();
        removed.map(|removed| removed.connection).collect()
    }

    /// The connections on which the server knows the roots of one client's session.
    pub(crate) fn with_affinity(&self, affinity: AffinityKey) -> Vec<Arc<Connection>> {
        self.opener.table.with_affinity(affinity)
    }

    /// The number of open connections of each principal.
    pub(crate) fn counts(&self) -> Vec<(String, u64)> {
        self.opener.table.counts()
    }
}

impl PooledConnection {
    /// Lets the next call of the client begin.
    pub(crate) fn end_turn(&mut self) {
        self.turn = None;
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else {
            return;
        };
        client.mark_used();
        if matches!(self.key.identity, ClientIdentity::Call(_)) {
            let removed = self.opener.table.remove(&self.key, &client);
            self.opener.close(removed);
        }
    }
}
