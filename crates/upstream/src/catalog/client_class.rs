//! Classes of audiences: clients of one era that can do the same see the same lists, because servers
//! list by both. Most servers do not; then a class has what everyone has, at no cost.
//!
//! Opens nothing: `remote` fills the classes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tidegate_core::{Catalog, CatalogGap, ClientContext, RawJson};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::catalog::schedule::Lasting;
use crate::config::RemoteConfig;
use crate::pool::connection_selection::{InSession, declared, in_session};

/// Classes of one server. More kinds of clients than that see what everyone sees.
const MOST_CLASSES: usize = 16;

/// How long a class that nobody asks for is kept, and how soon it makes room for another.
const UNUSED: Duration = Duration::from_secs(600);
const MAKES_ROOM: Duration = Duration::from_secs(60);

/// Capabilities that are longer were not written by a client that means them.
const LONGEST: usize = 4 * 1024;

/// What a catalog is while the server has not said yet.
static COMING: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(Catalog {
        gap: Some(CatalogGap::Loading),
        ..Catalog::default()
    })
});

/// What tells one class from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Whether the server is spoken to in a session that is opened for this class.
    pub(crate) session: bool,
    pub(crate) capabilities: RawJson,
}

impl Key {
    /// The class of a client at a server; none for those who see what the gateway itself sees.
    pub(crate) fn of(
        config: &RemoteConfig,
        facts: &ServerFacts,
        client: &ClientContext,
    ) -> Option<Self> {
        let capabilities = declared(config, client);
        let session = in_session(config, facts, client) == InSession::Yes;
        let says_nothing = capabilities.as_str() == "{}";
        let as_we_speak = session == (facts.revision.era() == Era::Legacy);
        let too_long = capabilities.as_str().len() > LONGEST;
        if too_long || says_nothing && as_we_speak {
            return None;
        }
        Some(Self {
            session,
            capabilities,
        })
    }
}

/// What a class sees.
enum Offer {
    /// Not known yet.
    Coming,
    /// What everyone sees.
    Same,
    Own(Arc<Catalog>, Lasting),
}

/// One class.
pub(crate) struct Class {
    pub(crate) key: Key,
    offer: ArcSwap<Offer>,
    ready: CancellationToken,
    used: AtomicU64,
    tended: AtomicBool,
}

impl Class {
    fn new(key: Key) -> Self {
        Self {
            key,
            offer: ArcSwap::from_pointee(Offer::Coming),
            ready: CancellationToken::new(),
            used: AtomicU64::new(seconds()),
            tended: AtomicBool::new(false),
        }
    }

    /// What the class sees, where it is something of its own.
    pub(crate) fn own(&self) -> Option<Arc<Catalog>> {
        match self.offer.load().as_ref() {
            Offer::Coming => Some(Arc::clone(&COMING)),
            Offer::Same => None,
            Offer::Own(catalog, _) => Some(Arc::clone(catalog)),
        }
    }

    /// How long that stays so, where it is something of its own.
    pub(crate) fn lasting(&self) -> Option<Lasting> {
        match self.offer.load().as_ref() {
            Offer::Coming => Some(Lasting::Unknown),
            Offer::Same => None,
            Offer::Own(_, lasting) => Some(*lasting),
        }
    }

    pub(crate) fn sees(&self, catalog: Arc<Catalog>, lasting: Lasting) {
        self.settle(Offer::Own(catalog, lasting));
    }

    pub(crate) fn sees_what_all_see(&self) {
        self.settle(Offer::Same);
    }

    pub(crate) fn sees_the_same(&self) -> bool {
        matches!(self.offer.load().as_ref(), Offer::Same)
    }

    /// Whether it is known what the class sees.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self.offer.load().as_ref(), Offer::Coming)
    }

    /// Whoever lists has waited long enough.
    pub(crate) fn is_late(&self) {
        if !self.is_settled() {
            self.settle(Offer::Same);
        }
    }

    fn settle(&self, offer: Offer) {
        self.offer.store(Arc::new(offer));
        self.ready.cancel();
    }

    pub(crate) async fn ready(&self) {
        self.ready.cancelled().await;
    }

    /// Waits until nobody has asked for the class in a long time.
    pub(crate) async fn unused(&self) {
        while let Some(rest) = UNUSED.checked_sub(self.idle()) {
            tokio::time::sleep(rest.max(Duration::from_secs(1))).await;
        }
    }

    fn idle(&self) -> Duration {
        Duration::from_secs(seconds().saturating_sub(self.used.load(Relaxed)))
    }
}

/// The classes of one server.
#[derive(Default)]
pub(crate) struct Classes {
    all: ArcSwap<Vec<Arc<Class>>>,
    change: Mutex<()>,
    /// Rings when there is one to tend.
    wanted: Notify,
}

impl Classes {
    /// A class, made now if it is not there; none if there is no room for it.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Class>> {
        let find = |all: &[Arc<Class>]| all.iter().find(|one| one.key == *key).cloned();
        let found = find(&self.all.load()).or_else(|| {
            let _one_at_a_time = self.change.lock();
            let all = self.all.load_full();
            find(&all).or_else(|| self.make(&all, key))
        })?;
        found.used.store(seconds(), Relaxed);
        Some(found)
    }

    fn make(&self, all: &[Arc<Class>], key: &Key) -> Option<Arc<Class>> {
        let mut all = all.to_vec();
        if all.len() >= MOST_CLASSES {
            let (at, oldest) = all.iter().enumerate().max_by_key(|(_, one)| one.idle())?;
            if oldest.idle() < MAKES_ROOM {
                return None;
            }
            all.remove(at);
        }
        let class = Arc::new(Class::new(key.clone()));
        all.push(Arc::clone(&class));
        self.all.store(Arc::new(all));
        self.wanted.notify_one();
        Some(class)
    }

    pub(crate) fn forget(&self, class: &Arc<Class>) {
        let _one_at_a_time = self.change.lock();
        let all = self.all.load();
        let rest = all.iter().filter(|one| !Arc::ptr_eq(one, class));
        self.all.store(Arc::new(rest.cloned().collect()));
    }

    pub(crate) fn holds(&self, class: &Arc<Class>) -> bool {
        self.all.load().iter().any(|one| Arc::ptr_eq(one, class))
    }

    /// The classes that nobody tends yet; waits for one.
    pub(crate) async fn untended(&self) -> Vec<Arc<Class>> {
        loop {
            let all = self.all.load();
            let new = all.iter().filter(|one| !one.tended.swap(true, Relaxed));
            let new: Vec<_> = new.cloned().collect();
            if !new.is_empty() {
                return new;
            }
            self.wanted.notified().await;
        }
    }
}

/// What stands for a catalog that is on its way.
pub(crate) fn coming() -> Arc<Catalog> {
    Arc::clone(&COMING)
}

/// Seconds since the first call: coarse, and cheap to keep.
fn seconds() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs()
}
