//! The gateway: resolves a request into a call at one source and takes it through the layers.

mod builtin;
mod cursor;
mod explain;
mod exposure;
mod find;
mod following;
mod handle;
mod name_conflicts;
mod rewrite;
mod task;
pub(crate) mod view;
mod views;

use std::sync::Arc;

use futures_util::future::{FutureExt, join_all};
use tokio_util::sync::CancellationToken;

use crate::changes::Hub;
use crate::reply::guard::guard_reply;
use crate::{
    AffinityKey, Call, Catalog, GatewayOperation, Layer, Next, Operation, Reply, Request, Result,
    Scope, Seal, SearchIndex, Source, SourceId, Step, Viewer,
};
use builtin::{Absent, OwnSource};
pub use exposure::{Endpoint, Endpoints, Exposure};
pub use handle::GatewayHandle;
pub use name_conflicts::NameConflicts;
use rewrite::ResponseRewriter;
use task::TaskIds;
pub use view::Naming;
use view::View;
use views::Views;

/// How the gateway presents itself.
#[derive(Clone)]
pub struct GatewayConfig {
    /// Entries on one page of a list.
    pub page_size: usize,
    /// How tools and prompts are called where all sources are seen at once.
    pub naming: Naming,
    /// What a client is told about the gateway as a whole, before what is behind it.
    pub instructions: String,
    pub endpoints: Endpoints,
    /// What serves the gateway's own tools, where endpoints have some.
    pub gateway_tools: Option<Arc<dyn Source>>,
    /// For sources that look at the others.
    pub gateway_handle: GatewayHandle,
    /// Seals what clients carry for us.
    pub seal: Arc<Seal>,
    /// Where it is noted what is odd about the names of sources.
    pub name_conflicts: Arc<NameConflicts>,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            page_size: 1_000,
            naming: Naming::default(),
            instructions: String::new(),
            endpoints: Endpoints::default(),
            gateway_tools: None,
            gateway_handle: GatewayHandle::default(),
            seal: Arc::new(Seal::random()),
            name_conflicts: Arc::default(),
        }
    }
}

/// One endpoint over all sources.
pub struct Gateway {
    shared: Arc<Shared>,
    /// Calls wait for this once, when the gateway starts.
    opened: CancellationToken,
}

/// What the gateway and its own source both need.
struct Shared {
    config: GatewayConfig,
    /// In the order of the configuration, which decides every collision; the gateway itself last.
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    own: Arc<OwnSource>,
    layers: Vec<Arc<dyn Layer>>,
    hub: Hub,
    views: Views,
    draining: CancellationToken,
}

impl Gateway {
    pub fn new(
        config: GatewayConfig,
        mut sources: Vec<(SourceId, Arc<dyn Source>)>,
        layers: Vec<Arc<dyn Layer>>,
    ) -> Self {
        let shared = Arc::new_cyclic(|shared| {
            let own = Arc::new(OwnSource::new(shared.clone(), config.gateway_tools.clone()));
            sources.push((SourceId::gateway(), Arc::clone(&own) as Arc<dyn Source>));
            Shared {
                config,
                sources,
                own,
                layers,
                hub: Hub::default(),
                views: Views::default(),
                draining: CancellationToken::new(),
            }
        });
        shared.config.gateway_handle.open(Arc::downgrade(&shared));
        let gateway = Self {
            shared,
            opened: CancellationToken::new(),
        };
        if gateway.ready().now_or_never().is_some() {
            gateway.open();
        }
        gateway
    }

    /// Waits until every source has been reached once, or is known not to be reached soon.
    pub async fn ready(&self) {
        let sources = self.shared.sources.iter().map(|(_, source)| source.ready());
        join_all(sources).await;
    }

    /// Lets calls in. Until then they wait.
    pub fn open(&self) {
        self.opened.cancel();
    }

    pub fn is_open(&self) -> bool {
        self.opened.is_cancelled()
    }

    /// Answers one request. Dropping the future or the reply's stream cancels it.
    pub async fn handle(&self, request: Request) -> Result<Reply> {
        self.opened.cancelled().await;
        self.shared.handle(request).await
    }

    /// Carries the sources' changes to those who listen, for as long as it is polled.
    pub async fn run(&self) {
        let changes = self
            .shared
            .sources
            .iter()
            .map(|(_, source)| source.changes());
        self.shared.hub.pump(changes).await;
    }

    /// Tells the sources of a scope that the roots of the client with this affinity key changed.
    pub fn roots_changed(&self, scope: &Scope, affinity: AffinityKey) {
        for (_, source) in self.shared.in_scope(scope) {
            source.roots_changed(affinity);
        }
    }

    /// Ends every stream of changes gracefully. Calls under way go on.
    pub fn drain(&self) {
        self.shared.draining.cancel();
    }

    pub fn is_draining(&self) -> bool {
        self.shared.draining.is_cancelled()
    }

    /// Whether clients can come to this source alone.
    pub fn has_source(&self, id: &SourceId) -> bool {
        let mut sources = self.shared.sources.iter();
        *id != SourceId::gateway() && sources.any(|(known, _)| known == id)
    }
}

fn call(request: Request, source: SourceId, operation: Operation, idempotent: bool) -> Call {
    Call {
        correlation: request.correlation,
        caller: request.caller,
        scope: request.scope,
        label: request.label,
        client: request.client,
        source,
        operation,
        idempotent,
        params: request.params,
    }
}

impl Shared {
    async fn handle(&self, request: Request) -> Result<Reply> {
        guard_reply(Step::Govern, async {
            let view = self.view_of(&request).await;
            let (call, source, rewriter) = self.resolve(request, view);
            let reply = self.govern(call, source.as_ref()).await;
            match rewriter {
                Some(rewriter) => rewriter.turn(reply),
                None => reply,
            }
        })
        .await
    }

    /// What a request is resolved with: complete, or as complete as waiting makes it.
    async fn view_of(&self, request: &Request) -> Arc<View> {
        let (scope, viewer) = (&request.scope, request.viewer());
        let view = self.view(scope, &viewer);
        let coming: Vec<_> = view.coming().collect();
        if coming.is_empty() || request.operation == Operation::Gateway(GatewayOperation::Ping) {
            return match &request.operation {
                Operation::Resource { uri } if view.resource(uri).is_none() => {
                    self.looked_again(request).await
                }
                _ => view,
            };
        }
        let sources = coming.iter().map(|at| &self.sources[*at].1);
        join_all(sources.map(|source| source.wait_for_catalog(&viewer))).await;
        self.view(scope, &viewer)
    }

    /// A URI that nobody knows may be new: each source is asked once for what it has now.
    async fn looked_again(&self, request: &Request) -> Arc<View> {
        let (scope, viewer) = (&request.scope, request.viewer());
        let sources = self.in_scope(scope);
        join_all(sources.map(|(_, source)| source.refresh(&viewer))).await;
        self.view(scope, &viewer)
    }

    /// Finds the source of a request. What has none goes to a source that says so, through the same
    /// layers: a guess is watched and limited like any other call.
    fn resolve(
        &self,
        mut request: Request,
        view: Arc<View>,
    ) -> (Call, Arc<dyn Source>, Option<ResponseRewriter>) {
        let target = match self.find(&view, &mut request) {
            Ok(target) => target,
            Err(error) => {
                let operation = request.operation.clone();
                let call = call(request, SourceId::gateway(), operation, false);
                return (call, Arc::new(Absent::new(error.at(Step::Resolve))), None);
            }
        };
        let (id, source) = &self.sources[target.source];
        let ids = TaskIds::of(self, &view, &request, &target);
        // A tool of the gateway's own relays what faces the client already.
        let is_own = target.source == self.sources.len() - 1;
        let as_it_is = match target.operation {
            Operation::Gateway(_) => true,
            Operation::Tool { .. } => is_own,
            _ => false,
        };
        let rewriter = (!as_it_is).then(|| ResponseRewriter {
            ids,
            view,
            source: target.source,
            id: id.clone(),
            operation: target.operation.clone(),
            spelled: match &request.operation {
                Operation::Resource { uri } => Some(uri.clone()),
                _ => None,
            },
            is_shared: request.scope == Scope::All,
        });
        // What goes on with another request can be asked for once.
        let idempotent = target.idempotent && !request.is_continuation;
        let call = call(request, id.clone(), target.operation, idempotent);
        (call, Arc::clone(source), rewriter)
    }

    /// Takes a call through the layers to its source.
    async fn govern(&self, call: Call, source: &dyn Source) -> Result<Reply> {
        Next::new(&self.layers, source).run(call).await
    }

    /// The merged catalog, made anew only when it is of other snapshots than those made lately.
    fn view(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<View> {
        let snapshots = self.snapshots(scope, viewer);
        self.views.get(scope, &snapshots, |snapshots| {
            let view = View::new(self, scope, snapshots);
            if *scope == Scope::All {
                self.config.name_conflicts.replace(&view.name_conflicts);
            }
            view
        })
    }

    /// Everything that an viewer can use in a scope, to be searched.
    fn index(&self, scope: &Scope, viewer: &Viewer<'_>) -> Arc<SearchIndex> {
        self.views.index(&self.view(scope, viewer))
    }

    fn snapshots(&self, scope: &Scope, viewer: &Viewer<'_>) -> Vec<(usize, Arc<Catalog>)> {
        let (own, others) = (self.sources.len() - 1, self.in_scope(scope));
        let others = others.filter(|(index, _)| *index != own);
        let others = others.map(|(index, source)| (index, source.catalog(viewer)));
        let gateway_tools = self.config.endpoints.of(scope).bridge_tools;
        let own_catalog = self.own.catalog_in(scope, gateway_tools);
        let own = own_catalog.map(|catalog| (own, catalog));
        others.chain(own).collect()
    }

    /// The number of the one source a scope means.
    fn only(&self, scope: &Scope) -> Option<usize> {
        match scope {
            Scope::All => None,
            Scope::Source(wanted) => self.sources.iter().position(|(id, _)| id == wanted),
        }
    }

    fn in_scope(&self, scope: &Scope) -> impl Iterator<Item = (usize, &Arc<dyn Source>)> {
        let sources = self.sources.iter().enumerate();
        sources
            .filter(move |(_, (id, _))| match scope {
                Scope::All => true,
                Scope::Source(wanted) => id == wanted,
            })
            .map(|(index, (_, source))| (index, source))
    }
}
