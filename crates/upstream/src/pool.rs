//! Sessions and processes of servers that have them, for clients that can be asked something: never
//! two principals on one, so that no question reaches anyone else.
//!
//! Nothing links the question of a process to a call, so a process has one call at a time; more
//! calls have more processes, up to a limit, and further calls wait in order. So it is with sessions
//! of a server that has been seen to ask on another stream than that of the call.

pub(crate) mod connection_selection;
mod shard;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{AffinityKey, Change, ChangeEvent, Principal, RawJson, Result};
use tidegate_interaction::UrlElicitations;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::config::{RemoteConfig, TransportConfig};
use crate::session::connect::{Open, Try, connect};
use crate::session::{Unasked, not_asked};
use shard::Lane;

/// Lanes that are kept, and rooms of principals that are remembered.
const MOST_LANES: usize = 1_024;
const MOST_ROOMS: usize = 4_096;

/// How often it is looked which links nobody uses.
const LOOK: Duration = Duration::from_secs(10);

/// Who shares links.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LaneKey {
    /// None where all do.
    pub(crate) principal: Option<Principal>,
    /// What the server is told that clients can do.
    pub(crate) capabilities: RawJson,
    /// Calls that belong together, where the server may know something that only they share.
    pub(crate) affinity: Option<AffinityKey>,
}

/// The links that are open.
pub(crate) struct Pool {
    lanes: Mutex<HashMap<LaneKey, Arc<Lane>>>,
    /// How many links of its own each principal may use at once.
    rooms: Mutex<HashMap<Option<Principal>, Arc<Semaphore>>>,
    /// What must have ended before the source has.
    unfinished: TaskTracker,
    url_elicitations: Arc<UrlElicitations>,
    /// Whether the server was seen to ask where nothing tells which call it is about.
    asks_anywhere: AtomicBool,
}

/// A link in use by one call.
pub(crate) struct Leased {
    pub(crate) open: Arc<Open>,
    /// None for a link of this call alone.
    lane: Option<Arc<Lane>>,
    /// Its drop lets the next one in. None where calls share a link.
    room: Option<OwnedSemaphorePermit>,
    /// Whether the call has been answered.
    is_done: bool,
}

impl Pool {
    pub(crate) fn new(url_elicitations: Arc<UrlElicitations>, unfinished: TaskTracker) -> Self {
        Self {
            lanes: Mutex::default(),
            rooms: Mutex::default(),
            unfinished,
            url_elicitations,
            asks_anywhere: AtomicBool::default(),
        }
    }

    /// A link for one call of those who share it.
    pub(crate) async fn lease(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Leased> {
        let lane = self.lane(config, key)?;
        let (open, room) = match self.one_at_a_time(config, &lane) {
            true => {
                let room = self.turn(config, key.principal.as_ref()).await?;
                let open = match lane.take() {
                    Some(open) => open,
                    None => lane.open(config, key).await?,
                };
                (open, Some(room))
            }
            false => (lane.shared(config, key).await?, None),
        };
        Ok(Leased {
            open,
            lane: Some(lane),
            room,
            is_done: false,
        })
    }

    /// Whether a link has one call at a time, because nothing else tells what a question is about.
    fn one_at_a_time(&self, config: &RemoteConfig, lane: &Lane) -> bool {
        if lane.asks_anywhere() {
            self.asks_anywhere.store(true, Ordering::Relaxed);
        }
        matches!(config.transport, TransportConfig::Stdio(_))
            || self.asks_anywhere.load(Ordering::Relaxed)
    }

    /// Waits, in order, until this principal may use one more link of its own.
    async fn turn(
        &self,
        config: &RemoteConfig,
        principal: Option<&Principal>,
    ) -> Result<OwnedSemaphorePermit> {
        let room = {
            let mut rooms = self.rooms.lock();
            if rooms.len() >= MOST_ROOMS {
                rooms.retain(|_, room| Arc::strong_count(room) > 1);
            }
            let room = rooms.entry(principal.cloned());
            Arc::clone(room.or_insert_with(|| Arc::new(Semaphore::new(config.max_connections))))
        };
        let turn = room.acquire_owned().await;
        turn.map_err(|_| not_asked("the source is being closed"))
    }

    /// A link for one call alone.
    pub(crate) async fn own(
        &self,
        config: &RemoteConfig,
        principal: &Principal,
        capabilities: &RawJson,
    ) -> Result<Leased> {
        let room = self.turn(config, Some(principal)).await?;
        let (open, unasked) = connect(config, &self.unfinished, capabilities, Try::Session).await?;
        forward_completions(unasked, Arc::clone(&self.url_elicitations));
        Ok(Leased {
            open,
            lane: None,
            room: Some(room),
            is_done: false,
        })
    }

    fn lane(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Arc<Lane>> {
        let mut lanes = self.lock();
        if let Some(lane) = lanes.get(key) {
            return Ok(Arc::clone(lane));
        }
        let of_one = |lanes: &HashMap<LaneKey, _>| {
            let its = lanes.keys().filter(|one| one.principal == key.principal);
            its.count()
        };
        if of_one(&lanes) >= config.max_connections {
            lanes.retain(|one, lane| one.principal != key.principal || lane.is_in_use());
        }
        if lanes.len() >= MOST_LANES {
            lanes.retain(|_, lane| lane.is_in_use());
        }
        if lanes.len() >= MOST_LANES || of_one(&lanes) >= config.max_connections {
            return Err(not_asked(
                "the source has as many sessions open as it may; try again later",
            ));
        }
        let lane = Arc::new(Lane::new(
            self.unfinished.clone(),
            Arc::clone(&self.url_elicitations),
        ));
        lanes.insert(key.clone(), Arc::clone(&lane));
        Ok(lane)
    }

    /// Closes links that nobody uses, for as long as it is polled.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            self.lock().retain(|_, lane| {
                lane.forget_idle();
                lane.is_in_use() || lane.has_links()
            });
        }
    }

    /// Takes all links out, to be closed.
    pub(crate) fn drain(&self) -> Vec<Arc<Open>> {
        let lanes = std::mem::take(&mut *self.lock());
        lanes.values().flat_map(|lane| lane.drain()).collect()
    }

    /// The links on which the server knows the roots of one client's session.
    pub(crate) fn with_affinity(&self, affinity: AffinityKey) -> Vec<Arc<Open>> {
        let lanes = self.lock();
        let its = lanes
            .iter()
            .filter(|(key, _)| key.affinity == Some(affinity));
        its.flat_map(|(_, lane)| lane.links()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LaneKey, Arc<Lane>>> {
        self.lanes.lock()
    }
}

/// Passes on completed URL elicitations for as long as the connection is open.
fn forward_completions(mut notifications: Unasked, url_elicitations: Arc<UrlElicitations>) {
    tokio::spawn(async move {
        while let Some(event) = notifications.next().await {
            if let ChangeEvent::Change(Change::ElicitationComplete(server_id)) = event {
                url_elicitations.complete(&server_id);
            }
        }
    });
}

impl Leased {
    /// The call has ended, with a result or an error: the connection can serve another call.
    pub(crate) fn finish(mut self) {
        self.is_done = true;
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        // A call that was given up may still ask: whoever used its process next would be asked.
        if let Some(lane) = &self.lane
            && self.room.is_some()
            && self.is_done
        {
            lane.give_back(Arc::clone(&self.open));
        }
    }
}
