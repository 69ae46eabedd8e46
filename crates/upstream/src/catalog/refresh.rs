//! Keeps the lists of each class of clients for as long as someone asks for them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tidegate_core::{Catalog, ChangeEvent, Result};

use crate::catalog::client_class::Class;
use crate::catalog::loader::{Loaded, load};
use crate::catalog::schedule::{Freshness, Lasting};
use crate::remote::Remote;
use crate::session::Unasked;
use crate::session::connect::{Open, Try, connect};

/// How long to wait before a session of a class is opened again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Remote {
    /// Fills the classes that are asked for, for as long as it is polled.
    pub(crate) async fn tend_classes(&self) {
        let mut tended = FuturesUnordered::new();
        loop {
            tokio::select! {
                new = self.classes.untended() => {
                    tended.extend(new.into_iter().map(|class| self.tend(class)));
                }
                Some(()) = tended.next(), if !tended.is_empty() => {}
            }
        }
    }

    async fn tend(&self, class: Arc<Class>) {
        let tending = async {
            match class.key.session {
                true => self.in_sessions(&class).await,
                false => self.on_the_link_of_all(&class).await,
            }
        };
        tokio::select! {
            () = tending => {}
            () = class.unused() => {}
        }
        self.classes.forget(&class);
    }

    /// A server without sessions is asked again whenever everyone's lists were taken in.
    async fn on_the_link_of_all(&self, class: &Class) {
        let mut listed = self.listed.subscribe();
        loop {
            listed.mark_unchanged();
            let open = self.reached().await;
            self.fill(class, &open).await;
            tokio::select! {
                _ = listed.changed() => {}
                () = open.link.closed() => {}
            }
        }
    }

    /// A session is kept only where the class sees something of its own in it.
    async fn in_sessions(&self, class: &Arc<Class>) {
        let mut connected = self.connected.subscribe();
        let mut wait = FIRST_WAIT;
        while self.classes.holds(class) {
            connected.mark_unchanged();
            self.reached().await;
            match self.open_session(class).await {
                Ok((open, unasked)) => {
                    let fresh = self.fill(class, &open).await;
                    wait = FIRST_WAIT;
                    if class.sees_the_same() {
                        drop((open, unasked));
                        connected.changed().await.ok();
                        continue;
                    }
                    self.stay_in(class, &open, unasked, fresh).await;
                }
                Err(error) => {
                    class.is_late();
                    tracing::warn!(
                        source = self.config.name,
                        error = error.message(),
                        "no session for a kind of clients; they see what everyone sees"
                    );
                }
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn open_session(&self, class: &Class) -> Result<(Arc<Open>, Unasked)> {
        let capabilities = &class.key.capabilities;
        connect(&self.config, &self.unfinished, capabilities, Try::Session).await
    }

    async fn stay_in(
        &self,
        class: &Class,
        open: &Open,
        mut unasked: Unasked,
        mut fresh: Freshness,
    ) {
        loop {
            tokio::select! {
                () = open.link.closed() => return,
                _ = fresh.stale() => fresh = self.fill(class, open).await,
                news = unasked.next() => match news {
                    Some(ChangeEvent::Change(change)) => fresh.is_stale(Some(change)),
                    Some(ChangeEvent::AllResourcesUpdated | ChangeEvent::Missed) => {}
                    None => return,
                },
            }
        }
    }

    /// Takes in what a class sees.
    async fn fill(&self, class: &Class, open: &Open) -> Freshness {
        let known = class.own().unwrap_or_else(|| self.catalog.load_full());
        let capabilities = &class.key.capabilities;
        let Loaded { catalog, ttl } = load(&self.config, open, capabilities, &known).await;
        let lasting = Lasting::new(ttl, open.facts.announces_changes);
        let was_settled = class.is_settled();
        match catalog == **self.catalog.load() {
            true => class.sees_what_all_see(),
            false => class.sees(Arc::new(catalog), lasting),
        }
        if was_settled {
            let now = class.own().unwrap_or_else(|| self.catalog.load_full());
            self.announce(&known, &now, &[]);
        }
        Freshness::new(ttl, open.facts.announces_changes)
    }

    /// The link that speaks for everyone, as soon as there is one.
    async fn reached(&self) -> Arc<Open> {
        let mut connected = self.connected.subscribe();
        loop {
            if let Some(open) = self.open.load_full() {
                return open;
            }
            // The sender lives as long as the source.
            connected.changed().await.ok();
        }
    }
}

/// What a client of this class sees.
pub(crate) fn seen(class: Option<&Class>, by_all: Arc<Catalog>) -> Arc<Catalog> {
    class.and_then(Class::own).unwrap_or(by_all)
}
