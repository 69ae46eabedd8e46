//! Everything that is known about a server, as one immutable snapshot. Readers load it once and see a
//! consistent state; a change replaces it as a whole.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tidegate_core::{Catalog, CatalogGap, ClientContext, Health};
use tidegate_mcp::revision::client::ServerFacts;
use tokio::sync::Notify;

use super::client_class::{ClassKey, ClientClass};
use super::schedule::CacheLifetime;
use crate::config::RemoteConfig;
use crate::session::Connection;

/// Classes of one server. Clients of further classes use the default catalog.
const MAX_CLASSES: usize = 16;

/// A class that was not used for this long may be replaced by another.
const REPLACEABLE_AFTER: Duration = Duration::from_secs(60);

/// The catalog of a class that is not loaded yet.
static LOADING: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(Catalog {
        gap: Some(CatalogGap::Loading),
        ..Catalog::default()
    })
});

/// What is known about a server at one moment.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// The gateway's own connection, which all clients without capabilities share. None while the
    /// server is unreachable.
    pub(crate) connection: Option<Arc<Connection>>,
    /// The facts from the last handshake; kept while the server is unreachable.
    pub(crate) facts: Option<Arc<ServerFacts>>,
    /// The default catalog; kept while the server is unreachable.
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) cache_lifetime: CacheLifetime,
    pub(crate) health: Health,
    /// Details of the last failed attempt to connect; for administrators only.
    pub(crate) failure_details: Option<String>,
    classes: Vec<ClassEntry>,
}

#[derive(Clone)]
struct ClassEntry {
    class: Arc<ClientClass>,
    catalog: ClassCatalog,
}

/// The catalog of a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClassCatalog {
    Loading,
    SameAsEveryone,
    Own(Arc<Catalog>, CacheLifetime),
}

impl Snapshot {
    fn new() -> Self {
        Self {
            connection: None,
            facts: None,
            catalog: Arc::clone(&LOADING),
            cache_lifetime: CacheLifetime::Unknown,
            health: Health::Warning("not connected yet".to_owned()),
            failure_details: None,
            classes: Vec::new(),
        }
    }

    fn entry(&self, class: &ClientClass) -> Option<&ClassEntry> {
        let mut classes = self.classes.iter();
        classes.find(|entry| std::ptr::eq(entry.class.as_ref(), class))
    }

    /// The catalog of a class. The default class and removed classes use the default catalog.
    fn class_catalog(&self, class: &ClientClass) -> &ClassCatalog {
        let entry = self.entry(class);
        entry.map_or(&ClassCatalog::SameAsEveryone, |entry| &entry.catalog)
    }

    pub(super) fn contains(&self, class: &ClientClass) -> bool {
        self.entry(class).is_some()
    }

    /// Whether this class uses the default catalog.
    pub(super) fn is_same_as_everyone(&self, class: &ClientClass) -> bool {
        *self.class_catalog(class) == ClassCatalog::SameAsEveryone
    }

    pub(super) fn is_loading(&self, class: &ClientClass) -> bool {
        *self.class_catalog(class) == ClassCatalog::Loading
    }

    pub(crate) fn catalog_of(&self, class: &ClientClass) -> Arc<Catalog> {
        match self.class_catalog(class) {
            ClassCatalog::Loading => Arc::clone(&LOADING),
            ClassCatalog::SameAsEveryone => Arc::clone(&self.catalog),
            ClassCatalog::Own(catalog, _) => Arc::clone(catalog),
        }
    }

    pub(crate) fn cache_lifetime_of(&self, class: &ClientClass) -> CacheLifetime {
        // While the server is unreachable, nothing announces changes.
        if self.connection.is_none() && self.cache_lifetime == CacheLifetime::Unknown {
            return CacheLifetime::Unknown;
        }
        match self.class_catalog(class) {
            ClassCatalog::Loading => CacheLifetime::Unknown,
            ClassCatalog::SameAsEveryone => self.cache_lifetime,
            ClassCatalog::Own(_, lifetime) => *lifetime,
        }
    }

    pub(super) fn set_class_catalog(&mut self, class: &ClientClass, catalog: ClassCatalog) {
        let mut classes = self.classes.iter_mut();
        if let Some(entry) = classes.find(|entry| std::ptr::eq(entry.class.as_ref(), class)) {
            entry.catalog = catalog;
        }
    }

    /// Marks the connection as lost.
    pub(crate) fn set_disconnected(&mut self, reason: &str, details: Option<String>) {
        self.connection = None;
        self.cache_lifetime = CacheLifetime::Unknown;
        self.health = Health::Critical(reason.to_owned());
        self.failure_details = details;
    }

    /// Records why there is no catalog, if no catalog was ever loaded.
    pub(crate) fn set_unavailable(&mut self, reason: &str) {
        let never_loaded = Catalog {
            gap: self.catalog.gap.clone(),
            ..Catalog::default()
        };
        if self.catalog.gap.is_some() && *self.catalog == never_loaded {
            self.catalog = Arc::new(Catalog {
                gap: Some(CatalogGap::Unavailable(reason.to_owned())),
                ..Catalog::default()
            });
        }
    }

    /// Adds a class. If there are too many, it replaces an unused one.
    fn add_class(&mut self, key: &ClassKey) -> Option<Arc<ClientClass>> {
        if self.classes.len() >= MAX_CLASSES {
            let entries = self.classes.iter().enumerate();
            let (at, oldest) = entries.max_by_key(|(_, entry)| entry.class.idle_time())?;
            if oldest.class.idle_time() < REPLACEABLE_AFTER {
                return None;
            }
            self.classes.remove(at);
        }
        let class = Arc::new(ClientClass::new(key.clone()));
        self.classes.push(ClassEntry {
            class: Arc::clone(&class),
            catalog: ClassCatalog::Loading,
        });
        Some(class)
    }

    fn find_class(&self, key: &ClassKey) -> Option<Arc<ClientClass>> {
        let mut classes = self.classes.iter().map(|entry| &entry.class);
        classes.find(|class| class.key == *key).cloned()
    }
}

/// Publishes the current snapshot of a server.
pub(crate) struct SnapshotStore {
    current: ArcSwap<Snapshot>,
    /// Serializes updates: each starts from the previous snapshot.
    write: Mutex<()>,
    everyone: Arc<ClientClass>,
    class_added: Notify,
}

impl SnapshotStore {
    pub(crate) fn new() -> Self {
        Self {
            current: ArcSwap::from_pointee(Snapshot::new()),
            write: Mutex::default(),
            everyone: Arc::new(ClientClass::new(ClassKey::Everyone)),
            class_added: Notify::new(),
        }
    }

    pub(crate) fn load(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Replaces the snapshot by a changed copy.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut Snapshot) -> R) -> R {
        let _one_at_a_time = self.write.lock();
        let mut snapshot = Snapshot::clone(&self.current.load());
        let result = change(&mut snapshot);
        self.current.store(Arc::new(snapshot));
        result
    }

    pub(super) fn everyone(&self) -> &Arc<ClientClass> {
        &self.everyone
    }

    /// The class of a client, and a snapshot that contains it. A new class is added.
    pub(crate) fn view(
        &self,
        config: &RemoteConfig,
        client: &ClientContext,
    ) -> (Arc<Snapshot>, Arc<ClientClass>) {
        let snapshot = self.load();
        let key = match &snapshot.facts {
            Some(facts) => ClassKey::for_client(config, facts, client),
            None => ClassKey::Everyone,
        };
        if key == ClassKey::Everyone {
            return (snapshot, Arc::clone(&self.everyone));
        }
        if let Some(class) = snapshot.find_class(&key) {
            class.mark_used();
            return (snapshot, class);
        }
        let class = self.update(|snapshot| {
            let found = snapshot.find_class(&key);
            found.or_else(|| snapshot.add_class(&key))
        });
        self.class_added.notify_one();
        let class = class.unwrap_or_else(|| Arc::clone(&self.everyone));
        class.mark_used();
        (self.load(), class)
    }

    /// Stops waiting for the catalog of a class: until it is loaded, its clients use the default
    /// catalog.
    pub(crate) fn stop_waiting_for(&self, class: &ClientClass) {
        self.update(|snapshot| {
            if snapshot.is_loading(class) {
                snapshot.set_class_catalog(class, ClassCatalog::SameAsEveryone);
            }
        });
        class.settled.cancel();
    }

    pub(super) fn remove_class(&self, class: &ClientClass) {
        self.update(|snapshot| {
            let is_other = |entry: &ClassEntry| !std::ptr::eq(entry.class.as_ref(), class);
            snapshot.classes.retain(is_other);
        });
    }

    /// Waits for classes that no task refreshes yet, and claims them.
    pub(super) async fn new_classes(&self) -> Vec<Arc<ClientClass>> {
        loop {
            let snapshot = self.load();
            let classes = snapshot.classes.iter().map(|entry| &entry.class);
            let claimed: Vec<_> = classes.filter(|class| class.claim()).cloned().collect();
            if !claimed.is_empty() {
                return claimed;
            }
            self.class_added.notified().await;
        }
    }
}

#[cfg(test)]
mod tests;
