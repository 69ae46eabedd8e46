//! Everything that is known about a server, as one immutable snapshot. Readers load it once and see a
//! consistent state; a change replaces it as a whole.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tidegate_core::{Catalog, CatalogGap, Health, RawJson, Viewer};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{ServerFacts, SessionSupport};
use tokio::sync::Notify;

use super::client_class::{ClassKey, ClientClass, FirstClient};
use super::saved::SavedCatalog;
use super::schedule::CacheLifetime;
use crate::client_key::ClientKey;
use crate::config::RemoteConfig;
use crate::session::Connection;

/// Classes of one server. Clients of further classes use the default catalog.
const MAX_CLASSES: usize = 16;

/// Classes that are known to have the default lists.
const MAX_EQUAL_CLASSES: usize = 64;

/// Clients with lists of their own. Further clients see the lists of their class.
const MAX_CLIENT_CATALOGS: usize = 256;

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
    pub(crate) connection: CatalogConnection,
    /// The facts from the last handshake; kept while the server is unreachable.
    pub(crate) facts: Option<Arc<ServerFacts>>,
    /// The default catalog; kept while the server is unreachable.
    pub(crate) catalog: Arc<Catalog>,
    /// The default lists, as a server that supports both eras declares itself in a session. The default
    /// catalog, if nothing else is known.
    session_catalog: Arc<Catalog>,
    pub(crate) cache_lifetime: CacheLifetime,
    pub(crate) health: Health,
    /// Details of the last failed attempt to connect; for administrators only.
    pub(crate) failure_details: Option<String>,
    classes: Vec<ClassEntry>,
    /// Classes that had the default lists when these were last compared, also before a restart.
    equal_classes: Vec<ClassKey>,
    /// The lists of clients whose own process or session lists other entries than their class.
    client_catalogs: HashMap<ClientKey, Arc<Catalog>>,
}

/// The gateway's own connection, over which it loads the default lists.
#[derive(Clone)]
pub(crate) enum CatalogConnection {
    /// The server is unreachable, or was not reached yet.
    Unavailable,
    Open(Arc<Connection>),
    /// Closed, because clients have processes of their own.
    Replaced,
}

#[derive(Clone)]
struct ClassEntry {
    class: Arc<ClientClass>,
    catalog: ClassCatalog,
}

/// The catalog of a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClassCatalog {
    /// Until its lists are loaded, a class sees what is known.
    Loading(Arc<Catalog>),
    SameAsDefault,
    Own(Arc<Catalog>, CacheLifetime),
}

impl Snapshot {
    /// What is known at the start: what was saved, if anything.
    fn new(saved: Option<&SavedCatalog>) -> Self {
        let catalog = saved.map_or(&LOADING as &Arc<Catalog>, |saved| &saved.catalog);
        let mut snapshot = Self {
            connection: CatalogConnection::Unavailable,
            facts: saved.map(|saved| Arc::clone(&saved.facts)),
            catalog: Arc::clone(catalog),
            session_catalog: Arc::clone(catalog),
            cache_lifetime: CacheLifetime::Unknown,
            health: Health::Warning("not connected yet".to_owned()),
            failure_details: None,
            classes: Vec::new(),
            equal_classes: saved.map_or_else(Vec::new, |saved| saved.equal_classes.clone()),
            client_catalogs: HashMap::new(),
        };
        snapshot.update_session_catalog();
        snapshot
    }

    /// Records what the server declares on the catalog connection. What is known about its sessions is
    /// kept; but a server that refused them is asked again if it may be another one.
    pub(super) fn set_facts(&mut self, declared: &ServerFacts, may_be_another: bool) {
        let mut facts = declared.clone();
        let known = self.facts.as_ref().map(|facts| facts.sessions.clone());
        let is_kept = match known {
            Some(SessionSupport::Supported { facts: Some(_) }) => true,
            Some(SessionSupport::Unsupported) => !may_be_another,
            _ => false,
        };
        if let Some(known) = known
            && is_kept
            && facts.revision.era() == Era::Modern
        {
            facts.sessions = known;
        }
        self.facts = Some(Arc::new(facts));
        self.update_session_catalog();
    }

    /// Records whether the server opens sessions, and what it declares there.
    pub(super) fn set_session_support(&mut self, sessions: SessionSupport) {
        if let Some(facts) = &mut self.facts {
            Arc::make_mut(facts).sessions = sessions;
            self.update_session_catalog();
        }
    }

    /// Replaces the default catalog.
    pub(super) fn set_catalog(&mut self, catalog: Catalog) {
        if *self.catalog != catalog {
            self.catalog = Arc::new(catalog);
            self.update_session_catalog();
        }
    }

    fn update_session_catalog(&mut self) {
        let in_session = self.facts.as_ref().and_then(|facts| facts.in_session());
        let catalog = in_session.map(|facts| Catalog {
            features: facts.features,
            instructions: facts.instructions.clone(),
            declaration: Some(facts.declaration()),
            ..Catalog::clone(&self.catalog)
        });
        match catalog {
            Some(catalog) if catalog == *self.session_catalog => {}
            Some(catalog) => self.session_catalog = Arc::new(catalog),
            None => self.session_catalog = Arc::clone(&self.catalog),
        }
    }

    /// The default lists, as the server declares itself in a session or without one.
    fn default_catalog(&self, in_session: bool) -> &Arc<Catalog> {
        match in_session {
            true => &self.session_catalog,
            false => &self.catalog,
        }
    }

    /// Publishes the loaded catalog of a class other than the default class.
    pub(super) fn publish_class(
        &mut self,
        class: &ClientClass,
        catalog: Catalog,
        lifetime: CacheLifetime,
    ) {
        self.equal_classes.retain(|key| *key != class.key);
        if catalog == **self.default_catalog(class.is_in_session()) {
            self.equal_classes.push(class.key.clone());
            let excess = self.equal_classes.len().saturating_sub(MAX_EQUAL_CLASSES);
            self.equal_classes.drain(..excess);
            self.set_class_catalog(class, ClassCatalog::SameAsDefault);
        } else {
            self.set_class_catalog(class, ClassCatalog::Own(Arc::new(catalog), lifetime));
        }
    }

    /// What to save about the server; `None` if its catalog is incomplete.
    pub(crate) fn to_saved(&self, needs_session: bool) -> Option<SavedCatalog> {
        let is_complete = self.catalog.gap.is_none() && self.catalog.defects.is_empty();
        let facts = self.facts.as_ref().filter(|_| is_complete)?;
        Some(SavedCatalog {
            facts: Arc::clone(facts),
            catalog: Arc::clone(&self.catalog),
            equal_classes: self.equal_classes.clone(),
            needs_session,
        })
    }

    fn entry(&self, class: &ClientClass) -> Option<&ClassEntry> {
        let mut classes = self.classes.iter();
        classes.find(|entry| std::ptr::eq(entry.class.as_ref(), class))
    }

    /// The catalog of a class. The default class and removed classes use the default catalog.
    fn class_catalog(&self, class: &ClientClass) -> &ClassCatalog {
        let entry = self.entry(class);
        entry.map_or(&ClassCatalog::SameAsDefault, |entry| &entry.catalog)
    }

    pub(crate) fn contains(&self, class: &ClientClass) -> bool {
        self.entry(class).is_some()
    }

    /// The catalog connection, if it is open.
    pub(crate) fn open_connection(&self) -> Option<&Arc<Connection>> {
        match &self.connection {
            CatalogConnection::Open(connection) => Some(connection),
            CatalogConnection::Unavailable | CatalogConnection::Replaced => None,
        }
    }

    /// The lists of one client, if they differ from those of its class.
    pub(super) fn client_catalog(&self, key: &ClientKey) -> Option<&Arc<Catalog>> {
        self.client_catalogs.get(key)
    }

    pub(super) fn set_client_catalog(&mut self, key: &ClientKey, catalog: Option<Arc<Catalog>>) {
        match catalog {
            Some(catalog) if self.client_catalogs.len() < MAX_CLIENT_CATALOGS => {
                self.client_catalogs.insert(key.clone(), catalog);
            }
            _ => drop(self.client_catalogs.remove(key)),
        }
    }

    /// Whether this class uses the default catalog.
    pub(crate) fn is_same_as_default(&self, class: &ClientClass) -> bool {
        *self.class_catalog(class) == ClassCatalog::SameAsDefault
    }

    pub(crate) fn catalog_of(&self, class: &ClientClass) -> Arc<Catalog> {
        match self.class_catalog(class) {
            ClassCatalog::Loading(preliminary) => Arc::clone(preliminary),
            ClassCatalog::SameAsDefault => Arc::clone(self.default_catalog(class.is_in_session())),
            ClassCatalog::Own(catalog, _) => Arc::clone(catalog),
        }
    }

    pub(crate) fn cache_lifetime_of(&self, class: &ClientClass) -> CacheLifetime {
        // While the server is unreachable, nothing announces changes.
        let is_unavailable = matches!(self.connection, CatalogConnection::Unavailable);
        if is_unavailable && self.cache_lifetime == CacheLifetime::Unknown {
            return CacheLifetime::Unknown;
        }
        match self.class_catalog(class) {
            ClassCatalog::Loading(_) => CacheLifetime::Unknown,
            ClassCatalog::SameAsDefault => self.cache_lifetime,
            ClassCatalog::Own(_, lifetime) => *lifetime,
        }
    }

    fn set_class_catalog(&mut self, class: &ClientClass, catalog: ClassCatalog) {
        let mut classes = self.classes.iter_mut();
        if let Some(entry) = classes.find(|entry| std::ptr::eq(entry.class.as_ref(), class)) {
            entry.catalog = catalog;
        }
    }

    /// Marks the connection as lost.
    pub(crate) fn set_disconnected(&mut self, reason: &str, details: Option<String>) {
        self.connection = CatalogConnection::Unavailable;
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
            self.set_catalog(Catalog {
                gap: Some(CatalogGap::Unavailable(reason.to_owned())),
                ..Catalog::default()
            });
        }
    }

    /// Adds a class. If there are too many, it replaces an unused one.
    fn add_class(&mut self, key: &ClassKey, first: FirstClient) -> Option<Arc<ClientClass>> {
        if self.classes.len() >= MAX_CLASSES {
            let entries = self.classes.iter().enumerate();
            let (at, oldest) = entries.max_by_key(|(_, entry)| entry.class.idle_time())?;
            if oldest.class.idle_time() < REPLACEABLE_AFTER {
                return None;
            }
            self.classes.remove(at);
        }
        let class = Arc::new(ClientClass::new(key.clone(), Some(first)));
        let catalog = match self.equal_classes.contains(key) {
            true => {
                class.settled.cancel();
                ClassCatalog::SameAsDefault
            }
            false => ClassCatalog::Loading(Arc::new(Catalog {
                is_preliminary: true,
                ..Catalog::clone(self.default_catalog(class.is_in_session()))
            })),
        };
        self.classes.push(ClassEntry {
            class: Arc::clone(&class),
            catalog,
        });
        Some(class)
    }

    /// The catalog of the class of clients with these capabilities.
    pub(super) fn catalog_for(&self, in_session: bool, capabilities: &RawJson) -> Arc<Catalog> {
        let key = ClassKey::Clients {
            in_session,
            capabilities: capabilities.clone(),
        };
        let class = self.find_class(&key);
        class.map_or_else(
            || Arc::clone(self.default_catalog(in_session)),
            |class| self.catalog_of(&class),
        )
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
    default_class: Arc<ClientClass>,
    class_added: Notify,
}

impl SnapshotStore {
    pub(crate) fn new(saved: Option<&SavedCatalog>) -> Self {
        Self {
            current: ArcSwap::from_pointee(Snapshot::new(saved)),
            write: Mutex::default(),
            default_class: Arc::new(ClientClass::new(ClassKey::Default, None)),
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

    pub(crate) fn default_class(&self) -> &Arc<ClientClass> {
        &self.default_class
    }

    /// The class of a client, and a snapshot that contains it. A new class is added.
    pub(crate) fn view(
        &self,
        config: &RemoteConfig,
        viewer: &Viewer<'_>,
    ) -> (Arc<Snapshot>, Arc<ClientClass>) {
        let snapshot = self.load();
        let Some(facts) = &snapshot.facts else {
            return (snapshot, Arc::clone(&self.default_class));
        };
        let key = ClassKey::for_client(config, facts, viewer.client);
        if key == ClassKey::Default {
            return (snapshot, Arc::clone(&self.default_class));
        }
        if let Some(class) = snapshot.find_class(&key) {
            class.mark_used();
            return (snapshot, class);
        }
        let class = self.update(|snapshot| {
            let found = snapshot.find_class(&key);
            found.or_else(|| snapshot.add_class(&key, FirstClient::new(viewer)))
        });
        self.class_added.notify_one();
        let class = class.unwrap_or_else(|| Arc::clone(&self.default_class));
        class.mark_used();
        (self.load(), class)
    }

    /// What a viewer sees.
    pub(crate) fn catalog(&self, config: &RemoteConfig, viewer: &Viewer<'_>) -> Arc<Catalog> {
        let (snapshot, class) = self.view(config, viewer);
        let own = match (&snapshot.facts, snapshot.client_catalogs.is_empty()) {
            (Some(facts), false) => {
                let principal = &viewer.caller.principal;
                let key = ClientKey::for_client(config, facts, principal, viewer.client);
                key.and_then(|key| snapshot.client_catalog(&key).cloned())
            }
            _ => None,
        };
        own.unwrap_or_else(|| snapshot.catalog_of(&class))
    }

    /// The lists of a class cannot be loaded: its clients see the default lists until they can.
    pub(crate) fn stop_waiting_for(&self, class: &ClientClass) {
        self.update(|snapshot| {
            if matches!(snapshot.class_catalog(class), ClassCatalog::Loading(_)) {
                snapshot.set_class_catalog(class, ClassCatalog::SameAsDefault);
            }
        });
        class.settled.cancel();
    }

    pub(crate) fn remove_class(&self, class: &ClientClass) {
        self.update(|snapshot| {
            let is_other = |entry: &ClassEntry| !std::ptr::eq(entry.class.as_ref(), class);
            snapshot.classes.retain(is_other);
        });
    }

    /// Waits for classes that no task refreshes yet, and claims them.
    pub(crate) async fn new_classes(&self) -> Vec<Arc<ClientClass>> {
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
