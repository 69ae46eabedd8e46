//! The connections of calls that may share them: one for all calls, or one for each.
//!
//! Must not know: which calls these are, or how many connections there may be.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use parking_lot::Mutex;
use tidegate_core::{RawJson, Result};
use tokio::sync::Semaphore;

use super::ConnectionOpener;
use crate::session::Connection;

/// Idle connections of one shard that are kept.
const MAX_IDLE: usize = 4;

/// How long an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

pub(super) struct Shard {
    opener: ConnectionOpener,
    /// One call at a time looks for the shared connection, and opens it.
    opening: Semaphore,
    /// The connection that all calls share, where they may, and when it was last used.
    shared: Mutex<Option<(Arc<Connection>, Instant)>>,
    /// Idle connections, and since when they are idle.
    idle: Mutex<Vec<(Arc<Connection>, Instant)>>,
    /// All connections, used ones included.
    opened: Mutex<Vec<Weak<Connection>>>,
}

impl Shard {
    pub(super) fn new(opener: ConnectionOpener) -> Self {
        Self {
            opener,
            opening: Semaphore::new(1),
            shared: Mutex::default(),
            idle: Mutex::default(),
            opened: Mutex::default(),
        }
    }

    /// Whether the server has sent a question that nothing links to one of the calls.
    pub(super) fn has_unlinked_questions(&self) -> bool {
        let shared = self.shared.lock();
        let connection = shared.as_ref().map(|(connection, _)| connection);
        connection.is_some_and(|connection| connection.channel.has_unlinked_questions())
    }

    /// The connection that all calls share; opened if necessary.
    pub(super) async fn shared(&self, capabilities: &RawJson) -> Result<Arc<Connection>> {
        let _permit = self.opening.acquire().await;
        self.close_idle();
        if let Some((connection, last_used)) = self.shared.lock().as_mut() {
            *last_used = Instant::now();
            return Ok(Arc::clone(connection));
        }
        let connection = self.open(capabilities).await?;
        *self.shared.lock() = Some((Arc::clone(&connection), Instant::now()));
        Ok(connection)
    }

    pub(super) async fn open(&self, capabilities: &RawJson) -> Result<Arc<Connection>> {
        let connection = self.opener.open(capabilities).await?;
        let mut opened = self.opened.lock();
        opened.retain(|connection| connection.strong_count() > 0);
        opened.push(Arc::downgrade(&connection));
        Ok(connection)
    }

    /// All open connections, used ones included.
    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        let opened = self.opened.lock();
        opened.iter().filter_map(Weak::upgrade).collect()
    }

    /// Takes an idle connection.
    pub(super) fn take_idle(&self) -> Option<Arc<Connection>> {
        let mut idle = self.idle.lock();
        std::iter::from_fn(|| idle.pop())
            .map(|(connection, _)| connection)
            .find(|connection| !is_closed(connection))
    }

    pub(super) fn give_back(&self, connection: Arc<Connection>) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push((connection, Instant::now()));
        }
    }

    /// Drops closed connections and connections that have been idle for too long.
    pub(super) fn close_idle(&self) {
        self.idle
            .lock()
            .retain(|(connection, since)| !is_closed(connection) && since.elapsed() < IDLE_TIMEOUT);
        self.shared.lock().take_if(|(connection, last_used)| {
            let is_unused = Arc::strong_count(connection) == 1;
            is_closed(connection) || is_unused && last_used.elapsed() >= IDLE_TIMEOUT
        });
    }

    /// Removes all connections that do not belong to one call.
    pub(super) fn drain(&self) -> Vec<Arc<Connection>> {
        let idle = std::mem::take(&mut *self.idle.lock());
        let connections = idle.into_iter().chain(self.shared.lock().take());
        connections.map(|(connection, _)| connection).collect()
    }

    pub(super) fn is_in_use(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    pub(super) fn has_connections(&self) -> bool {
        !self.idle.lock().is_empty() || self.shared.lock().is_some()
    }
}

fn is_closed(connection: &Connection) -> bool {
    connection.channel.closed().now_or_never().is_some()
}
