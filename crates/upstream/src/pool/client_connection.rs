//! The connection of one client, opened when it is needed and kept until it is idle for too long.
//!
//! Must not know: which client this is, or how many connections there may be.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use parking_lot::Mutex;
use tidegate_core::Result;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::outgoing_notifications::OutgoingNotifications;
use crate::resource_subscriptions::ResourceSubscriptions;
use crate::session::{Connection, DeclaredClient};

/// How long a connection that was opened to load lists is kept for the first call of its client.
const UNCLAIMED_TIMEOUT: Duration = Duration::from_secs(60);

/// Minimum interval between reloads of the lists on demand.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct ClientConnection {
    /// What is declared to the server.
    pub(super) declared: DeclaredClient,
    pub(super) subscriptions: ResourceSubscriptions,
    pub(super) outgoing: OutgoingNotifications,
    /// One use at a time opens the connection.
    opening: Semaphore,
    /// Held by the call in flight, where calls have to be sent one at a time.
    turn: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    connection: Option<Arc<Connection>>,
    last_used: Instant,
    /// Whether a call has used it.
    is_claimed: bool,
    /// When the lists were last reloaded on demand.
    last_reload: Option<Instant>,
}

impl ClientConnection {
    pub(super) fn new(declared: DeclaredClient) -> Self {
        Self {
            declared,
            subscriptions: ResourceSubscriptions::default(),
            outgoing: OutgoingNotifications::default(),
            opening: Semaphore::new(1),
            turn: Arc::new(Semaphore::new(1)),
            state: Mutex::new(State {
                connection: None,
                last_used: Instant::now(),
                is_claimed: false,
                last_reload: None,
            }),
        }
    }

    /// The open connection.
    pub(super) fn current(&self) -> Option<Arc<Connection>> {
        let state = self.state.lock();
        let connection = state.connection.as_ref();
        connection
            .filter(|connection| !is_closed(connection))
            .cloned()
    }

    /// The connection; opened by `open` if necessary.
    pub(super) async fn get_or_open(
        &self,
        open: impl AsyncFnOnce() -> Result<Arc<Connection>>,
    ) -> Result<Arc<Connection>> {
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let _permit = self.opening.acquire().await;
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        // Two processes of one program might interfere with each other.
        if let Some(closed) = self.take() {
            closed.channel.close().await;
        }
        let connection = open().await?;
        self.state.lock().connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Waits, in order of arrival, until no other call is in flight.
    pub(super) async fn wait_for_turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turn).acquire_owned().await.ok()
    }

    pub(super) fn claim(&self) {
        let mut state = self.state.lock();
        state.is_claimed = true;
        state.last_used = Instant::now();
    }

    pub(super) fn mark_used(&self) {
        self.state.lock().last_used = Instant::now();
    }

    /// Whether the lists were not reloaded on demand recently. If so, records that they are now.
    pub(super) fn may_reload_lists(&self) -> bool {
        let mut state = self.state.lock();
        let last = state.last_reload;
        let is_due = last.is_none_or(|last| last.elapsed() >= RELOAD_INTERVAL);
        if is_due {
            state.last_reload = Some(Instant::now());
        }
        is_due
    }

    pub(super) fn idle_time(&self) -> Duration {
        self.state.lock().last_used.elapsed()
    }

    pub(super) fn is_expired(&self, idle_timeout: Duration) -> bool {
        let timeout = match self.state.lock().is_claimed {
            true => idle_timeout,
            false => UNCLAIMED_TIMEOUT.min(idle_timeout),
        };
        self.idle_time() >= timeout
    }

    pub(super) fn take(&self) -> Option<Arc<Connection>> {
        self.state.lock().connection.take()
    }
}

fn is_closed(connection: &Connection) -> bool {
    connection.channel.closed().now_or_never().is_some()
}
