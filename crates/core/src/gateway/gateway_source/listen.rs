//! Subscriptions to changes.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all, join3, ready};
use futures_util::stream::{self, StreamExt};
use tokio::sync::Semaphore;

use super::super::GatewayInner;
use super::super::view::View;
use crate::changes::{Interest, SubscribedResource, covering_uris};
use crate::{
    Call, Change, ChangeFilter, Error, Event, ExtensionMembers, ExtensionSubscription, Operation,
    Outcome, RawJson, Reply, ResourceSubscription, Result, Scope, Source, on_end,
};

/// Resources of one subscription that are read at the same time.
const MAX_CONCURRENT_READS: usize = 8;

/// A subscription that is being established.
struct PendingSubscription {
    resource: SubscribedResource,
    subscription: ResourceSubscription,
    /// Of a built-in source: the call that reads the resource.
    read: Option<(Arc<dyn Source>, Call)>,
}

type SubscriptionGuard = Option<Box<dyn Any + Send>>;

impl GatewayInner {
    /// Acknowledges the part of the filter that can be honoured, then sends each change until the
    /// gateway shuts down.
    pub(super) fn listen(&self, view: &Arc<View>, call: &Call, mut filter: ChangeFilter) -> Reply {
        filter.tools &= view.features.tools;
        filter.prompts &= view.features.prompts;
        filter.resources &= view.features.resources;
        let (mut resources, mut pending, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for uri in &filter.uris {
            let resource = view.names.subscribable(uri);
            let subscription = resource.as_ref().and_then(|it| subscribe(view, call, it));
            match (resource, subscription) {
                (Some(resource), Some(subscription)) => {
                    resources.push(resource);
                    pending.push(subscription);
                }
                _ => refused.push((uri.clone(), Error::not_subscribable(uri))),
            }
        }
        let interest = Interest {
            caller: Some(Arc::clone(&call.caller)),
            filter: filter.clone(),
            resources,
            only: match &call.scope {
                Scope::All => None,
                Scope::Source(id) => Some(id.clone()),
            },
        };
        let tasks = self.subscribe_to_tasks(view, call, &filter.tasks);
        let members = std::mem::take(&mut filter.extension_members);
        let extensions = self.subscribe_to_extensions(call, members);
        let changes = self.hub.listen(interest);
        let draining = self.draining.clone().cancelled_owned();
        // Acknowledged only when established: from then on no update is missed.
        let established = async move {
            let reads = Semaphore::new(MAX_CONCURRENT_READS);
            let subscriptions = pending.into_iter().map(|it| it.establish(&reads));
            let (subscriptions, (task_ids, task_events), extensions) =
                join3(join_all(subscriptions), tasks, extensions).await;
            let mut guards = Vec::new();
            for (uri, established) in subscriptions {
                match established {
                    Ok(guard) => guards.push(guard),
                    Err(error) => refused.push((uri, error)),
                }
            }
            for (uri, _) in &refused {
                filter.uris.remove(uri);
            }
            filter.tasks = task_ids;
            filter.extension_members = extensions.members;
            let uris = filter.uris.clone();
            let changes =
                changes.filter(move |change| std::future::ready(is_accepted(&uris, change)));
            let changes = changes.map(|change| Ok(Event::Change(change)));
            let acknowledged = stream::iter([Ok(Event::Acknowledged { filter, refused })]);
            let notifications = extensions.notifications;
            let notifications = notifications
                .map(|notification| Ok(Event::Change(Change::Extension(notification.into()))));
            let changes = stream::select(changes, task_events.map(Ok));
            let changes = stream::select(changes, notifications);
            let end = Event::Done(Outcome::complete(RawJson::empty_object()));
            let events = acknowledged
                .chain(changes.take_until(draining))
                .chain(stream::iter([Ok(end)]));
            on_end(events.boxed(), guards, |_, _| ())
        };
        Reply::Stream(stream::once(established).flatten().boxed())
    }

    /// Subscribes to notifications of extensions. Only the source of an endpoint knows what the members
    /// mean; the endpoint of all sources has none.
    fn subscribe_to_extensions(
        &self,
        call: &Call,
        members: ExtensionMembers,
    ) -> BoxFuture<'static, ExtensionSubscription> {
        let source = match &call.scope {
            Scope::Source(_) if !members.is_empty() => self.configured_in(&call.scope).next(),
            _ => None,
        };
        match source {
            Some((_, source)) => source.extension_notifications(members, &call.viewer()),
            None => Box::pin(ready(ExtensionSubscription::default())),
        }
    }
}

/// Subscribes to a resource at its source.
fn subscribe(
    view: &View,
    call: &Call,
    resource: &SubscribedResource,
) -> Option<PendingSubscription> {
    let number = view.names.source_named(resource.source.as_str())?;
    let source = view.source(number);
    let is_built_in = view.names.sources()[number].catalog.is_built_in;
    let read = is_built_in.then(|| {
        let uri = resource.native.clone();
        let read = Call {
            source: resource.source.clone(),
            params: serde_json::json!({ "uri": uri }).into(),
            operation: Operation::Resource { uri },
            ..call.clone()
        };
        (Arc::clone(source), read)
    });
    Some(PendingSubscription {
        resource: resource.clone(),
        subscription: source.subscribe(&resource.native, &call.viewer()),
        read,
    })
}

impl PendingSubscription {
    /// Waits until no update can be missed any more. What can be read can be subscribed to, and nothing
    /// else: a built-in source is asked for the resource, a server decides itself.
    async fn establish(self, reads: &Semaphore) -> (String, Result<SubscriptionGuard>) {
        let established = self.subscription.establish().await;
        let is_readable = match &self.read {
            Some((source, read)) => {
                let _permit = reads.acquire().await;
                can_read(source.as_ref(), read.clone()).await
            }
            None => true,
        };
        let established = match (established, is_readable) {
            (Ok(guard), true) => Ok(guard),
            (Ok(_), false) => Err(Error::not_subscribable(&self.resource.requested)),
            (Err(error), _) => Err(with_requested_uri(error, &self.resource)),
        };
        (self.resource.requested, established)
    }
}

/// The error of a source, with the URI that the client requested.
fn with_requested_uri(error: Error, resource: &SubscribedResource) -> Error {
    let data = error.data().and_then(RawJson::object);
    let data = data.and_then(|mut data| {
        let is_native = data.string("uri")? == resource.native;
        let requested = RawJson::string(&resource.requested);
        data.set("uri", requested.as_str().to_owned());
        is_native.then(|| data.write())
    });
    match data {
        Some(data) => error.with_data(data),
        None => error,
    }
}

async fn can_read(source: &dyn Source, call: Call) -> bool {
    match source.call(call).await {
        Ok(reply) => reply.into_outcome().await.is_ok(),
        Err(_) => false,
    }
}

/// Whether a change is part of the acknowledged filter.
fn is_accepted(uris: &BTreeSet<String>, change: &Change) -> bool {
    match change {
        Change::ResourceUpdated(uri) => covering_uris(uri).any(|covering| uris.contains(covering)),
        _ => true,
    }
}
