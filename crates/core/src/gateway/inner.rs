//! What the gateway, its own source and its handles share: the sources, the layers, the views.

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
    own: NamedSource,
    own_catalogs: Arc<GatewaySource>,
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
            let own = Arc::new(GatewaySource::new(inner.clone(), tools));
            Self {
                config,
                sources,
                own: (SourceId::gateway(), Arc::clone(&own) as Arc<dyn Source>),
                own_catalogs: own,
                layers,
                hub: Hub::default(),
                views: ViewCache::default(),
                conflict_log: ConflictLog::default(),
                draining: CancellationToken::new(),
            }
        })
    }

    pub(super) fn own_source(&self) -> &NamedSource {
        &self.own
    }

    pub(super) fn all_sources(&self) -> impl Iterator<Item = &NamedSource> {
        self.sources.iter().chain([&self.own])
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
            let own = self.own_catalog(scope).map(|_| &self.own);
            let sources = self.configured_in(scope).chain(own).cloned();
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
        configured.chain(self.own_catalog(scope)).collect()
    }

    fn own_catalog(&self, scope: &Scope) -> Option<Arc<Catalog>> {
        let with_tools = self.config.endpoints.of(scope).bridge_tools;
        self.own_catalogs.catalog_in(scope, with_tools)
    }

    /// Everything that a viewer can use in a scope, to be searched.
    pub(super) fn index(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<SearchIndex> {
        self.views.index(&self.view(scope, viewer))
    }
}
