//! Keeps a server connected, and fresh the lists that everyone sees.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_core::{Catalog, CatalogGap, Change, ChangeEvent, Error, Health, List, RawJson};
use tokio::sync::mpsc;

use crate::backoff::Backoff;
use crate::catalog::loader::{Loaded, load};
use crate::catalog::schedule::{Freshness, Lasting};
use crate::change_stream::follow;
use crate::remote::Remote;
use crate::session::Unasked;
use crate::session::connect::Open;

/// Changes that may wait to be looked at.
const WAITING: usize = 64;

impl Remote {
    /// Keeps the server connected, for as long as it is polled.
    pub(crate) async fn keep_connected(&self) {
        let mut backoff = Backoff::default();
        loop {
            let mut stayed = Duration::ZERO;
            match self.known.connect(&self.config, &self.unfinished).await {
                Ok((open, unasked)) => {
                    let came = Instant::now();
                    self.stay(Arc::clone(&open), unasked).await;
                    stayed = came.elapsed();
                    self.is_down("went away; connecting again");
                    tracing::warn!(source = self.config.name, "the source went away");
                    // Two of one program at once might be in each other's way.
                    open.link.end().await;
                }
                Err(error) => self.is_unreachable(&error),
            }
            self.ready.cancel();
            tokio::time::sleep(backoff.after(stayed)).await;
        }
    }

    fn is_unreachable(&self, error: &Error) {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let source = &self.config.name;
        // ServerNotification once for as long as nothing changes: it is tried again and again.
        match self.health.load().as_ref() {
            Health::Down(why) if why == error.message() => {
                tracing::debug!(source, cause, "the source still cannot be reached");
            }
            _ => tracing::warn!(
                source,
                error = error.message(),
                cause,
                "the source cannot be reached"
            ),
        }
        self.is_missing(error.message());
        self.is_down(error.message());
    }

    fn is_down(&self, why: &str) {
        self.open.store(None);
        // Nobody tells of changes now.
        self.lasting.store(Arc::new(Lasting::Unknown));
        self.health.store(Arc::new(Health::Down(why.to_owned())));
    }

    /// It works; well, if its lists are whole.
    fn is_up(&self) {
        let catalog = self.catalog.load();
        let defects: Vec<_> = catalog
            .defects
            .iter()
            .map(|defect| defect.reason.as_str())
            .collect();
        self.health.store(Arc::new(match defects.is_empty() {
            true => Health::Good,
            false => Health::Degraded(defects.join("; ")),
        }));
    }

    /// Notes why there are no lists, where there never were any.
    pub(crate) fn is_missing(&self, why: &str) {
        let known = self.catalog.load();
        let never_seen = Catalog {
            gap: known.gap.clone(),
            ..Catalog::default()
        };
        if known.gap.is_some() && **known == never_seen {
            let gap = Some(CatalogGap::Unavailable(why.to_owned()));
            self.catalog.store(Arc::new(Catalog {
                gap,
                ..Catalog::default()
            }));
        }
    }

    /// Serves on a link until it is closed.
    async fn stay(&self, open: Arc<Open>, mut unasked: Unasked) {
        let mut fresh = self.load(&open, &[]).await;
        self.facts.store(Some(Arc::new(open.facts.clone())));
        self.open.store(Some(Arc::clone(&open)));
        self.is_up();
        self.ready.cancel();
        self.connected.send_modify(|count| *count += 1);
        let revision = open.facts.revision;
        tracing::info!(source = self.config.name, %revision, "the source is there");
        let mut watched = self.watches.follow();
        // What is watched may have changed while nobody listened.
        for uri in watched.now() {
            self.changes.send(Change::ResourceUpdated(uri.into()));
        }
        let (heard, mut changes) = mpsc::channel(WAITING);
        let mut following = pin!(follow(&open, watched, heard));
        loop {
            let change = tokio::select! {
                () = open.link.closed() => return,
                () = following.as_mut() => return,
                said = fresh.stale() => {
                    fresh = self.load(&open, &said).await;
                    self.is_up();
                    continue;
                }
                () = self.wanted.notified() => {
                    fresh.is_stale(None);
                    continue;
                }
                change = changes.recv() => change,
                news = unasked.next() => match news {
                    Some(ChangeEvent::Change(change)) => Some(change),
                    Some(ChangeEvent::AllResourcesUpdated | ChangeEvent::Missed) => {
                        self.may_have_changed();
                        None
                    }
                    None => return,
                },
            };
            match change {
                Some(update @ Change::ResourceUpdated(_)) => self.changes.send(update),
                Some(list) => fresh.is_stale(Some(list)),
                None => {}
            }
        }
    }

    /// Says of everything that is watched that it may be another.
    fn may_have_changed(&self) {
        for uri in self.watches.now() {
            self.changes.send(Change::ResourceUpdated(uri.into()));
        }
    }

    /// Takes in the lists that everyone sees.
    async fn load(&self, open: &Open, said: &[Change]) -> Freshness {
        let known = self.catalog.load_full();
        let nothing = RawJson::empty_object();
        let Loaded { catalog, ttl } = load(&self.config, open, &nothing, &known).await;
        // What could not be read is tried again, though nobody says that it changed.
        let will_be_told = open.facts.announces_changes && catalog.defects.is_empty();
        let catalog = Arc::new(catalog);
        self.catalog.store(Arc::clone(&catalog));
        let lasting = Lasting::new(ttl, open.facts.announces_changes);
        self.lasting.store(Arc::new(lasting));
        // Only now: whoever hears of it lists at once.
        self.announce(&known, &catalog, said);
        self.listed.send_modify(|count| *count += 1);
        Freshness::new(ttl, will_be_told)
    }

    /// Tells which lists are others than they were, or are said to be.
    pub(crate) fn announce(&self, known: &Catalog, now: &Catalog, said: &[Change]) {
        let mut told = said.to_vec();
        for list in List::ALL {
            let change = match list {
                List::Tools => Change::Tools,
                List::Prompts => Change::Prompts,
                List::Resources | List::Templates => Change::Resources,
            };
            if known.list(list) != now.list(list) && !told.contains(&change) {
                told.push(change);
            }
        }
        told.into_iter()
            .for_each(|change| self.changes.send(change));
    }
}
