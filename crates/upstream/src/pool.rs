//! Sessions and processes of legacy servers, for clients that can be asked questions. Two principals
//! never share one, so a question cannot reach another principal.
//!
//! Nothing links the question of a process to a call, so a process has one call at a time. More calls
//! use more processes, up to a limit, and further calls wait in order. The same holds for sessions of
//! an HTTP server that has sent a question outside of a call's response.

pub(crate) mod connection_selection;
mod shard;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tidegate_core::{AffinityKey, Change, ChangeEvent, Principal, RawJson, Result};
use tidegate_interaction::UrlElicitations;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::config::{RemoteConfig, TransportConfig};
use crate::error::source_unreachable;
use crate::session::connect::{EraPreference, connect};
use crate::session::{Connection, Notifications};
use shard::Shard;

/// Shards that are kept, and principals whose permits are remembered.
const MAX_SHARDS: usize = 1_024;
const MAX_PRINCIPALS: usize = 4_096;

/// How often unused connections are closed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// What the calls that share connections have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ShardKey {
    /// None where all principals share.
    pub(crate) principal: Option<Principal>,
    /// The capabilities that are declared to the server.
    pub(crate) capabilities: RawJson,
    /// The client's session, where the server remembers its roots.
    pub(crate) affinity: Option<AffinityKey>,
}

/// The pooled connections to one server.
pub(crate) struct Pool {
    opener: ConnectionOpener,
    shards: Mutex<HashMap<ShardKey, Arc<Shard>>>,
    /// The connections that each principal may use concurrently.
    permits: Mutex<HashMap<Option<Principal>, Arc<Semaphore>>>,
    /// Whether the server has sent a question that nothing links to a call.
    has_unlinked_questions: AtomicBool,
}

/// Opens the connections of the pool.
#[derive(Clone)]
struct ConnectionOpener {
    config: Arc<RemoteConfig>,
    background_tasks: TaskTracker,
    url_elicitations: Arc<UrlElicitations>,
}

impl ConnectionOpener {
    async fn open(&self, capabilities: &RawJson) -> Result<Arc<Connection>> {
        let preference = EraPreference::LegacyFirst;
        let connected = connect(
            &self.config,
            &self.background_tasks,
            capabilities,
            preference,
        );
        let (connection, notifications) = connected.await?;
        forward_completions(notifications, Arc::clone(&self.url_elicitations));
        Ok(connection)
    }
}

/// Announces completed URL elicitations, for as long as the connection is open.
fn forward_completions(mut notifications: Notifications, url_elicitations: Arc<UrlElicitations>) {
    tokio::spawn(async move {
        while let Some(event) = notifications.next().await {
            if let ChangeEvent::Change(Change::ElicitationComplete(server_id)) = event {
                url_elicitations.complete(&server_id);
            }
        }
    });
}

/// A connection that one call uses.
pub(crate) struct PooledConnection {
    pub(crate) connection: Arc<Connection>,
    /// `None` for a connection that only this call uses.
    shard: Option<Arc<Shard>>,
    /// Admits the next call when dropped. `None` where calls share the connection.
    permit: Option<OwnedSemaphorePermit>,
    is_done: bool,
}

impl Pool {
    pub(crate) fn new(
        config: Arc<RemoteConfig>,
        background_tasks: TaskTracker,
        url_elicitations: Arc<UrlElicitations>,
    ) -> Self {
        Self {
            opener: ConnectionOpener {
                config,
                background_tasks,
                url_elicitations,
            },
            shards: Mutex::default(),
            permits: Mutex::default(),
            has_unlinked_questions: AtomicBool::default(),
        }
    }

    /// A connection of a shard, for one call.
    async fn acquire(&self, key: &ShardKey) -> Result<PooledConnection> {
        let shard = self.shard(key)?;
        let (connection, permit) = match self.has_one_call_at_a_time(&shard) {
            true => {
                let permit = self.permit(key.principal.as_ref()).await?;
                let connection = match shard.take_idle() {
                    Some(connection) => connection,
                    None => shard.open(&key.capabilities).await?,
                };
                (connection, Some(permit))
            }
            false => (shard.shared(&key.capabilities).await?, None),
        };
        Ok(PooledConnection {
            connection,
            shard: Some(shard),
            permit,
            is_done: false,
        })
    }

    /// A connection for one call only.
    async fn open_exclusive(
        &self,
        principal: &Principal,
        capabilities: &RawJson,
    ) -> Result<PooledConnection> {
        let permit = self.permit(Some(principal)).await?;
        Ok(PooledConnection {
            connection: self.opener.open(capabilities).await?,
            shard: None,
            permit: Some(permit),
            is_done: false,
        })
    }

    /// Whether a connection has one call at a time, because nothing else links a question to its call.
    fn has_one_call_at_a_time(&self, shard: &Shard) -> bool {
        if shard.has_unlinked_questions() {
            self.has_unlinked_questions.store(true, Ordering::Relaxed);
        }
        matches!(self.opener.config.transport, TransportConfig::Stdio(_))
            || self.has_unlinked_questions.load(Ordering::Relaxed)
    }

    /// Waits, in order, until this principal may use one more connection.
    async fn permit(&self, principal: Option<&Principal>) -> Result<OwnedSemaphorePermit> {
        let permits = {
            let mut permits = self.permits.lock();
            if permits.len() >= MAX_PRINCIPALS {
                permits.retain(|_, permits| Arc::strong_count(permits) > 1);
            }
            let max_connections = self.opener.config.max_connections;
            let permits = permits.entry(principal.cloned());
            Arc::clone(permits.or_insert_with(|| Arc::new(Semaphore::new(max_connections))))
        };
        let permit = permits.acquire_owned().await;
        permit.map_err(|_| source_unreachable("the source is shutting down"))
    }

    fn shard(&self, key: &ShardKey) -> Result<Arc<Shard>> {
        let max_connections = self.opener.config.max_connections;
        let mut shards = self.shards.lock();
        if let Some(shard) = shards.get(key) {
            return Ok(Arc::clone(shard));
        }
        let count_of_principal = |shards: &HashMap<ShardKey, _>| {
            let keys = shards.keys();
            keys.filter(|other| other.principal == key.principal)
                .count()
        };
        if count_of_principal(&shards) >= max_connections {
            shards.retain(|other, shard| other.principal != key.principal || shard.is_in_use());
        }
        if shards.len() >= MAX_SHARDS {
            shards.retain(|_, shard| shard.is_in_use());
        }
        if shards.len() >= MAX_SHARDS || count_of_principal(&shards) >= max_connections {
            let message = format!(
                "session limit of the source reached ({max_connections} per principal); retry later"
            );
            return Err(source_unreachable(&message));
        }
        let shard = Arc::new(Shard::new(self.opener.clone()));
        shards.insert(key.clone(), Arc::clone(&shard));
        Ok(shard)
    }

    /// Closes unused connections, for as long as it is polled.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            self.shards.lock().retain(|_, shard| {
                shard.close_idle();
                shard.is_in_use() || shard.has_connections()
            });
        }
    }

    /// Removes all connections, so that the caller can close them.
    pub(crate) fn drain(&self) -> Vec<Arc<Connection>> {
        let shards = std::mem::take(&mut *self.shards.lock());
        shards.values().flat_map(|shard| shard.drain()).collect()
    }

    /// The connections on which the server knows the roots of one client's session.
    pub(crate) fn with_affinity(&self, affinity: AffinityKey) -> Vec<Arc<Connection>> {
        let shards = self.shards.lock();
        let matching = shards
            .iter()
            .filter(|(key, _)| key.affinity == Some(affinity));
        matching
            .flat_map(|(_, shard)| shard.connections())
            .collect()
    }
}

impl PooledConnection {
    /// The call has ended, with a result or an error: the connection can serve another call.
    pub(crate) fn finish(mut self) {
        self.is_done = true;
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        // A cancelled call may still send questions, which would reach the next call of its process.
        if let Some(shard) = &self.shard
            && self.permit.is_some()
            && self.is_done
        {
            shard.give_back(Arc::clone(&self.connection));
        }
    }
}
