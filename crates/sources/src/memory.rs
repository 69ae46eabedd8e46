//! The source `memory`: what principals keep under keys, each for itself.
//!
//! Knows no SQL: what keeps the entries is behind a trait.

mod entries;
mod glob;
mod json;
mod limits;
mod notices;
mod prompts;
mod record;
mod resources;
mod stats;
mod tools;
mod ttl;
mod uris;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidegate_core::{
    BoxFuture, Call, Caller, Catalog, ChangeStream, GaugeValue, Health, Reply,
    ResourceSubscription, Result, Source, SourceId, Viewer,
};
use tidegate_store::memory::{EntryOwner, MemoryStore, memory_store};
use tidegate_store::{Store, StoreError, StoreEvents, StoreState, UnixMillis};

use crate::declare::{Declarations, Offer, Stop};
pub use limits::Limits;
use notices::Notices;
pub use record::{Record, WrongRecord};
use uris::Uris;

/// The longest time between two looks at what has expired.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Before what failed is tried again.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The source `memory`.
pub struct Memory {
    state: State,
    offer: Offer<State>,
    store: Arc<Store>,
    notices: Notices,
    entries: AtomicU64,
    bytes: AtomicU64,
}

/// What the declarations work with.
pub(crate) struct State {
    id: String,
    uris: Uris,
    kept: Arc<dyn MemoryStore>,
    limits: Limits,
}

impl State {
    /// The entries of whoever calls.
    fn owner(&self, caller: &Caller) -> EntryOwner {
        EntryOwner {
            source: self.id.clone(),
            principal: caller.principal.as_str().to_owned(),
        }
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}

impl Memory {
    /// Keeps entries in this store, apart from those of sources with other ids.
    pub fn new(id: &SourceId, limits: Limits, store: &Arc<Store>) -> Self {
        let uris = Uris::new(id);
        Self {
            offer: Offer::new(Declarations {
                owned: vec![uris.root()],
                resources: resources::resources(&uris),
                templates: resources::templates(&uris),
                prompts: prompts::prompts(),
                tools: tools::tools(),
            }),
            notices: Notices::new(id, uris.clone()),
            state: State {
                id: id.to_string(),
                uris,
                kept: memory_store(store),
                limits,
            },
            store: Arc::clone(store),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Sweeps what has expired and tells what changes, for as long as it is polled.
    pub async fn run(self: Arc<Self>) {
        let mut changes = self.store.subscribe();
        loop {
            let pause = self.sweep().await.unwrap_or(AFTER_FAILURE);
            // Until something expires, or is written: then that may expire sooner.
            let told = tokio::time::timeout(pause, self.tell(&mut changes));
            told.await.ok();
        }
    }

    /// Tells what changes until something has been written.
    async fn tell(&self, changes: &mut StoreEvents) {
        while !self.notices.tell(changes.next().await) {}
    }

    /// Deletes what has expired, counts the rest, and gives the time until more expires.
    async fn sweep(&self) -> Result<Duration, StoreError> {
        let next = self.state.kept.delete_expired().await?;
        let total = self.state.kept.total_usage(&self.state.id).await?;
        self.entries.store(total.entries, Ordering::Relaxed);
        self.bytes.store(total.bytes, Ordering::Relaxed);
        let left = next.map_or(i64::MAX, |next| next.0.saturating_sub(UnixMillis::now().0));
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        Ok(left.min(LONGEST_PAUSE))
    }
}

impl Source for Memory {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.offer.catalog(viewer)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.offer.serve(&self.state, &call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.notices.stream()
    }

    fn subscribe(&self, uri: &str) -> ResourceSubscription {
        let guard = (self.notices.watch(uri), self.store.poll_frequently());
        let store = Arc::clone(&self.store);
        ResourceSubscription::new(guard, async move { store.wait_until_following().await })
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.store.wait_until_following())
    }

    fn health(&self) -> Health {
        match self.store.state() {
            StoreState::Open | StoreState::Closed => Health::Good,
            StoreState::Failing { open, message, .. } => match open {
                true => Health::Degraded(message.to_owned()),
                false => Health::Down(message.to_owned()),
            },
        }
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let vital = |name, value: &AtomicU64| GaugeValue {
            name,
            value: value.load(Ordering::Relaxed),
        };
        vec![vital("entries", &self.entries), vital("bytes", &self.bytes)]
    }
}
