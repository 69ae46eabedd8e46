//! Links for clients that can be asked something: one for each principal and what its client can
//! do, so that no question reaches anyone else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tidegate_core::{Principal, RawJson, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::{RemoteConfig, Transport};
use crate::connect::{Open, Try, connect};
use crate::link::unavailable;

/// Links that are kept.
const MOST_LINKS: usize = 64;

/// How long a link that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(300);

/// The links that are open.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Lane>>);

/// One principal's link.
struct Lane {
    principal: Principal,
    capabilities: RawJson,
    open: Arc<Open>,
    /// How many calls may be under way on it at once.
    room: Arc<Semaphore>,
    used: Instant,
}

/// A link in use by one call.
pub(crate) struct Leased {
    pub(crate) open: Arc<Open>,
    pub(crate) room: OwnedSemaphorePermit,
}

impl Pool {
    /// A link for this principal and what its client can do.
    pub(crate) async fn lease(
        &self,
        config: &RemoteConfig,
        principal: &Principal,
        capabilities: &RawJson,
    ) -> Result<Leased> {
        let (open, room) = match self.find(principal, capabilities) {
            Some(found) => found,
            None => {
                let (open, _) = connect(config, capabilities, Try::Session).await?;
                self.keep(config, principal, capabilities, open)?
            }
        };
        let room = room.acquire_owned().await;
        let room = room.map_err(|_| unavailable("the source's link was closed"))?;
        Ok(Leased { open, room })
    }

    fn find(
        &self,
        principal: &Principal,
        capabilities: &RawJson,
    ) -> Option<(Arc<Open>, Arc<Semaphore>)> {
        let mut lanes = self.lock();
        lanes.retain(Lane::is_of_use);
        let lane = lanes
            .iter_mut()
            .find(|lane| lane.principal == *principal && lane.capabilities == *capabilities)?;
        lane.used = Instant::now();
        Some((Arc::clone(&lane.open), Arc::clone(&lane.room)))
    }

    fn keep(
        &self,
        config: &RemoteConfig,
        principal: &Principal,
        capabilities: &RawJson,
        open: Arc<Open>,
    ) -> Result<(Arc<Open>, Arc<Semaphore>)> {
        let mut lanes = self.lock();
        if lanes.len() >= MOST_LINKS {
            return Err(unavailable(
                "the source has as many links open as it may; try again later",
            ));
        }
        // Nothing links the question of a process to a call, so it has one call at a time.
        let at_once = match config.transport {
            Transport::Stdio(_) => 1,
            Transport::Http { .. } => Semaphore::MAX_PERMITS,
        };
        let room = Arc::new(Semaphore::new(at_once));
        lanes.push(Lane {
            principal: principal.clone(),
            capabilities: capabilities.clone(),
            open: Arc::clone(&open),
            room: Arc::clone(&room),
            used: Instant::now(),
        });
        Ok((open, room))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    fn is_of_use(&self) -> bool {
        let closed = self.open.link.closed().now_or_never().is_some();
        let in_use = Arc::strong_count(&self.open) > 1;
        !closed && (in_use || self.used.elapsed() < IDLE)
    }
}
