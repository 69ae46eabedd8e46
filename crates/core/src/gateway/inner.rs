//! What the gateway, the gateway source and the handles share: the sources, the layers, the views.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::GatewayConfig;
use super::gateway_source::GatewaySource;
use super::name_conflicts::ConflictLog;
use super::view::View;
use super::view_cache::ViewCache;
use crate::changes::Hub;
use crate::reply::guard::guard_reply;
use crate::source::NamedSource;
use crate::{
    Catalog, GatewayOperation, Layer, Next, Operation, Reply, Request, Result, Scope, SearchIndex,
    Source, SourceId, Step, Viewer,
};

pub(super) struct GatewayInner {
    pub(super) config: GatewayConfig,
    /// In the order of the configuration, which decides every collision.
    pub(super) sources: Vec<NamedSource>,
    /// The gateway itself as a source. It comes last in every list.
    gateway_source: NamedSource,
    /// The same source, for its catalogs.
    gateway_catalogs: Arc<GatewaySource>,
    layers: Vec<Arc<dyn Layer>>,
    pub(super) hub: Hub,
    views: ViewCache,
    conflict_log: ConflictLog,
    pub(super) draining: CancellationToken,
}

impl GatewayInner {
    pub(super) fn new(
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
                views: ViewCache::default(),
                conflict_log: ConflictLog::default(),
                draining: CancellationToken::new(),
            }
        })
    }

    pub(super) fn gateway_source(&self) -> &NamedSource {
        &self.gateway_source
    }

    pub(super) fn all_sources(&self) -> impl Iterator<Item = &NamedSource> {
        self.sources.iter().chain([&self.gateway_source])
    }

    /// The configured sources of a scope.
    pub(super) fn configured_in(&self, scope: &Scope) -> impl Iterator<Item = &NamedSource> {
        self.sources.iter().filter(move |(id, _)| match scope {
            Scope::All => true,
            Scope::Source(only) => id == only,
        })
    }

    pub(super) async fn handle(&self, request: Request) -> Result<Reply> {
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

    /// The view that a request is resolved with. It waits for catalogs that are being loaded; for a
    /// URI that no source has, it reloads the catalogs.
    async fn view_for(&self, request: &Request) -> Arc<View> {
        let (scope, viewer) = (&request.scope, request.viewer());
        let view = self.view(scope, &viewer);
        if request.operation == Operation::Gateway(GatewayOperation::Ping) {
            return view;
        }
        if view.is_loading() {
            let loading = view.loading_sources();
            join_all(loading.map(|source| source.wait_for_catalog(&viewer))).await;
            return self.view(scope, &viewer);
        }
        match &request.operation {
            Operation::Resource { uri } if view.names.resource(uri).is_none() => {
                let sources = self.configured_in(scope);
                join_all(sources.map(|(_, source)| source.refresh(&viewer))).await;
                self.view(scope, &viewer)
            }
            _ => view,
        }
    }

    /// The view of a scope. It is built only if no recent view has the same catalogs.
    pub(super) fn view(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<View> {
        let catalogs = self.catalogs(scope, viewer);
        self.views.get_or_build(scope, &catalogs, || {
            let gateway = self.gateway_catalog(scope).map(|_| &self.gateway_source);
            let sources = self.configured_in(scope).chain(gateway).cloned();
            let view = View::new(&self.config, scope, sources.collect(), &catalogs);
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
    pub(super) fn index(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<SearchIndex> {
        self.views.index(&self.view(scope, viewer))
    }
}
