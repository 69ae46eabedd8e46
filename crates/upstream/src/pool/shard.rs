//! The links of those who share them: one for all their calls, or one for each.
//!
//! Must not know: who they are, or how many there may be.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::Result;
use tidegate_interaction::UrlElicitations;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::{LaneKey, forward_completions};
use crate::config::RemoteConfig;
use crate::session::connect::{Open, Try, connect};

/// Links of one lane that are kept without work.
const MOST_FREE: usize = 4;

/// How long a link that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(300);

/// The links of those who share them.
pub(super) struct Lane {
    /// Only one may look for a link that is shared, and open one.
    opening: Semaphore,
    /// The link that all calls share, where they may, and when it was last used.
    common: Mutex<Option<(Arc<Open>, Instant)>>,
    /// Links that one call can use now, and since when.
    free: Mutex<Vec<(Arc<Open>, Instant)>>,
    /// All links, also those that are used.
    all: Mutex<Vec<Weak<Open>>>,
    unfinished: TaskTracker,
    url_elicitations: Arc<UrlElicitations>,
}

impl Lane {
    pub(super) fn new(unfinished: TaskTracker, url_elicitations: Arc<UrlElicitations>) -> Self {
        Self {
            opening: Semaphore::new(1),
            common: Mutex::default(),
            free: Mutex::default(),
            all: Mutex::default(),
            unfinished,
            url_elicitations,
        }
    }

    /// Whether the server asks where nothing tells which of the calls it is about.
    pub(super) fn asks_anywhere(&self) -> bool {
        let common = self.common();
        common
            .as_ref()
            .is_some_and(|(open, _)| open.link.asks_anywhere())
    }

    /// Takes out all links that are not one call's.
    pub(super) fn drain(&self) -> Vec<Arc<Open>> {
        let free = std::mem::take(&mut *self.free());
        let links = free.into_iter().chain(self.common().take());
        links.map(|(open, _)| open).collect()
    }

    /// The one link that all share, opened if it is not there.
    pub(super) async fn shared(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Arc<Open>> {
        let _one = self.opening.acquire().await;
        self.forget_idle();
        if let Some((open, used)) = self.common().as_mut() {
            *used = Instant::now();
            return Ok(Arc::clone(open));
        }
        let open = self.open(config, key).await?;
        *self.common() = Some((Arc::clone(&open), Instant::now()));
        Ok(open)
    }

    pub(super) async fn open(&self, config: &RemoteConfig, key: &LaneKey) -> Result<Arc<Open>> {
        let (open, unasked) =
            connect(config, &self.unfinished, &key.capabilities, Try::Session).await?;
        forward_completions(unasked, Arc::clone(&self.url_elicitations));
        let mut all = self.all.lock();
        all.retain(|link| link.strong_count() > 0);
        all.push(Arc::downgrade(&open));
        Ok(open)
    }

    pub(super) fn links(&self) -> Vec<Arc<Open>> {
        let all = self.all.lock();
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// A link that nobody uses.
    pub(super) fn take(&self) -> Option<Arc<Open>> {
        let mut free = self.free();
        std::iter::from_fn(|| free.pop())
            .map(|(open, _)| open)
            .find(|open| !is_closed(open))
    }

    pub(super) fn give_back(&self, open: Arc<Open>) {
        let mut free = self.free();
        if free.len() < MOST_FREE {
            free.push((open, Instant::now()));
        }
    }

    pub(super) fn forget_idle(&self) {
        self.free()
            .retain(|(open, used)| !is_closed(open) && used.elapsed() < IDLE);
        self.common().take_if(|(open, used)| {
            let is_idle = Arc::strong_count(open) == 1 && used.elapsed() >= IDLE;
            is_closed(open) || is_idle
        });
    }

    pub(super) fn is_in_use(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    pub(super) fn has_links(&self) -> bool {
        !self.free().is_empty() || self.common().is_some()
    }

    fn common(&self) -> MutexGuard<'_, Option<(Arc<Open>, Instant)>> {
        self.common.lock()
    }

    fn free(&self) -> MutexGuard<'_, Vec<(Arc<Open>, Instant)>> {
        self.free.lock()
    }
}

fn is_closed(open: &Open) -> bool {
    open.link.closed().now_or_never().is_some()
}
