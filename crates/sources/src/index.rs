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
mod times;
mod verbs;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use tidegate_core::{
    BoxFuture, CacheScope, Call, Caller, Catalog, Change, ChangeSender, ChangeStream,
    ClientContext, Error, GatewayHandle, GaugeValue, List, Reply, Result, Scope, SearchIndex,
    Source, Viewer,
};
use tokio::time::timeout;

use crate::declare::{Body, Declarations, Offer, Resource};
use cache::Cache;
use costs::Costs;
use pages::Pages;
use recent::{Noticed, Recent, kind_of};

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
    inner: Arc<Inner>,
    changes: ChangeSender,
}

struct Inner {
    offer: Offer<Glance>,
    state: Arc<State>,
    gateway_handle: GatewayHandle,
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
    index: Arc<SearchIndex>,
    /// Who looks: what is new differs from one to another.
    kind: u64,
    noticed: Arc<[Noticed]>,
}

impl CapabilityIndex {
    pub fn new(config: &IndexConfig, gateway_handle: GatewayHandle) -> Self {
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
        let state = State {
            cache: Cache::new(config.cache_ttl),
            costs: Costs::default(),
            pages: Pages::default(),
            recent: Recent::default(),
        };
        Self {
            inner: Arc::new(Inner {
                offer: Offer::new(declared),
                state: Arc::new(state),
                gateway_handle,
            }),
            changes: ChangeSender::default(),
        }
    }

    /// Follows the lists of all sources for as long as it is polled: what is read next is then made
    /// quickly, and those who subscribe hear of it.
    pub async fn run(self: Arc<Self>) {
        futures_util::join!(self.keep_times(), self.follow());
    }

    /// Notes when changes are told.
    async fn keep_times(&self) {
        let mut told = self.inner.gateway_handle.change_notices();
        while let Some((source, telling)) = told.next().await {
            let times = &self.inner.state.recent.times;
            times.note(source, telling, SystemTime::now());
        }
    }

    async fn follow(&self) {
        let mut changes = self.inner.gateway_handle.list_changes();
        self.count().await;
        while changes.next().await.is_some() {
            settle(&mut changes).await;
            self.count().await;
            // Whatever is told of one element depends on the others: what is alike, how rare a word is.
            self.changes.send_all_updated();
        }
    }

    /// Makes the index of those who run the gateway, and counts the tokens of what is new. That
    /// may take a while, so no call waits for it.
    async fn count(&self) {
        let inner = Arc::clone(&self.inner);
        let counting = tokio::task::spawn_blocking(move || {
            let (caller, client) = (Caller::local(), ClientContext::of_gateway());
            let viewer = Viewer {
                caller: &caller,
                client: &client,
            };
            if let Ok(index) = inner.gateway_handle.index(&Scope::All, &viewer) {
                inner.state.costs.of_all(&index);
            }
        });
        counting.await.ok();
    }
}

impl Inner {
    /// Serves a call. Nothing in it waits, but it may take a while.
    fn serve(&self, call: &Call) -> Result<Reply> {
        let glance = self.glance(call)?;
        let served = self.offer.serve(&glance, call).now_or_never();
        served.unwrap_or_else(|| Err(Error::internal("the index was not made at once")))
    }

    fn glance(&self, call: &Call) -> Result<Glance> {
        let index = self.gateway_handle.index(&Scope::All, &call.viewer())?;
        let kind = kind_of(&call.viewer());
        let noticed = self.state.recent.notice(&call.viewer(), &index);
        Ok(Glance {
            state: Arc::clone(&self.state),
            index,
            kind,
            noticed,
        })
    }
}

/// One change at a server is often told several times: list by list, and for each kind of client.
/// Those who subscribe hear of it once, when it is over.
async fn settle(changes: &mut BoxStream<'static, Change>) {
    let rest = async { while let Ok(Some(_)) = timeout(QUIET, changes.next()).await {} };
    timeout(LONGEST_UNREST, rest).await.ok();
}

/// How long nothing must change for a change to be over, and how long one waits for that.
const QUIET: Duration = Duration::from_millis(300);
const LONGEST_UNREST: Duration = Duration::from_secs(2);

impl Source for CapabilityIndex {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.inner.offer.catalog(viewer)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let serving = tokio::task::spawn_blocking(move || inner.serve(&call));
            serving.await.unwrap_or_else(|cause| {
                Err(Error::internal("the index could not be made").with_cause(cause))
            })
        })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        self.inner.state.cache.gauges()
    }
}

impl Glance {
    /// A text that was made not long ago for the same index, or one made now.
    fn kept(&self, uri: &str, make: impl FnOnce(&Self) -> String) -> Body {
        let of = (&self.index, self.kind);
        let (text, left) = self.state.cache.get(uri, of, || make(self));
        // What is new is told to each by itself.
        Body::text(text.as_ref()).kept_for(left, CacheScope::Private)
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
