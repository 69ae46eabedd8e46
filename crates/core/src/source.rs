//! The trait behind everything the gateway offers.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, StreamExt};

use crate::{
    AffinityKey, Call, Caller, Catalog, ChangeStream, ExtensionMembers, ExtensionNotification,
    GaugeValue, Health, LogStream, LoggingLevel, RawJson, Reply, Result, Viewer,
};

/// A source of tools, prompts and resources: a remote MCP server, or one built into the gateway.
pub trait Source: Send + Sync + 'static {
    /// What this viewer can use now. A snapshot: must not block.
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog>;

    /// How long the catalog of this viewer stays valid; `None` if the source announces all changes.
    fn cache_lifetime(&self, _viewer: &Viewer<'_>) -> Option<Duration> {
        None
    }

    /// Serves one call.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>>;

    /// The changes from now on.
    fn changes(&self) -> ChangeStream {
        ChangeStream::never()
    }

    /// The log messages outside of calls, from now on.
    fn log_messages(&self) -> LogStream {
        stream::empty().boxed()
    }

    /// Subscribes a viewer to the updates of a resource, which then come through `changes`. Of a built-in
    /// source, the gateway subscribes only to what can be read; a server decides itself.
    fn subscribe(&self, _uri: &str, _viewer: &Viewer<'_>) -> ResourceSubscription {
        ResourceSubscription::default()
    }

    /// Subscribes one client to tasks, by the source's own ids. Must not take long.
    fn task_updates(
        &self,
        _ids: BTreeSet<String>,
        _viewer: &Viewer<'_>,
    ) -> BoxFuture<'static, TaskUpdates> {
        Box::pin(std::future::ready(TaskUpdates::default()))
    }

    /// Subscribes one client to notifications of extensions that the gateway does not know, by the members
    /// of its filter. Must not take long.
    fn extension_notifications(
        &self,
        _members: ExtensionMembers,
        _viewer: &Viewer<'_>,
    ) -> BoxFuture<'static, ExtensionSubscription> {
        Box::pin(std::future::ready(ExtensionSubscription::default()))
    }

    /// Waits until the source was reached once, or has failed once.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Waits for a catalog that is being loaded, for as long as a list may wait.
    fn wait_for_catalog(&self, _viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether its answers depend on the other sources, such as a health report or an index. Its calls
    /// wait for sources that are still starting.
    fn depends_on_other_sources(&self) -> bool {
        false
    }

    /// A list of this viewer was answered from a preliminary catalog, so the final one has to be
    /// announced.
    fn served_preliminary(&self, _viewer: &Viewer<'_>) {}

    /// Reloads the catalog of this viewer, unless it was reloaded recently. Called when a client
    /// requests a URI that no source lists. Must not take long.
    fn refresh(&self, _viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The roots of the client with this affinity key changed.
    fn roots_changed(&self, _affinity: AffinityKey) {}

    /// The client with this affinity key wants log messages from this level on.
    fn log_level_changed(&self, _affinity: AffinityKey, _level: LoggingLevel) {}

    /// The client with this affinity key has ended its session.
    fn client_gone(&self, _affinity: AffinityKey) {}

    /// Sends a notification of an extension that the gateway does not know. Must not block.
    fn notify(&self, _viewer: &Viewer<'_>, _method: &str, _params: &RawJson) {}

    fn health(&self) -> Health {
        Health::Healthy
    }

    /// Details of a failure, such as the output of a process. For administrators only: they may
    /// contain what other callers must not see.
    fn failure_details(&self) -> Option<String> {
        None
    }

    /// How often the source has connected. A higher number than before means that it is back after a
    /// failure.
    fn connects(&self) -> u64 {
        0
    }

    /// The open processes or sessions of each principal. For administrators only.
    fn connections(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// The models that clients of this source used for its sampling requests, and how often, as far as
    /// the caller may know.
    fn sampled_models(&self, _caller: &Caller) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    /// Numbers for the health report.
    fn gauges(&self) -> Vec<GaugeValue> {
        Vec::new()
    }
}

/// A subscription to one resource. Dropping it unsubscribes.
#[derive(Default)]
pub struct ResourceSubscription {
    guard: Option<Box<dyn Any + Send>>,
    established: Option<BoxFuture<'static, Result<()>>>,
}

impl ResourceSubscription {
    /// A subscription that ends when `guard` is dropped. `established` completes when no update can be
    /// missed any more; it must not take long.
    pub fn new(
        guard: impl Any + Send,
        established: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self::refusable(guard, established.map(Ok))
    }

    /// Like [`new`](Self::new), for a source that may refuse the subscription with an error.
    pub fn refusable(
        guard: impl Any + Send,
        established: impl Future<Output = Result<()>> + Send + 'static,
    ) -> Self {
        Self {
            guard: Some(Box::new(guard)),
            established: Some(Box::pin(established)),
        }
    }

    /// Keeps `guard` until the subscription is dropped.
    #[must_use]
    pub fn with_guard(self, guard: impl Any + Send) -> Self {
        Self {
            guard: Some(Box::new((self.guard, guard))),
            established: self.established,
        }
    }

    /// Waits until no update can be missed any more; returns the guard, or why the source refused.
    pub(crate) async fn establish(self) -> Result<Option<Box<dyn Any + Send>>> {
        if let Some(established) = self.established {
            established.await?;
        }
        Ok(self.guard)
    }
}

/// A subscription to tasks. Dropping it unsubscribes.
pub struct TaskUpdates {
    /// The ids of the tasks that the source reports on.
    pub ids: BTreeSet<String>,
    /// The id of a task and its new state.
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

/// A subscription to notifications of extensions. Dropping it unsubscribes.
pub struct ExtensionSubscription {
    /// The members of the filter that the source honours.
    pub members: ExtensionMembers,
    pub notifications: BoxStream<'static, ExtensionNotification>,
}

impl Default for ExtensionSubscription {
    fn default() -> Self {
        Self {
            members: ExtensionMembers::new(),
            notifications: stream::empty().boxed(),
        }
    }
}

/// A source with its id.
pub(crate) type NamedSource = (crate::SourceId, Arc<dyn Source>);
