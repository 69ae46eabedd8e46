//! The gateway: resolves a request into a call at one source and takes it through the layers.

mod cursor;
pub(crate) mod guard;
mod own;
mod view;

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::changes::Hub;
use crate::error::clip;
use crate::{
    Ask, Call, Caller, Code, Error, Layer, Next, Reference, Reply, Request, Result, Scope, Source,
    SourceId,
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

/// One endpoint over all sources.
pub struct Gateway {
    shared: Arc<Shared>,
    own: Arc<dyn Source>,
    layers: Vec<Arc<dyn Layer>>,
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
        Self {
            own: Arc::new(OwnSource(Arc::clone(&shared))),
            shared,
            layers,
        }
    }

    /// Answers one request. Dropping the future or the reply's stream cancels it.
    pub async fn handle(&self, request: Request) -> Result<Reply> {
        guard::reply(async {
            let (call, source) = self.resolve(request);
            self.govern(call, source.as_ref()).await
        })
        .await
    }

    /// Finds the source of a request. What has none goes to a source that says so, through the same
    /// layers: a guess is watched and limited like any other call.
    fn resolve(&self, request: Request) -> (Call, Arc<dyn Source>) {
        let view = self.shared.view(&request.scope, &request.caller);
        let found = match &request.ask {
            Ask::Own(_) => Ok((
                SourceId::gateway(),
                Arc::clone(&self.own),
                request.ask.clone(),
            )),
            Ask::Tool { name } => self.target(
                view.tool(name),
                |name| Ask::Tool { name },
                || unknown("tool", name),
            ),
            Ask::Prompt { name } => self.target(
                view.prompt(name),
                |name| Ask::Prompt { name },
                || unknown("prompt", name),
            ),
            Ask::Resource { uri } => self.target(
                view.resource(uri),
                |uri| Ask::Resource { uri },
                || Error::resource_not_found(uri),
            ),
            Ask::Completion { reference } => self.completion(&view, reference),
        };
        let (source, serving, ask) = found.unwrap_or_else(|error| {
            (
                SourceId::gateway(),
                Arc::new(Absent::new(error)) as Arc<dyn Source>,
                request.ask,
            )
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

    fn target(
        &self,
        found: Option<Found>,
        ask: impl FnOnce(String) -> Ask,
        missing: impl FnOnce() -> Error,
    ) -> Result<(SourceId, Arc<dyn Source>, Ask)> {
        let found = found.ok_or_else(missing)?;
        let (id, source) = &self.shared.sources[found.source];
        Ok((id.clone(), Arc::clone(source), ask(found.native)))
    }

    fn completion(
        &self,
        view: &View,
        reference: &Reference,
    ) -> Result<(SourceId, Arc<dyn Source>, Ask)> {
        match reference {
            Reference::Prompt(name) => self.target(
                view.prompt(name),
                |name| Ask::Completion {
                    reference: Reference::Prompt(name),
                },
                || unknown("prompt", name),
            ),
            Reference::Resource(uri) => self.target(
                view.template(uri).or_else(|| view.resource(uri)),
                |uri| Ask::Completion {
                    reference: Reference::Resource(uri),
                },
                || unknown("resource template", uri),
            ),
        }
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
    /// The merged catalog, made anew only when a source's snapshot is another one.
    fn view(&self, scope: &Scope, caller: &Caller) -> Arc<View> {
        let snapshots: Vec<_> = self
            .in_scope(scope)
            .map(|(index, source)| (index, source.catalog(caller)))
            .collect();
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let at = views.iter().position(|(known, _)| known == scope);
        if let Some(at) = at
            && views[at].1.is_made_of(&snapshots)
        {
            return Arc::clone(&views[at].1);
        }
        let view = Arc::new(View::new(self, scope, snapshots));
        match at {
            Some(at) => views[at].1 = Arc::clone(&view),
            None => views.push((scope.clone(), Arc::clone(&view))),
        }
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
