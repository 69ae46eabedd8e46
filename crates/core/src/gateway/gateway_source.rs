//! The gateway source: the operations that the gateway serves itself pass the same layers as any
//! other call.

mod declaration;
mod explain_resource;
mod instructions;
mod listen;
mod rejecting;

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;

use super::GatewayInner;
use super::cursor;
use super::view::{Contribution, View};
use crate::{
    CacheScope, Call, Caller, Catalog, Change, ChangeEvent, ChangeNotice, ChangeStream,
    ClientContext, Error, Features, GatewayOperation, List, Operation, Outcome, RawJson, Reply,
    Result, Scope, SkillOperation, Source, Viewer,
};
pub(super) use rejecting::RejectingSource;

/// How long a client may cache a list at most, unless it subscribes to changes.
const MAX_LIST_TTL: Duration = Duration::from_secs(60);

/// Serves discover, ping, the lists and subscriptions, the gateway tools and the explain resource.
pub(super) struct GatewaySource {
    gateway: Weak<GatewayInner>,
    /// Serves the gateway tools.
    tools: Option<Arc<dyn Source>>,
    /// What it offers at the endpoint of all sources.
    catalog: Arc<Catalog>,
    catalog_with_tools: Arc<Catalog>,
    /// What it offers at the endpoint of one source.
    tools_only: Arc<Catalog>,
}

impl GatewaySource {
    pub(super) fn new(gateway: Weak<GatewayInner>, tools: Option<Arc<dyn Source>>) -> Self {
        let viewer = Viewer {
            caller: &Caller::local(),
            client: &ClientContext::default(),
        };
        let entries = tools.as_ref().map(|tools| tools.catalog(&viewer));
        let entries = entries.map(|catalog| catalog.tools.clone());
        let entries = entries.unwrap_or_default();
        let mut with_tools = explain_resource::catalog();
        with_tools.features.tools = !entries.is_empty();
        with_tools.tools.clone_from(&entries);
        let tools_only = Catalog {
            is_built_in: true,
            features: Features {
                tools: true,
                ..Features::default()
            },
            scope: with_tools.scope,
            tools: entries,
            ..Catalog::default()
        };
        Self {
            gateway,
            tools,
            catalog: Arc::new(explain_resource::catalog()),
            catalog_with_tools: Arc::new(with_tools),
            tools_only: Arc::new(tools_only),
        }
    }

    /// What it offers at an endpoint.
    pub(super) fn catalog_in(&self, scope: &Scope, with_tools: bool) -> Option<Arc<Catalog>> {
        let catalog = match (scope, with_tools) {
            (Scope::All, true) => &self.catalog_with_tools,
            (Scope::All, false) => &self.catalog,
            (Scope::Source(_), true) => &self.tools_only,
            (Scope::Source(_), false) => return None,
        };
        Some(Arc::clone(catalog))
    }
}

impl Source for GatewaySource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    fn depends_on_other_sources(&self) -> bool {
        true
    }

    /// How URIs are resolved changes with the lists of resources.
    fn changes(&self) -> ChangeStream {
        let Some(gateway) = self.gateway.upgrade() else {
            return ChangeStream::never();
        };
        let notices = gateway.hub.notices().filter_map(|(source, notice)| {
            let is_relevant = !source.is_gateway()
                && matches!(
                    notice.event,
                    ChangeEvent::Change(Change::Resources) | ChangeEvent::Missed
                );
            std::future::ready(is_relevant.then_some(ChangeNotice {
                event: ChangeEvent::AllResourcesUpdated,
                ..notice
            }))
        });
        ChangeStream::new(notices)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        if let (Operation::Tool { .. }, Some(tools)) = (&call.operation, &self.tools) {
            return tools.call(call);
        }
        let Some(gateway) = self.gateway.upgrade() else {
            let stopped = Err(Error::internal("the gateway has stopped"));
            return Box::pin(std::future::ready(stopped));
        };
        match call.operation {
            Operation::Skill(SkillOperation::List) => {
                Box::pin(async move { gateway.list_skills(&call).await })
            }
            _ => Box::pin(std::future::ready(gateway.serve(&call))),
        }
    }
}

impl GatewayInner {
    fn serve(&self, call: &Call) -> Result<Reply> {
        let view = self.view(&call.scope, &call.viewer());
        match &call.operation {
            Operation::Gateway(GatewayOperation::Ping) => {
                Ok(Reply::Done(Outcome::complete(RawJson::empty_object())))
            }
            Operation::Gateway(GatewayOperation::Discover) => Ok(self.discover(call, &view)),
            Operation::Gateway(GatewayOperation::List { list, cursor }) => {
                self.list(&view, call, *list, cursor.as_deref())
            }
            Operation::Gateway(GatewayOperation::Listen(filter)) => {
                Ok(self.listen(&view, call, filter.clone()))
            }
            Operation::Resource { uri } => explain_resource::read(&view.names, uri),
            Operation::Completion { .. } => explain_resource::complete(&view.names, call),
            Operation::Tool { .. }
            | Operation::Prompt { .. }
            | Operation::Task { .. }
            | Operation::Skill(_)
            | Operation::Extension { .. } => Err(Error::internal(
                "the gateway does not serve this operation itself",
            )),
        }
    }

    fn discover(&self, call: &Call, view: &View) -> Reply {
        let instructions = match &call.scope {
            Scope::All => Some(self.instructions(call)),
            Scope::Source(_) => view.instructions.clone(),
        };
        let result = declaration::declare(view, instructions.as_deref());
        let outcome = Outcome::cacheable(result, MAX_LIST_TTL, view.cache_scope);
        Reply::Done(outcome)
    }

    fn list(&self, view: &View, call: &Call, list: List, cursor: Option<&str>) -> Result<Reply> {
        let (seal, principal) = (&self.config.seal, &call.caller.principal);
        let start = match cursor {
            None => 0,
            Some(cursor) => view.offset_of(&cursor::open(cursor, seal, principal, list)?),
        };
        let (mut page, next) = view.page(list, start, self.config.page_size);
        if let Some(next) = &next {
            let cursor = RawJson::string(&next.cursor(seal, principal));
            page.set("nextCursor", cursor.as_str().to_owned());
        }
        // Cursors are sealed for one principal, so a list with several pages cannot be shared.
        let is_whole = cursor.is_none() && next.is_none();
        let scope = if is_whole {
            view.cache_scope
        } else {
            CacheScope::Private
        };
        let ttl = list_ttl(view, call, list);
        Ok(Reply::Done(Outcome::cacheable(page.write(), ttl, scope)))
    }
}

/// How long a list may be cached: as long as each of its sources allows. An incomplete list is not
/// cached.
fn list_ttl(view: &View, call: &Call, list: List) -> Duration {
    let viewer = call.viewer();
    let lifetimes = view.contributions(list);
    let lifetimes = lifetimes.filter_map(|contribution| match contribution {
        Contribution::Complete(source) => source.cache_lifetime(&viewer),
        Contribution::Incomplete => Some(Duration::ZERO),
    });
    lifetimes.min().unwrap_or(MAX_LIST_TTL).min(MAX_LIST_TTL)
}
