//! The connections of clients by their keys, up to the limits of the source and of each principal.
//!
//! Must not know: how a connection is opened.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidegate_core::{AffinityKey, Error};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::client_connection::ClientConnection;
use crate::client_key::ClientKey;
use crate::config::RemoteConfig;
use crate::error::source_unreachable;
use crate::occupancy::{Closing, Occupancy};
use crate::session::{Connection, DeclaredClient};

/// At a limit, a connection that was not used for this long makes room for another.
const REPLACEABLE_AFTER: Duration = Duration::from_secs(60);

/// A connection that was removed and has to be closed.
pub(super) struct RemovedConnection {
    pub(super) connection: Arc<Connection>,
    pub(super) closing: Closing,
}

pub(super) struct ClientTable {
    config: Arc<RemoteConfig>,
    occupancy: Arc<Occupancy>,
    clients: Mutex<HashMap<ClientKey, Arc<ClientConnection>>>,
    removed: Notify,
}

impl ClientTable {
    pub(super) fn new(config: Arc<RemoteConfig>, occupancy: Arc<Occupancy>) -> Self {
        Self {
            config,
            occupancy,
            clients: Mutex::default(),
            removed: Notify::new(),
        }
    }

    pub(super) fn find(&self, key: &ClientKey) -> Option<Arc<ClientConnection>> {
        self.clients.lock().get(key).cloned()
    }

    /// The entry of a client; added if necessary. At a limit, the connection that was idle for the
    /// longest time is returned too, to be closed.
    pub(super) fn find_or_add(
        &self,
        key: &ClientKey,
        declared: impl FnOnce() -> DeclaredClient,
    ) -> Result<(Arc<ClientConnection>, Option<RemovedConnection>), Error> {
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(key) {
            return Ok((Arc::clone(client), None));
        }
        let mut evicted = None;
        if let Some(limit) = self.reached_limit(&clients, key) {
            evicted = Some(evict_idle(&mut clients, key, &limit, &self.config.name)?);
        }
        let client = Arc::new(ClientConnection::new(declared()));
        clients.insert(key.clone(), Arc::clone(&client));
        self.occupancy.set_clients(clients.len());
        Ok((
            client,
            evicted
                .flatten()
                .map(|evicted| self.removed_connection(evicted)),
        ))
    }

    fn reached_limit(
        &self,
        clients: &HashMap<ClientKey, Arc<ClientConnection>>,
        key: &ClientKey,
    ) -> Option<Limit> {
        let of_principal = clients
            .keys()
            .filter(|other| other.principal == key.principal);
        if of_principal.count() >= self.config.max_processes_per_principal {
            return Some(Limit {
                setting: "max_processes_per_principal",
                value: self.config.max_processes_per_principal,
                is_per_principal: true,
            });
        }
        (clients.len() >= self.config.max_processes).then_some(Limit {
            setting: "max_processes",
            value: self.config.max_processes,
            is_per_principal: false,
        })
    }

    /// Removes an entry that nothing else uses, if it is still this one. Returns its connection.
    pub(super) fn remove(
        &self,
        key: &ClientKey,
        client: &Arc<ClientConnection>,
    ) -> Option<RemovedConnection> {
        let mut clients = self.clients.lock();
        let is_same = clients
            .get(key)
            .is_some_and(|known| Arc::ptr_eq(known, client));
        // One in the table, one of the caller.
        if !is_same || Arc::strong_count(client) > 2 {
            return None;
        }
        clients.remove(key);
        let removed = client.take();
        let removed = removed.map(|connection| self.removed_connection(connection));
        self.occupancy.set_clients(clients.len());
        self.removed.notify_waiters();
        removed
    }

    /// Waits until an entry is removed.
    pub(super) fn removed(&self) -> Notified<'_> {
        self.removed.notified()
    }

    /// Removes the entry of a client whose connection is closed, unless it is in use.
    pub(super) fn remove_closed(&self, key: &ClientKey) {
        self.remove_where(|other, client| {
            other == key && Arc::strong_count(client) == 1 && client.current().is_none()
        });
    }

    /// Removes the connections that were idle for too long.
    pub(super) fn remove_idle(&self) -> Vec<RemovedConnection> {
        let idle_timeout = self.config.idle_timeout;
        self.remove_where(|_, client| {
            Arc::strong_count(client) == 1
                && (client.is_expired(idle_timeout) || client.current().is_none())
        })
    }

    /// Removes the connections of a client whose session has ended.
    pub(super) fn remove_affinity(&self, affinity: AffinityKey) -> Vec<RemovedConnection> {
        self.remove_where(|key, _| key.affinity() == Some(affinity))
    }

    pub(super) fn remove_all(&self) -> Vec<RemovedConnection> {
        self.remove_where(|_, _| true)
    }

    fn remove_where(
        &self,
        is_removed: impl Fn(&ClientKey, &Arc<ClientConnection>) -> bool,
    ) -> Vec<RemovedConnection> {
        let mut clients = self.clients.lock();
        let removed: Vec<_> = clients
            .extract_if(|key, client| is_removed(key, client))
            .collect();
        let connections = removed.iter().filter_map(|(_, client)| client.take());
        let connections = connections.map(|connection| self.removed_connection(connection));
        // Counted as closing before they are no longer counted as open.
        let connections = connections.collect();
        self.occupancy.set_clients(clients.len());
        self.removed.notify_waiters();
        connections
    }

    fn removed_connection(&self, connection: Arc<Connection>) -> RemovedConnection {
        RemovedConnection {
            connection,
            closing: self.occupancy.begin_closing(),
        }
    }

    /// The open connection of a client with a session.
    pub(super) fn with_affinity(&self, affinity: AffinityKey) -> Vec<Arc<Connection>> {
        let clients = self.clients.lock();
        let matching = clients
            .iter()
            .filter(|(key, _)| key.affinity() == Some(affinity));
        matching
            .filter_map(|(_, client)| client.current())
            .collect()
    }

    /// The only client that differs from `key` at most in what it declares.
    pub(super) fn only_similar(&self, key: &ClientKey) -> Option<ClientKey> {
        let clients = self.clients.lock();
        let mut similar = clients.keys().filter(|other| other.is_similar(key));
        let first = similar.next()?;
        similar.next().is_none().then(|| first.clone())
    }

    /// The number of open connections of each principal.
    pub(super) fn counts(&self) -> Vec<(String, u64)> {
        let clients = self.clients.lock();
        let mut counts = BTreeMap::<String, u64>::new();
        for (key, client) in clients.iter() {
            if client.current().is_some() {
                let principal = key.principal.as_ref().map_or("all", |name| name.as_str());
                *counts.entry(principal.to_owned()).or_default() += 1;
            }
        }
        counts.into_iter().collect()
    }
}

/// A limit that was reached.
struct Limit {
    setting: &'static str,
    value: usize,
    is_per_principal: bool,
}

/// Removes the connection that was idle for the longest time: of the same principal, if the limit is
/// its own.
fn evict_idle(
    clients: &mut HashMap<ClientKey, Arc<ClientConnection>>,
    key: &ClientKey,
    limit: &Limit,
    source: &str,
) -> Result<Option<Arc<Connection>>, Error> {
    let oldest = clients
        .iter()
        .filter(|(other, _)| !limit.is_per_principal || other.principal == key.principal)
        .filter(|(_, client)| Arc::strong_count(client) == 1)
        .filter(|(_, client)| client.idle_time() >= REPLACEABLE_AFTER)
        .max_by_key(|(_, client)| client.idle_time())
        .map(|(key, _)| key.clone());
    let evicted = oldest.and_then(|key| clients.remove(&key));
    let evicted = evicted.ok_or_else(|| {
        let Limit { setting, value, .. } = limit;
        let whom = match limit.is_per_principal {
            true => "this principal",
            false => "all clients",
        };
        source_unreachable(&format!(
            "source `{source}` has reached its limit of {value} processes or sessions for {whom} \
             (`{setting}`); retry when other clients have ended, or raise the limit"
        ))
    })?;
    Ok(evicted.take())
}
