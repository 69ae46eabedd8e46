//! The source `capability-index`: an overview of everything behind the gateway, for a model that
//! has to choose. A summary, the full index in pages, statistics, and single elements, each
//! limited to the entries that the caller can use.
//!
//! Built from the gateway's search index. Must not know any source.

mod cache;
mod config;
mod elements;
mod full;
mod kinds;
mod notice_log;
mod page_bounds;
mod recent_changes;
mod stats;
mod summary;
mod token_costs;
mod verbs;
mod view;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use tidegate_core::{
    BoxFuture, CacheScope, Call, Caller, Catalog, Change, ChangeSender, ChangeStream,
    ClientContext, Error, GatewayHandle, GaugeValue, Reply, Result, Scope, Source, Viewer,
};
use tokio::time::timeout;

use crate::declarations::{Declarations, DeclaredResource, DeclaredSource, ResourceContents};
pub use config::{IndexConfig, IndexPart, IndexSection};
pub use full::FULL;
use view::{IndexState, IndexView};

pub const SUMMARY: &str = "capability-index://summary";
pub const STATS: &str = "capability-index://stats";

/// The source `capability-index`.
pub struct CapabilityIndex {
    renderer: Arc<IndexRenderer>,
    changes: ChangeSender,
}

/// Renders the index for calls; shared with blocking tasks.
struct IndexRenderer {
    declared: DeclaredSource<IndexView>,
    state: Arc<IndexState>,
    gateway: GatewayHandle,
}

impl CapabilityIndex {
    pub fn new(config: &IndexConfig, gateway: GatewayHandle) -> Self {
        Self {
            renderer: Arc::new(IndexRenderer {
                declared: DeclaredSource::new(declarations(config)),
                state: Arc::new(IndexState::new(config)),
                gateway,
            }),
            changes: ChangeSender::default(),
        }
    }

    /// Follows the lists of all sources for as long as it is polled, so that the next read is fast
    /// and subscribers are notified.
    pub async fn run(self: Arc<Self>) {
        futures_util::join!(self.record_notices(), self.follow_lists());
    }

    /// Records when changes were announced.
    async fn record_notices(&self) {
        let mut notices = self.renderer.gateway.change_notices();
        while let Some((source, notice)) = notices.next().await {
            let log = &self.renderer.state.recent_changes.notices;
            log.record(source, notice, SystemTime::now());
        }
    }

    async fn follow_lists(&self) {
        let mut changes = self.renderer.gateway.list_changes();
        self.count_tokens().await;
        while changes.next().await.is_some() {
            wait_until_quiet(&mut changes).await;
            self.count_tokens().await;
            // Similar elements and word weights depend on all elements, so every page may differ.
            self.changes.send_all_updated();
        }
    }

    /// Builds the administrator's index and counts the tokens of new definitions, so that no call
    /// has to wait for it.
    async fn count_tokens(&self) {
        let renderer = Arc::clone(&self.renderer);
        let counting = tokio::task::spawn_blocking(move || {
            let (caller, client) = (Caller::local(), ClientContext::of_gateway());
            let viewer = Viewer {
                caller: &caller,
                client: &client,
            };
            if let Ok(index) = renderer.gateway.index(&Scope::All, &viewer) {
                renderer.state.token_costs.by_source(&index);
            }
        });
        counting.await.ok();
    }
}

fn declarations(config: &IndexConfig) -> Declarations<IndexView> {
    let mut declarations = Declarations {
        owned: vec!["capability-index:".to_owned()],
        ..Declarations::default()
    };
    if config.exposes(IndexPart::Summary) {
        declarations.resources.push(summary());
    }
    if config.exposes(IndexPart::Full) {
        declarations.resources.push(full());
        declarations.templates.push(full::pages());
    }
    if config.exposes(IndexPart::Stats) {
        declarations.resources.push(stats());
    }
    if config.exposes(IndexPart::Elements) {
        declarations.templates.extend(elements::templates());
    }
    declarations
}

impl IndexRenderer {
    /// Serves a call. Rendering never awaits, but may take a while.
    fn call(&self, call: &Call) -> Result<Reply> {
        let view = self.view(call)?;
        let reply = self.declared.call(&view, call).now_or_never();
        reply.unwrap_or_else(|| Err(Error::internal("rendering the index did not complete")))
    }

    fn view(&self, call: &Call) -> Result<IndexView> {
        let index = self.gateway.index(&Scope::All, &call.viewer())?;
        Ok(IndexView::new(&self.state, index, &call.viewer()))
    }
}

/// Waits for a pause in the changes: one change at a server is often announced several times, for
/// each list and client class. Subscribers are notified once.
async fn wait_until_quiet(changes: &mut BoxStream<'static, Change>) {
    let quiet = async { while let Ok(Some(_)) = timeout(QUIET_PERIOD, changes.next()).await {} };
    timeout(MAX_QUIET_WAIT, quiet).await.ok();
}

/// The pause that ends a series of changes, and the longest wait for it.
const QUIET_PERIOD: Duration = Duration::from_millis(300);
const MAX_QUIET_WAIT: Duration = Duration::from_secs(2);

impl Source for CapabilityIndex {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.renderer.declared.catalog(viewer)
    }

    fn depends_on_other_sources(&self) -> bool {
        true
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        let renderer = Arc::clone(&self.renderer);
        Box::pin(async move {
            let rendering = tokio::task::spawn_blocking(move || renderer.call(&call));
            rendering.await.unwrap_or_else(|cause| {
                Err(Error::internal("the index could not be rendered").with_cause(cause))
            })
        })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        self.renderer.state.cache.gauges()
    }
}

fn resource(
    uri: &str,
    name: &'static str,
    description: &'static str,
    mime: &'static str,
    read: for<'a> fn(&'a IndexView, &'a Caller) -> BoxFuture<'a, Result<ResourceContents>>,
) -> DeclaredResource<IndexView> {
    DeclaredResource {
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

fn summary() -> DeclaredResource<IndexView> {
    resource(
        SUMMARY,
        "Capability Index Summary",
        "Overview of everything behind the gateway in at most 3,000 tokens: sources with their \
         element counts and token costs, keywords, recent changes.",
        "text/markdown",
        |view, _| Box::pin(async { Ok(view.cached(SUMMARY, summary::render)) }),
    )
}

fn full() -> DeclaredResource<IndexView> {
    resource(
        FULL,
        "Capability Index",
        "Every tool, prompt, resource and template with its arguments and similar elements, in \
         pages of at most 40,000 tokens.",
        "text/markdown",
        |view, _| {
            let contents = view.cached(FULL, |view| full::page(view, 1).unwrap_or_default());
            Box::pin(async { Ok(contents) })
        },
    )
}

fn stats() -> DeclaredResource<IndexView> {
    resource(
        STATS,
        "Capability Index Statistics",
        "Element counts, token costs and cache statistics in less than 1,000 tokens.",
        "application/json",
        |view, _| Box::pin(async { Ok(view.cached(STATS, stats::render)) }),
    )
}
