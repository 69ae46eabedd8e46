//! The one trait behind everything the gateway offers.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};

use crate::{
    AffinityKey, Call, Caller, Catalog, ChangeStream, ClientContext, GaugeValue, Health, RawJson,
    Reply, Result,
};

/// A source of tools, prompts and resources. A remote MCP server and a table in SQLite are both one.
pub trait Source: Send + Sync + 'static {
    /// What this viewer can use now. A snapshot: must not block.
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog>;

    /// How long what this viewer sees stays as it is, as far as that is known. None where all
    /// changes are told.
    fn cache_lifetime(&self, _viewer: &Viewer<'_>) -> Option<Duration> {
        None
    }

    /// Serves one call.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>>;

    /// What changes from now on.
    fn changes(&self) -> ChangeStream {
        ChangeStream::never()
    }

    /// Someone wants to hear of the updates of a resource, for as long as the watch is kept.
    fn subscribe(&self, _uri: &str) -> ResourceSubscription {
        ResourceSubscription::default()
    }

    /// Someone wants to hear of calls that go on after their answer, by the source's own ids. Must not
    /// take long.
    fn task_updates(
        &self,
        _ids: BTreeSet<String>,
        _client: &ClientContext,
    ) -> BoxFuture<'static, TaskUpdates> {
        Box::pin(std::future::ready(TaskUpdates::default()))
    }

    /// Waits until the source has been reached once, or is known not to be reached soon.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Waits for a catalog that is on its way, for as long as a list may wait.
    fn wait_for_catalog(&self, _viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Someone asks for what nobody lists: takes in anew what this viewer can use, unless that
    /// was done a moment ago. Never takes long.
    fn refresh(&self, _viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The client of a conversation works in other folders than before.
    fn roots_changed(&self, _affinity: AffinityKey) {}

    fn health(&self) -> Health {
        Health::Good
    }

    /// Numbers worth showing beside how it is.
    fn gauges(&self) -> Vec<GaugeValue> {
        Vec::new()
    }
}

/// Someone's interest in a resource. Dropping it ends it.
#[derive(Default)]
pub struct ResourceSubscription {
    guard: Option<Box<dyn Any + Send>>,
    established: Option<BoxFuture<'static, ()>>,
}

impl ResourceSubscription {
    /// An interest that ends when `guard` is dropped, and of which `established` tells when no update is
    /// missed any more. It must not take long.
    pub fn new(
        guard: impl Any + Send,
        established: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self {
            guard: Some(Box::new(guard)),
            established: Some(Box::pin(established)),
        }
    }

    /// Waits until no update is missed any more; gives what keeps it so.
    pub(crate) async fn establish(self) -> Option<Box<dyn Any + Send>> {
        if let Some(established) = self.established {
            established.await;
        }
        self.guard
    }
}

/// Calls that go on after their answer, of which a source tells one listener. Dropping it ends that.
pub struct TaskUpdates {
    /// Those it tells of, from now on.
    pub ids: BTreeSet<String>,
    /// The id of one, and how it is.
    pub updates: BoxStream<'static, (String, RawJson)>,
}

impl Default for TaskUpdates {
    fn default() -> Self {
        Self {
            ids: BTreeSet::new(),
            updates: stream::empty().boxed(),
        }
    }
}

/// For whom a list is made: who asks, and what its client can do. Servers list by both.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'a> {
    pub caller: &'a Caller,
    pub client: &'a ClientContext,
}

/// A source's name: `[a-z][a-z0-9-]{0,31}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(Arc<str>);

impl SourceId {
    /// The name under which the gateway answers for itself.
    pub fn gateway() -> Self {
        Self("gateway".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SourceId {
    type Err = InvalidSourceId;

    fn from_str(text: &str) -> Result<Self, InvalidSourceId> {
        let mut bytes = text.bytes();
        let starts_well = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
        let goes_on_well =
            bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if starts_well && goes_on_well && text.len() <= 32 {
            Ok(Self(text.into()))
        } else {
            Err(InvalidSourceId)
        }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Not a name a source can have.
#[derive(Debug)]
pub struct InvalidSourceId;

impl fmt::Display for InvalidSourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a source's name is a lower-case letter, then up to 31 of a-z, 0-9 and `-`")
    }
}

impl std::error::Error for InvalidSourceId {}
