//! The gateway as a source: what it answers for itself passes the same layers as all the rest.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream, StreamExt};

use super::Shared;
use super::view::View;
use crate::changes::Interest;
use crate::{
    Ask, Audience, Call, Catalog, Error, Event, Features, Filter, List, Outcome, Own, RawJson,
    Reply, Result, Source,
};

/// How long a client may keep a list without listening for changes.
const LIST_TTL: Duration = Duration::from_secs(60);

/// Answers discover, ping, the lists and listen.
pub(super) struct OwnSource(pub(super) Arc<Shared>);

impl Source for OwnSource {
    fn catalog(&self, _: &Audience<'_>) -> Arc<Catalog> {
        Arc::default()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(std::future::ready(self.serve(call)))
    }
}

impl OwnSource {
    fn serve(&self, call: Call) -> Result<Reply> {
        let view = self.0.view(&call.scope, &call.audience());
        match call.ask {
            Ask::Own(Own::Ping) => Ok(Reply::Done(Outcome::complete(RawJson::empty_object()))),
            Ask::Own(Own::Discover) => self.discover(&view),
            Ask::Own(Own::List { list, cursor }) => self.list(&view, list, cursor.as_deref()),
            Ask::Own(Own::Listen(filter)) => {
                let only = self.0.only(&call.scope);
                Ok(self.listen(&view, filter, only))
            }
            _ => Err(Error::internal(
                "the gateway was asked for what it does not serve itself",
            )),
        }
    }

    fn discover(&self, view: &View) -> Result<Reply> {
        let result = serde_json::json!({
            "capabilities": capabilities(view.features),
            "instructions": self.0.config.instructions,
        });
        Ok(Reply::Done(Outcome::cacheable(
            result.into(),
            LIST_TTL,
            view.cache_scope,
        )))
    }

    fn list(&self, view: &View, list: List, cursor: Option<&str>) -> Result<Reply> {
        let page = view.page(list, cursor, self.0.config.page_size)?;
        Ok(Reply::Done(Outcome::cacheable(
            page,
            LIST_TTL,
            view.cache_scope,
        )))
    }

    /// Acknowledges what can be honoured, then tells each change until the gateway drains.
    fn listen(&self, view: &View, mut filter: Filter, only: Option<usize>) -> Reply {
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
            .map(|one| self.0.sources[one.source].1.watch(&one.native))
            .collect();
        let interest = Interest {
            filter: filter.clone(),
            watched,
            only,
        };
        let changes = self
            .0
            .hub
            .listen(interest)
            .map(|change| Ok(Event::Change(change)));
        let draining = self.0.draining.clone().cancelled_owned();
        let end = Event::Done(Outcome::complete(RawJson::empty_object()));
        let events = stream::iter([Ok(Event::Acknowledged(filter))])
            .chain(holding(changes, watches).take_until(draining))
            .chain(stream::iter([Ok(end)]));
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
    fn catalog(&self, _: &Audience<'_>) -> Arc<Catalog> {
        Arc::default()
    }

    fn call(&self, _: Call) -> BoxFuture<'_, Result<Reply>> {
        let error = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let error = error.unwrap_or_else(|| Error::internal("a refused call was made twice"));
        Box::pin(std::future::ready(Err(error)))
    }
}
