//! The gateway: resolves a request into a call to one source and runs it through the layers.

mod config;
mod cursor;
mod explain;
mod exposure;
mod gateway_source;
mod handle;
mod name_conflicts;
mod resolve;
mod rewrite;
mod skills;
mod startup;
mod task_ids;
mod task_subscriptions;
mod view;
mod view_cache;

use std::sync::Arc;

use futures_util::future::{FutureExt, join, join_all};
use futures_util::stream::BoxStream;
use tokio_util::sync::CancellationToken;

use crate::changes::Hub;
use crate::log_messages::LogRouter;
use crate::reply::guard::guard_reply;
use crate::source::NamedSource;
use crate::{
    AffinityKey, Catalog, GatewayOperation, Layer, LogMessage, LoggingLevel, Next, Operation,
    RawJson, Reply, Request, Result, Scope, SearchIndex, Source, SourceId, Step, Viewer,
};
pub use config::GatewayConfig;
use exposure::lists_app_tools;
pub use exposure::{EndpointConfig, EndpointConfigs, Exposure};
use gateway_source::GatewaySource;
pub use handle::GatewayHandle;
use name_conflicts::ConflictLog;
pub use name_conflicts::NameConflictCheck;
use startup::needs_final_lists;
use view::{View, ViewKey};
use view_cache::ViewCache;

/// The gateway: resolves requests and serves them through the layers.
pub struct Gateway {
    inner: Arc<GatewayInner>,
    /// Cancelled when the gateway starts to serve all calls.
    opened: CancellationToken,
}

impl Gateway {
    /// `sources` are in the order of the configuration, `layers` in the order in which a call
    /// passes them.
    pub fn new(
        config: GatewayConfig,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        layers: Vec<Arc<dyn Layer>>,
    ) -> Self {
        let inner = GatewayInner::new(config, sources, layers);
        inner.config.gateway_handle.connect(Arc::downgrade(&inner));
        let gateway = Self {
            inner,
            opened: CancellationToken::new(),
        };
        if gateway.ready().now_or_never().is_some() {
            gateway.open();
        }
        gateway
    }

    /// Waits until every source was reached once, or has failed once.
    pub async fn ready(&self) {
        let sources = self.inner.all_sources();
        join_all(sources.map(|(_, source)| source.ready())).await;
    }

    /// Starts to serve all calls. Until then only those are served whose source is ready.
    pub fn open(&self) {
        self.opened.cancel();
    }

    pub fn is_open(&self) -> bool {
        self.opened.is_cancelled()
    }

    /// Serves one request. Dropping the future or the reply's stream cancels it.
    pub async fn handle(&self, request: Request) -> Result<Reply> {
        self.wait_for_sources(&request).await;
        self.inner.handle(request).await
    }

    /// Forwards the changes and log messages of the sources to those who listen, for as long as it is
    /// polled.
    pub async fn run(&self) {
        let sources = || self.inner.all_sources();
        let changes = sources().map(|(id, source)| (id.clone(), source.changes()));
        let logs = sources().map(|(id, source)| (id.clone(), source.log_messages()));
        join(self.inner.hub.run(changes), self.inner.log_router.run(logs)).await;
    }

    /// The log messages for a client outside of its calls, at every level, until the stream is dropped.
    pub fn log_messages(
        &self,
        scope: &Scope,
        viewer: &Viewer<'_>,
    ) -> BoxStream<'static, LogMessage> {
        self.inner.log_router.receive(scope, viewer)
    }

    /// Tells the sources of a scope that a client wants log messages from this level on.
    pub fn log_level_changed(&self, scope: &Scope, affinity: AffinityKey, level: LoggingLevel) {
        for (_, source) in self.inner.configured_in(scope) {
            source.log_level_changed(affinity, level);
        }
    }

    /// Tells the sources of a scope that the roots of the client with this affinity key changed.
    pub fn roots_changed(&self, scope: &Scope, affinity: AffinityKey) {
        for (_, source) in self.inner.configured_in(scope) {
            source.roots_changed(affinity);
        }
    }

    /// Tells the sources of a scope that the client with this affinity key has ended its session.
    pub fn client_gone(&self, scope: &Scope, affinity: AffinityKey) {
        for (_, source) in self.inner.configured_in(scope) {
            source.client_gone(affinity);
        }
    }

    /// Sends a client's notification of an extension that the gateway does not know to the source of an
    /// endpoint. At the endpoint of all sources no such extension is declared.
    pub fn notify(&self, scope: &Scope, viewer: &Viewer<'_>, method: &str, params: &RawJson) {
        if *scope == Scope::All {
            return;
        }
        for (_, source) in self.inner.configured_in(scope) {
            source.notify(viewer, method, params);
        }
    }

    /// Ends every subscription to changes. Calls in flight continue.
    pub fn drain(&self) {
        self.inner.draining.cancel();
    }

    /// The sources that have their own endpoint, in the order of the configuration.
    pub fn source_ids(&self) -> impl Iterator<Item = &SourceId> {
        self.inner.sources.iter().map(|(id, _)| id)
    }

    /// Whether this source has its own endpoint.
    pub fn has_source(&self, id: &SourceId) -> bool {
        self.source_ids().any(|known| known == id)
    }
}

/// What the gateway, the gateway source and the handles share: the sources, the layers, the views.
struct GatewayInner {
    config: GatewayConfig,
    /// In the order of the configuration, which decides every collision.
    sources: Vec<NamedSource>,
    /// The gateway itself as a source. It comes last in every list.
    gateway_source: NamedSource,
    /// The same source, for its catalogs.
    gateway_catalogs: Arc<GatewaySource>,
    layers: Vec<Arc<dyn Layer>>,
    hub: Hub,
    log_router: Arc<LogRouter>,
    views: ViewCache,
    conflict_log: ConflictLog,
    draining: CancellationToken,
}

impl GatewayInner {
    fn new(
        config: GatewayConfig,
        sources: Vec<NamedSource>,
        layers: Vec<Arc<dyn Layer>>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|inner| {
            let tools = config.gateway_tools.clone();
            let gateway = Arc::new(GatewaySource::new(inner.clone(), tools));
            let source: Arc<dyn Source> = Arc::clone(&gateway) as _;
            Self {
                config,
                sources,
                gateway_source: (SourceId::gateway(), source),
                gateway_catalogs: gateway,
                layers,
                hub: Hub::default(),
                log_router: Arc::default(),
                views: ViewCache::default(),
                conflict_log: ConflictLog::default(),
                draining: CancellationToken::new(),
            }
        })
    }

    fn gateway_source(&self) -> &NamedSource {
        &self.gateway_source
    }

    fn all_sources(&self) -> impl Iterator<Item = &NamedSource> {
        self.sources.iter().chain([&self.gateway_source])
    }

    /// The configured sources of a scope.
    fn configured_in(&self, scope: &Scope) -> impl Iterator<Item = &NamedSource> {
        self.sources.iter().filter(move |(id, _)| match scope {
            Scope::All => true,
            Scope::Source(only) => id == only,
        })
    }

    async fn handle(&self, request: Request) -> Result<Reply> {
        guard_reply(Step::Govern, async {
            let view = self.view_for(&request).await;
            let resolved = self.resolve(request, &view);
            let next = Next::new(&self.layers, resolved.source.as_ref());
            let reply = next.run(resolved.call).await;
            match resolved.rewriter {
                Some(rewriter) => rewriter.rewrite(reply),
                None => reply,
            }
        })
        .await
    }

    /// The view that a request is resolved with. It waits for catalogs that are being loaded, unless
    /// they cannot change the target; for a URI that no source has, it reloads the catalogs.
    async fn view_for(&self, request: &Request) -> Arc<View> {
        let (scope, viewer) = (&request.scope, request.viewer());
        let view = self.view(scope, &viewer);
        if request.operation == Operation::Gateway(GatewayOperation::Ping) {
            return view;
        }
        let is_loading = view.is_loading() && !self.is_target_known(request, &view);
        if is_loading || needs_final_lists(request, &view) {
            let loading = view.loading_sources();
            join_all(loading.map(|source| source.wait_for_catalog(&viewer))).await;
            return self.view(scope, &viewer);
        }
        if view.is_preliminary() {
            for source in view.loading_sources() {
                source.served_preliminary(&viewer);
            }
        }
        if has_unknown_uri(&view, &request.operation) {
            let sources = self.configured_in(scope);
            join_all(sources.map(|(_, source)| source.refresh(&viewer))).await;
            return self.view(scope, &viewer);
        }
        view
    }

    /// The view of a scope. It is built only if no recent view has the same catalogs.
    fn view(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<View> {
        let catalogs = self.catalogs(scope, viewer);
        let key = ViewKey {
            scope: scope.clone(),
            lists_app_tools: lists_app_tools(scope, viewer.client),
        };
        self.views.get_or_build(&key, &catalogs, || {
            let gateway = self.gateway_catalog(scope).map(|_| &self.gateway_source);
            let sources = self.configured_in(scope).chain(gateway).cloned();
            let view = View::new(&self.config, &key, sources.collect(), &catalogs);
            if *scope == Scope::All {
                self.conflict_log.log_new(view.names.conflicts());
            }
            view
        })
    }

    /// The catalogs of a scope, in the order of its sources.
    fn catalogs(&self, scope: &Scope, viewer: &Viewer<'_>) -> Vec<Arc<Catalog>> {
        let configured = self.configured_in(scope);
        let configured = configured.map(|(_, source)| source.catalog(viewer));
        configured.chain(self.gateway_catalog(scope)).collect()
    }

    fn gateway_catalog(&self, scope: &Scope) -> Option<Arc<Catalog>> {
        let with_tools = self.config.endpoints.of(scope).gateway_tools;
        self.gateway_catalogs.catalog_in(scope, with_tools)
    }

    /// Everything that a viewer can use in a scope, to be searched.
    fn index(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<SearchIndex> {
        self.views.index(&self.view(scope, viewer))
    }
}

/// Whether an operation reads or subscribes to a URI that no source has.
fn has_unknown_uri(view: &View, operation: &Operation) -> bool {
    let is_unknown = |uri: &String| view.names.resource(uri).is_none();
    match operation {
        Operation::Resource { uri } => is_unknown(uri),
        Operation::Gateway(GatewayOperation::Listen(filter)) => filter.uris.iter().any(is_unknown),
        _ => false,
    }
}
