//! The gateway: resolves a request into a call at one source and takes it through the layers.

mod cursor;
pub(crate) mod guard;
mod own;
mod view;

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{FutureExt, join_all};
use tokio_util::sync::CancellationToken;

use crate::changes::Hub;
use crate::error::clip;
use crate::{
    Ask, Audience, Call, Code, Error, Layer, List, Next, Reference, Reply, Request, Result, Scope,
    Source, SourceId,
};
use own::{Absent, OwnSource};
use view::{Found, View};

/// How the gateway presents itself.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Entries on one page of a list.
    pub page_size: usize,
    /// What a client is told about the gateway as a whole.
    pub instructions: String,
}

/// Merged catalogs that are kept: one for each endpoint and kind of audience, and a few that were.
const MOST_VIEWS: usize = 32;

/// One endpoint over all sources.
pub struct Gateway {
    shared: Arc<Shared>,
    own: Arc<dyn Source>,
    layers: Vec<Arc<dyn Layer>>,
    /// Calls wait for this once, when the gateway starts.
    opened: CancellationToken,
}

/// What the gateway and its own source both need.
struct Shared {
    config: GatewayConfig,
    /// In the order of the configuration, which decides every collision.
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    hub: Hub,
    views: Mutex<Vec<(Scope, Arc<View>)>>,
    draining: CancellationToken,
}

impl Gateway {
    pub fn new(
        config: GatewayConfig,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        layers: Vec<Arc<dyn Layer>>,
    ) -> Self {
        let shared = Arc::new(Shared {
            config,
            sources,
            hub: Hub::default(),
            views: Mutex::default(),
            draining: CancellationToken::new(),
        });
        let own = Arc::new(OwnSource(Arc::clone(&shared)));
        let gateway = Self {
            own,
            shared,
            layers,
            opened: CancellationToken::new(),
        };
        if gateway.ready().now_or_never().is_some() {
            gateway.open();
        }
        gateway
    }

    /// Waits until every source has its first catalog, or is known not to have one soon.
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
        guard::reply(async {
            let (call, source) = self.resolve(request);
            self.govern(call, source.as_ref()).await
        })
        .await
    }

    /// Finds the source of a request. What has none goes to a source that says so, through the same
    /// layers: a guess is watched and limited like any other call.
    fn resolve(&self, mut request: Request) -> (Call, Arc<dyn Source>) {
        let (source, serving, ask) = self.find(&mut request).unwrap_or_else(|error| {
            let absent = Arc::new(Absent::new(error)) as Arc<dyn Source>;
            (SourceId::gateway(), absent, request.ask.clone())
        });
        let call = Call {
            correlation: request.correlation,
            caller: request.caller,
            scope: request.scope,
            label: request.label,
            terms: request.terms,
            source,
            ask,
            params: request.params,
        };
        (call, serving)
    }

    fn find(&self, request: &mut Request) -> Result<(SourceId, Arc<dyn Source>, Ask)> {
        let view = self.shared.view(&request.scope, &request.audience());
        match &request.ask {
            Ask::Own(own) => {
                let own = Ask::Own(own.clone());
                Ok((SourceId::gateway(), Arc::clone(&self.own), own))
            }
            Ask::Tool { name } => {
                let found = view.tool(name).ok_or_else(|| unknown("tool", name))?;
                if let (Some(check), Some(tool)) = (
                    request.precondition.take(),
                    view.definition(List::Tools, &found),
                ) {
                    check.check(tool)?;
                }
                Ok(self.target(found, |name| Ask::Tool { name }))
            }
            Ask::Prompt { name } => {
                let found = view.prompt(name).ok_or_else(|| unknown("prompt", name))?;
                Ok(self.target(found, |name| Ask::Prompt { name }))
            }
            Ask::Resource { uri } => {
                let found = view
                    .resource(uri)
                    .ok_or_else(|| Error::resource_not_found(uri))?;
                Ok(self.target(found, |uri| Ask::Resource { uri }))
            }
            Ask::Completion { reference } => self.completion(&view, reference),
        }
    }

    fn completion(
        &self,
        view: &View,
        reference: &Reference,
    ) -> Result<(SourceId, Arc<dyn Source>, Ask)> {
        let (found, name): (_, fn(String) -> Reference) = match reference {
            Reference::Prompt(name) => (
                view.prompt(name).ok_or_else(|| unknown("prompt", name))?,
                Reference::Prompt,
            ),
            Reference::Resource(uri) => (
                view.template(uri)
                    .or_else(|| view.resource(uri))
                    .ok_or_else(|| unknown("resource template", uri))?,
                Reference::Resource,
            ),
        };
        Ok(self.target(found, |native| Ask::Completion {
            reference: name(native),
        }))
    }

    fn target(
        &self,
        found: Found,
        ask: impl FnOnce(String) -> Ask,
    ) -> (SourceId, Arc<dyn Source>, Ask) {
        let (id, source) = &self.shared.sources[found.source];
        (id.clone(), Arc::clone(source), ask(found.native))
    }

    /// Takes a call through the layers to its source.
    async fn govern(&self, call: Call, source: &dyn Source) -> Result<Reply> {
        Next::new(&self.layers, source).run(call).await
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

    /// Ends every stream of changes gracefully. Calls under way go on.
    pub fn drain(&self) {
        self.shared.draining.cancel();
    }

    pub fn is_draining(&self) -> bool {
        self.shared.draining.is_cancelled()
    }

    pub fn has_source(&self, id: &SourceId) -> bool {
        self.shared.sources.iter().any(|(known, _)| known == id)
    }
}

impl Shared {
    /// The merged catalog, made anew only when it is of other snapshots than those made lately.
    fn view(&self, scope: &Scope, audience: &Audience<'_>) -> Arc<View> {
        let snapshots: Vec<_> = self
            .in_scope(scope)
            .map(|(index, source)| (index, source.catalog(audience)))
            .collect();
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |(known, view): &(Scope, Arc<View>)| known == scope && view.is_made_of(&snapshots);
        if let Some(at) = views.iter().position(same) {
            return Arc::clone(&views[at].1);
        }
        let view = Arc::new(View::new(self, scope, snapshots));
        if views.len() == MOST_VIEWS {
            views.remove(0);
        }
        views.push((scope.clone(), Arc::clone(&view)));
        view
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

fn unknown(kind: &str, name: &str) -> Error {
    Error::client(
        Code::UnknownTarget,
        format!("no {kind} is called `{}`", clip(name)),
    )
    .with_data(serde_json::json!({ "name": name }))
}
