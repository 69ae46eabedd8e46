//! The source `capability-index`: what there is behind the gateway, for a model that has to choose.
//!
//! A summary, everything in pages, figures, and each element by itself, over all sources and only
//! of what the caller can use. Made from the gateway's own index; knows no source by name.

mod cache;
mod costs;
mod element;
mod figures;
mod full;
mod pages;
mod recent;
mod stats;
mod summary;
mod verbs;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tidegate_core::{
    Audience, BoxFuture, CacheScope, Call, Caller, Catalog, Change, ChangeSender, ChangeStream,
    Index, List, Lookout, Reply, Result, Scope, Source, Terms, Vital,
};

use crate::declare::{Body, Declarations, Offer, Resource};
use crate::tokens;
use cache::Cache;
use costs::Costs;
use pages::Pages;
use recent::{Noticed, Recent};

pub const SUMMARY: &str = "capability-index://summary";
pub const FULL: &str = "capability-index://full";
pub const STATS: &str = "capability-index://stats";

/// What may be left out of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposed {
    Summary,
    Full,
    Stats,
    Elements,
}

/// How the index is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexConfig {
    /// What is offered of it; if nothing is named, all.
    pub expose: Vec<Exposed>,
    /// How long a text that was made may be given again.
    pub cache_ttl: Duration,
}

/// The source `capability-index`.
pub struct CapabilityIndex {
    offer: Offer<Glance>,
    state: Arc<State>,
    lookout: Lookout,
    changes: ChangeSender,
}

/// What lasts from call to call.
struct State {
    cache: Cache,
    costs: Costs,
    pages: Pages,
    recent: Recent,
}

/// What one caller sees at one moment.
struct Glance {
    state: Arc<State>,
    index: Arc<Index>,
    noticed: Arc<[Noticed]>,
}

impl CapabilityIndex {
    pub fn new(config: &IndexConfig, lookout: Lookout) -> Self {
        let exposes = |part: Exposed| config.expose.is_empty() || config.expose.contains(&part);
        let mut declared = Declarations {
            owned: vec!["capability-index:".to_owned()],
            ..Declarations::default()
        };
        if exposes(Exposed::Summary) {
            declared.resources.push(summary());
        }
        if exposes(Exposed::Full) {
            declared.resources.push(full());
            declared.templates.push(full::pages());
        }
        if exposes(Exposed::Stats) {
            declared.resources.push(stats());
        }
        if exposes(Exposed::Elements) {
            declared.templates.extend(element::templates());
        }
        Self {
            offer: Offer::new(declared),
            state: Arc::new(State {
                cache: Cache::new(config.cache_ttl),
                costs: Costs::default(),
                pages: Pages::default(),
                recent: Recent::default(),
            }),
            lookout,
            changes: ChangeSender::default(),
        }
    }

    /// Follows the lists of all sources for as long as it is polled: what is read next is then made
    /// quickly, and those who subscribe hear of it.
    pub async fn run(self: Arc<Self>) {
        let mut changes = self.lookout.list_changes();
        tokens::ready().await;
        self.count();
        while changes.next().await.is_some() {
            // Several lists of a source often change at once.
            tokio::time::sleep(SETTLING).await;
            while futures_util::FutureExt::now_or_never(changes.next())
                .flatten()
                .is_some()
            {}
            self.count();
            for uri in [SUMMARY, FULL, STATS] {
                self.changes.send(Change::Updated(uri.into()));
            }
        }
    }

    /// Counts the tokens of what is new.
    fn count(&self) {
        let (caller, terms) = (Caller::local(), Terms::default());
        let audience = Audience {
            caller: &caller,
            terms: &terms,
        };
        if let Ok(index) = self.lookout.index(&Scope::All, &audience) {
            self.state.costs.of_all(&index);
        }
    }

    fn glance(&self, call: &Call) -> Result<Glance> {
        let index = self.lookout.index(&Scope::All, &call.audience())?;
        let noticed = self.state.recent.notice(&call.audience(), &index);
        Ok(Glance {
            state: Arc::clone(&self.state),
            index,
            noticed,
        })
    }
}

const SETTLING: Duration = Duration::from_millis(50);

impl Source for CapabilityIndex {
    fn catalog(&self, audience: &Audience<'_>) -> Arc<Catalog> {
        self.offer.catalog(audience)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move {
            let glance = self.glance(&call)?;
            tokens::ready().await;
            self.offer.serve(&glance, &call).await
        })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
    }

    fn vitals(&self) -> Vec<Vital> {
        self.state.cache.vitals()
    }
}

impl Glance {
    /// A text that was made not long ago for the same index, or one made now.
    fn kept(&self, uri: &str, make: impl FnOnce(&Self) -> String) -> Body {
        let (text, left) = self.state.cache.get(uri, &self.index, || make(self));
        Body::text(text.as_ref()).kept_for(left, self.index.cache_scope())
    }

    fn count(&self, list: List) -> usize {
        self.index.list(list).len()
    }
}

fn resource(
    uri: &str,
    name: &'static str,
    description: &'static str,
    mime: &'static str,
    read: for<'a> fn(&'a Glance, &'a Caller) -> BoxFuture<'a, Result<Body>>,
) -> Resource<Glance> {
    Resource {
        uri: uri.to_owned(),
        name,
        title: name,
        description,
        mime,
        ttl: Duration::ZERO,
        scope: CacheScope::Private,
        admin_only: false,
        read,
    }
}

fn summary() -> Resource<Glance> {
    resource(
        SUMMARY,
        "Capability Index Summary",
        "What there is behind the gateway, in at most 3,000 tokens: sources, how much each has and \
         costs, keywords, what is new.",
        "text/markdown",
        |glance, _| Box::pin(async { Ok(glance.kept(SUMMARY, summary::render)) }),
    )
}

fn full() -> Resource<Glance> {
    resource(
        FULL,
        "Capability Index",
        "Every tool, prompt, resource and template with what it takes and what is like it, in \
         pages of at most 40,000 tokens.",
        "text/markdown",
        |glance, _| {
            let made = glance.kept(FULL, |glance| full::page(glance, 1).unwrap_or_default());
            Box::pin(async { Ok(made) })
        },
    )
}

fn stats() -> Resource<Glance> {
    resource(
        STATS,
        "Capability Index Statistics",
        "Counts, tokens and what is kept, in less than 1,000 tokens.",
        "application/json",
        |glance, _| Box::pin(async { Ok(glance.kept(STATS, stats::render)) }),
    )
}
