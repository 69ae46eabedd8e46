//! The gateway as a source: what it answers for itself passes the same layers as all the rest.

mod explaining;
mod instructions;

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::{BoxFuture, join, join_all};
use futures_util::stream::{self, Stream, StreamExt};
use parking_lot::Mutex;

use super::task::TASKS;
use super::view::{InList, View};
use super::{Shared, cursor};
use crate::changes::Interest;
use crate::{
    CacheScope, Call, Caller, Catalog, ChangeFilter, ClientContext, Error, Event, Features,
    GatewayOperation, List, Operation, Outcome, RawJson, Reply, ResourceSubscription, Result,
    Scope, Source, Viewer,
};

/// How long a client may keep a list at most without listening for changes.
const LIST_TTL: Duration = Duration::from_secs(60);

/// Answers discover, ping, the lists and listen, and offers what the gateway itself has to say.
pub(super) struct OwnSource {
    shared: Weak<Shared>,
    /// What serves its tools.
    tools: Option<Arc<dyn Source>>,
    /// Where all sources are seen at once.
    catalog: Arc<Catalog>,
    catalog_with_tools: Arc<Catalog>,
    /// Where one source is seen alone, but with these.
    only_tools: Arc<Catalog>,
}

impl OwnSource {
    pub(super) fn new(shared: Weak<Shared>, tools: Option<Arc<dyn Source>>) -> Self {
        let everyone = Viewer {
            caller: &Caller::local(),
            client: &ClientContext::default(),
        };
        let entries = tools
            .as_ref()
            .map(|tools| tools.catalog(&everyone).tools.clone())
            .unwrap_or_default();
        let mut with_tools = explaining::catalog();
        with_tools.features.tools = !entries.is_empty();
        with_tools.tools.clone_from(&entries);
        let only_tools = Catalog {
            features: Features {
                tools: true,
                ..Features::default()
            },
            scope: with_tools.scope,
            tools: entries,
            ..Catalog::default()
        };
        Self {
            shared,
            tools,
            catalog: Arc::new(explaining::catalog()),
            catalog_with_tools: Arc::new(with_tools),
            only_tools: Arc::new(only_tools),
        }
    }

    /// What of it an endpoint has.
    pub(super) fn catalog_in(&self, scope: &Scope, with_tools: bool) -> Option<Arc<Catalog>> {
        let catalog = match (scope, with_tools) {
            (Scope::All, true) => &self.catalog_with_tools,
            (Scope::All, false) => &self.catalog,
            (Scope::Source(_), true) => &self.only_tools,
            (Scope::Source(_), false) => return None,
        };
        Some(Arc::clone(catalog))
    }
}

impl Source for OwnSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        if let (Operation::Tool { .. }, Some(tools)) = (&call.operation, &self.tools) {
            return tools.call(call);
        }
        let reply = match self.shared.upgrade() {
            Some(shared) => shared.serve_own(&call),
            None => Err(Error::internal("the gateway is gone")),
        };
        Box::pin(std::future::ready(reply))
    }
}

impl Shared {
    fn serve_own(&self, call: &Call) -> Result<Reply> {
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
            Operation::Resource { uri } => explaining::read(&view, uri),
            Operation::Completion { .. } => explaining::complete(&view, call),
            Operation::Tool { .. } | Operation::Prompt { .. } | Operation::Task { .. } => Err(
                Error::internal("the gateway was asked for what it does not serve itself"),
            ),
        }
    }

    fn discover(&self, call: &Call, view: &View) -> Reply {
        let mut result = serde_json::json!({ "capabilities": capabilities(view.features) });
        let instructions = match &call.scope {
            Scope::All => Some(self.instructions(call)),
            Scope::Source(_) => view.instructions.clone(),
        };
        if let Some(instructions) = instructions {
            result["instructions"] = instructions.into();
        }
        let result = Outcome::cacheable(result.into(), LIST_TTL, view.cache_scope);
        Reply::Done(result)
    }

    fn list(&self, view: &View, call: &Call, list: List, cursor: Option<&str>) -> Result<Reply> {
        let (seal, principal) = (&self.config.seal, &call.caller.principal);
        let start = view.place(list, 0);
        let start = match cursor {
            None => start,
            Some(cursor) => cursor::open(cursor, seal, principal, start)?,
        };
        let (mut page, next) = view.page(list, start.offset, self.config.page_size);
        if let Some(next) = &next {
            let cursor = RawJson::string(&next.cursor(seal, principal));
            page.set("nextCursor", cursor.as_str().to_owned());
        }
        // A cursor is good for the one who got it, so a list in several pages is no one else's.
        let scope = match start.offset == 0 && next.is_none() {
            true => view.cache_scope,
            false => CacheScope::Private,
        };
        let ttl = self.cache_lifetime(view, call, list);
        let page = Outcome::cacheable(page.write(), ttl, scope);
        Ok(Reply::Done(page))
    }

    /// How long a list stays as it is: as long as each of its parts does.
    fn cache_lifetime(&self, view: &View, call: &Call, list: List) -> Duration {
        let viewer = call.viewer();
        let known = view.in_list(list).filter_map(|part| match part {
            InList::Wholly(source) => self.sources[source].1.cache_lifetime(&viewer),
            InList::NotWholly => Some(Duration::ZERO),
        });
        known.min().map_or(LIST_TTL, |known| known.min(LIST_TTL))
    }

    /// Acknowledges what can be honoured, then tells each change until the gateway drains.
    fn listen(&self, view: &Arc<View>, call: &Call, mut filter: ChangeFilter) -> Reply {
        filter.tools &= view.features.tools;
        filter.prompts &= view.features.prompts;
        filter.resources &= view.features.resources;
        let watched: Vec<_> = filter
            .uris
            .iter()
            .filter_map(|uri| view.watched(uri))
            .collect();
        filter.uris = watched.iter().map(|one| one.spelled.clone()).collect();
        let watches: Vec<_> = watched
            .iter()
            .map(|one| self.sources[one.source].1.subscribe(&one.native))
            .collect();
        let interest = Interest {
            listener: Some(Arc::clone(&call.caller)),
            filter: filter.clone(),
            watched,
            only: self.only(&call.scope),
        };
        let followed = self.follow(view, call, &filter.tasks);
        let changes = self
            .hub
            .listen(interest)
            .map(|change| Ok(Event::Change(change)));
        let draining = self.draining.clone().cancelled_owned();
        let end = Event::Done(Outcome::complete(RawJson::empty_object()));
        // Said only when it is so: from then on no update is missed.
        let begun = async move {
            let watched = join_all(watches.into_iter().map(ResourceSubscription::establish));
            let (guards, (tasks, news)) = join(watched, followed).await;
            filter.tasks = tasks;
            let changes = stream::select(holding(changes, guards), news.map(Ok));
            let changes = changes.take_until(draining);
            stream::iter([Ok(Event::Acknowledged(filter))]).chain(changes)
        };
        let events = stream::once(begun).flatten().chain(stream::iter([Ok(end)]));
        Reply::Stream(events.boxed())
    }
}

/// The changes, and the sources' watches for as long as someone hears them.
fn holding<T: Send>(
    changes: impl Stream<Item = Result<Event>> + Send,
    watches: T,
) -> impl Stream<Item = Result<Event>> + Send {
    changes.map(move |change| {
        let _kept = &watches;
        change
    })
}

fn capabilities(features: Features) -> serde_json::Value {
    let mut all = serde_json::Map::new();
    let mut declare = |on: bool, name: &str, value: serde_json::Value| {
        if on {
            all.insert(name.to_owned(), value);
        }
    };
    let changes = || serde_json::json!({ "listChanged": true });
    declare(features.tools, "tools", changes());
    declare(features.prompts, "prompts", changes());
    let resources = serde_json::json!({ "listChanged": true, "subscribe": features.subscribe });
    declare(features.resources, "resources", resources);
    declare(features.completions, "completions", serde_json::json!({}));
    declare(features.logging, "logging", serde_json::json!({}));
    let extensions = serde_json::json!({ TASKS: {} });
    declare(features.tasks, "extensions", extensions);
    all.into()
}

/// The source of what does not exist: it has one error and gives it to the one who asked.
pub(super) struct Absent(Mutex<Option<Error>>);

impl Absent {
    pub(super) fn new(error: Error) -> Self {
        Self(Mutex::new(Some(error)))
    }
}

impl Source for Absent {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::default()
    }

    fn call(&self, _: Call) -> BoxFuture<'_, Result<Reply>> {
        let error = self.0.lock().take();
        let error = error.unwrap_or_else(|| Error::internal("a refused call was made twice"));
        Box::pin(std::future::ready(Err(error)))
    }
}
