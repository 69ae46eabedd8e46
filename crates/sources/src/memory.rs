//! The source `memory`: entries that principals store under keys, each principal separately.
//!
//! Must not know SQL: the entries are behind [`MemoryStore`].

mod byte_size;
mod config;
mod entry_view;
mod json_value;
mod key_glob;
mod limits;
mod notifications;
mod prompts;
mod record;
mod resources;
mod state;
mod tools;
mod ttl;
mod uris;
mod usage;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tidegate_core::{
    BoxFuture, Call, Catalog, ChangeStream, GaugeValue, Health, List, ListDefect, Reply,
    ResourceSubscription, Result, Source, SourceId, Viewer,
};
use tidegate_store::memory::memory_store;
use tidegate_store::{Store, StoreError, StoreEvents, StoreState, UnixMillis};

use crate::declarations::{Declarations, DeclaredSource};
pub use config::{MemoryConfig, MemorySection};
pub use limits::Limits;
use notifications::Notifications;
pub use record::{InvalidRecord, Record};
use state::MemoryState;
use uris::MemoryUris;

/// The longest pause between deletions of expired entries.
const MAX_EXPIRY_PAUSE: Duration = Duration::from_secs(3600);

/// Pause before a failed deletion of expired entries is retried.
const EXPIRY_RETRY_DELAY: Duration = Duration::from_secs(2);

/// The source `memory`.
pub struct Memory {
    state: MemoryState,
    declared: DeclaredSource<MemoryState>,
    failing_catalogs: FailingCatalogs,
    store: Arc<Store>,
    notifications: Notifications,
    /// The usage of all principals, for gauges.
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Memory {
    /// Stores entries in `store`, separate from the entries of other source ids.
    pub fn new(id: &SourceId, limits: Limits, store: &Arc<Store>) -> Self {
        let uris = MemoryUris::new(id);
        Self {
            declared: DeclaredSource::new(Declarations {
                owned: vec![uris.root()],
                resources: resources::resources(&uris),
                templates: resources::templates(&uris),
                prompts: prompts::prompts(),
                tools: tools::tools(),
            }),
            notifications: Notifications::new(id, uris.clone()),
            state: MemoryState {
                id: id.to_string(),
                uris,
                entries: memory_store(store),
                limits,
            },
            failing_catalogs: FailingCatalogs::default(),
            store: Arc::clone(store),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Deletes expired entries and announces changes for as long as it is polled.
    pub async fn run(self: Arc<Self>) {
        let mut events = self.store.subscribe();
        loop {
            let pause = self.delete_expired().await.unwrap_or(EXPIRY_RETRY_DELAY);
            // Until the next expiry, or until a write, which may add an entry that expires sooner.
            let written = self.announce_until_written(&mut events);
            tokio::time::timeout(pause, written).await.ok();
        }
    }

    async fn announce_until_written(&self, events: &mut StoreEvents) {
        while !self.notifications.announce(events.next().await) {}
    }

    /// Deletes expired entries, updates the gauges, and returns the time until the next expiry.
    async fn delete_expired(&self) -> Result<Duration, StoreError> {
        let next = self.state.entries.delete_expired().await?;
        let total = self.state.entries.total_usage(&self.state.id).await?;
        self.entries.store(total.entries, Ordering::Relaxed);
        self.bytes.store(total.bytes, Ordering::Relaxed);
        let millis = next.map_or(i64::MAX, |next| next.0.saturating_sub(UnixMillis::now().0));
        let pause = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        Ok(pause.min(MAX_EXPIRY_PAUSE))
    }
}

/// The catalogs while the store fails: they say so, and stay the same as long as the reason does.
#[derive(Default)]
struct FailingCatalogs(Mutex<Vec<FailingCatalog>>);

struct FailingCatalog {
    healthy: Arc<Catalog>,
    reason: &'static str,
    catalog: Arc<Catalog>,
}

impl FailingCatalogs {
    fn get(&self, healthy: &Arc<Catalog>, reason: &'static str) -> Arc<Catalog> {
        let mut catalogs = self.0.lock();
        let is_same = |known: &&FailingCatalog| Arc::ptr_eq(&known.healthy, healthy);
        if let Some(known) = catalogs.iter().find(is_same)
            && known.reason == reason
        {
            return Arc::clone(&known.catalog);
        }
        catalogs.retain(|known| !Arc::ptr_eq(&known.healthy, healthy));
        let defect = |list| ListDefect {
            list,
            reason: format!("its entries are unavailable: {reason}"),
        };
        let catalog = Arc::new(Catalog {
            defects: [List::Resources, List::Templates].map(defect).to_vec(),
            ..Catalog::clone(healthy)
        });
        catalogs.push(FailingCatalog {
            healthy: Arc::clone(healthy),
            reason,
            catalog: Arc::clone(&catalog),
        });
        catalog
    }
}

impl Source for Memory {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        let catalog = self.declared.catalog(viewer);
        match self.store.state() {
            StoreState::Failing { message, .. } => self.failing_catalogs.get(&catalog, message),
            StoreState::Open | StoreState::Closed => catalog,
        }
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.declared.call(&self.state, &call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.notifications.stream()
    }

    fn subscribe(&self, uri: &str, _: &Viewer<'_>) -> ResourceSubscription {
        let guards = (
            self.notifications.subscribe(uri),
            self.store.poll_frequently(),
        );
        let store = Arc::clone(&self.store);
        ResourceSubscription::new(guards, async move { store.wait_until_following().await })
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.store.wait_until_following())
    }

    fn health(&self) -> Health {
        match self.store.state() {
            StoreState::Open | StoreState::Closed => Health::Healthy,
            StoreState::Failing { open, message, .. } => match open {
                true => Health::Warning(message.to_owned()),
                false => Health::Critical(message.to_owned()),
            },
        }
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let gauge = |name, value: &AtomicU64| GaugeValue {
            name,
            value: value.load(Ordering::Relaxed),
        };
        vec![gauge("entries", &self.entries), gauge("bytes", &self.bytes)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_say_that_the_store_fails() {
        let (catalogs, healthy) = (FailingCatalogs::default(), Arc::new(Catalog::default()));
        let failing = catalogs.get(&healthy, "the disk is full");
        let reason = failing.defects_in(List::Templates).unwrap();
        assert!(reason.contains("the disk is full"), "{reason}");
        assert!(Arc::ptr_eq(
            &failing,
            &catalogs.get(&healthy, "the disk is full")
        ));
        let other = catalogs.get(&healthy, "the file is locked");
        assert!(!Arc::ptr_eq(&failing, &other));
    }
}
