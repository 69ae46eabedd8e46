//! Sessions and processes of servers that have them, for clients that can be asked something: never
//! two principals on one, so that no question reaches anyone else.
//!
//! Nothing links the question of a process to a call, so a process has one call at a time; more
//! calls have more processes, up to a limit, and further calls wait in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tidegate_core::{Event, Principal, RawJson, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::config::{RemoteConfig, Transport};
use crate::connect::{Open, Try, connect};
use crate::elsewhere::Elsewhere;
use crate::link::not_asked;

/// Lanes that are kept, and rooms of principals that are remembered.
const MOST_LANES: usize = 1_024;
const MOST_ROOMS: usize = 4_096;

/// Links of one lane that are kept without work.
const MOST_FREE: usize = 4;

/// How long a link that nobody uses is kept, and how often that is looked at.
const IDLE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_secs(10);

/// Who shares links.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LaneKey {
    /// None where all do.
    pub(crate) principal: Option<Principal>,
    /// What the server is told that clients can do.
    pub(crate) capabilities: RawJson,
    /// Calls that belong together, where the server may know something that only they share.
    pub(crate) conversation: Option<u64>,
}

/// The links that are open.
pub(crate) struct Pool {
    lanes: Mutex<HashMap<LaneKey, Arc<Lane>>>,
    /// How many links of its own each principal may use at once.
    rooms: Mutex<HashMap<Option<Principal>, Arc<Semaphore>>>,
    /// What must have ended before the source has.
    unfinished: TaskTracker,
    elsewhere: Arc<Elsewhere>,
}

/// The links of those who share them.
struct Lane {
    /// Whether a link has one call at a time.
    one_at_a_time: bool,
    /// Only one may look for a link that is shared, and open one.
    opening: Semaphore,
    /// Links that can be used now, and since when.
    free: Mutex<Vec<(Arc<Open>, Instant)>>,
    /// All links, also those that are used.
    all: Mutex<Vec<Weak<Open>>>,
    unfinished: TaskTracker,
    elsewhere: Arc<Elsewhere>,
}

/// A link in use by one call.
pub(crate) struct Leased {
    pub(crate) open: Arc<Open>,
    /// None for a link of this call alone.
    lane: Option<Arc<Lane>>,
    /// Kept for its drop, which lets the next one in. None where calls share a link.
    _room: Option<OwnedSemaphorePermit>,
    /// Whether the call has been answered.
    is_done: bool,
}

impl Pool {
    pub(crate) fn new(elsewhere: Arc<Elsewhere>, unfinished: TaskTracker) -> Self {
        Self {
            lanes: Mutex::default(),
            rooms: Mutex::default(),
            unfinished,
            elsewhere,
        }
    }

    /// A link for one call of those who share it.
    pub(crate) async fn lease(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Leased> {
        let lane = self.lane(config, key)?;
        let (open, room) = match lane.one_at_a_time {
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
            _room: room,
            is_done: false,
        })
    }

    /// Waits, in order, until this principal may use one more link of its own.
    async fn turn(
        &self,
        config: &RemoteConfig,
        principal: Option<&Principal>,
    ) -> Result<OwnedSemaphorePermit> {
        let room = {
            let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
            if rooms.len() >= MOST_ROOMS {
                rooms.retain(|_, room| Arc::strong_count(room) > 1);
            }
            let room = rooms.entry(principal.cloned());
            Arc::clone(room.or_insert_with(|| Arc::new(Semaphore::new(config.links))))
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
        self.elsewhere.hear(unasked);
        Ok(Leased {
            open,
            lane: None,
            _room: Some(room),
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
        if of_one(&lanes) >= config.links {
            lanes.retain(|one, lane| one.principal != key.principal || lane.is_in_use());
        }
        if lanes.len() >= MOST_LANES {
            lanes.retain(|_, lane| lane.is_in_use());
        }
        if lanes.len() >= MOST_LANES || of_one(&lanes) >= config.links {
            return Err(not_asked(
                "the source has as many sessions open as it may; try again later",
            ));
        }
        let one_at_a_time = matches!(config.transport, Transport::Stdio(_));
        let lane = Arc::new(Lane {
            one_at_a_time,
            opening: Semaphore::new(1),
            free: Mutex::default(),
            all: Mutex::default(),
            unfinished: self.unfinished.clone(),
            elsewhere: Arc::clone(&self.elsewhere),
        });
        lanes.insert(key.clone(), Arc::clone(&lane));
        Ok(lane)
    }

    /// Closes links that nobody uses, for as long as it is polled.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            self.lock().retain(|_, lane| {
                lane.forget_idle();
                lane.is_in_use() || !lane.free().is_empty()
            });
        }
    }

    /// Takes all links out, to be closed.
    pub(crate) fn drain(&self) -> Vec<Arc<Open>> {
        let lanes = std::mem::take(&mut *self.lock());
        let links = lanes
            .values()
            .flat_map(|lane| std::mem::take(&mut *lane.free()));
        links.map(|(open, _)| open).collect()
    }

    /// The links on which the server knows the folders of one conversation.
    pub(crate) fn of_conversation(&self, conversation: u64) -> Vec<Arc<Open>> {
        let lanes = self.lock();
        let its = lanes
            .iter()
            .filter(|(key, _)| key.conversation == Some(conversation));
        its.flat_map(|(_, lane)| lane.links()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LaneKey, Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    /// The one link that all share, opened if it is not there.
    async fn shared(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Arc<Open>> {
        let _one = self.opening.acquire().await;
        self.forget_idle();
        if let Some((open, used)) = self.free().first_mut() {
            *used = Instant::now();
            return Ok(Arc::clone(open));
        }
        let open = self.open(config, key).await?;
        self.give_back(Arc::clone(&open));
        Ok(open)
    }

    async fn open(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Arc<Open>> {
        let (open, unasked) =
            connect(config, &self.unfinished, &key.capabilities, Try::Session).await?;
        self.elsewhere.hear(unasked);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|link| link.strong_count() > 0);
        all.push(Arc::downgrade(&open));
        Ok(open)
    }

    fn links(&self) -> Vec<Arc<Open>> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// A link that nobody uses.
    fn take(&self) -> Option<Arc<Open>> {
        let mut free = self.free();
        std::iter::from_fn(|| free.pop())
            .map(|(open, _)| open)
            .find(|open| !is_closed(open))
    }

    fn give_back(&self, open: Arc<Open>) {
        let mut free = self.free();
        if free.len() < MOST_FREE {
            free.push((open, Instant::now()));
        }
    }

    fn forget_idle(&self) {
        self.free().retain(|(open, used)| {
            let in_use = !self.one_at_a_time && Arc::strong_count(open) > 1;
            !is_closed(open) && (in_use || used.elapsed() < IDLE)
        });
    }

    fn is_in_use(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    fn free(&self) -> MutexGuard<'_, Vec<(Arc<Open>, Instant)>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_closed(open: &Open) -> bool {
    open.link.closed().now_or_never().is_some()
}

impl Leased {
    /// Sees what happens in the call.
    pub(crate) fn note(&mut self, event: &Result<Event>) {
        // An error is an answer too; a link that broke is of no use to anyone.
        self.is_done |= matches!(event, Ok(Event::Done(_)) | Err(_));
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        // A call that was given up may still ask: whoever used its process next would be asked.
        if let Some(lane) = &self.lane
            && lane.one_at_a_time
            && self.is_done
        {
            lane.give_back(Arc::clone(&self.open));
        }
    }
}
