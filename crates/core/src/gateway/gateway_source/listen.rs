//! Subscriptions to changes.

use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all, join3, ready};
use futures_util::stream::{self, StreamExt};

use super::super::GatewayInner;
use super::super::view::View;
use crate::changes::Interest;
use crate::{
    Call, Change, ChangeFilter, Event, ExtensionMembers, ExtensionSubscription, Outcome, RawJson,
    Reply, ResourceSubscription, Scope, Viewer, on_end,
};

impl GatewayInner {
    /// Acknowledges the part of the filter that can be honoured, then sends each change until the
    /// gateway shuts down.
    pub(super) fn listen(&self, view: &Arc<View>, call: &Call, mut filter: ChangeFilter) -> Reply {
        filter.tools &= view.features.tools;
        filter.prompts &= view.features.prompts;
        filter.resources &= view.features.resources;
        let resources = filter.uris.iter();
        let resources: Vec<_> = resources
            .filter_map(|uri| view.names.subscribable(uri))
            .collect();
        filter.uris = resources.iter().map(|one| one.requested.clone()).collect();
        let viewer = Viewer {
            caller: &call.caller,
            client: &call.client,
        };
        let subscriptions: Vec<_> = resources
            .iter()
            .filter_map(|resource| {
                let number = view.names.source_named(resource.source.as_str())?;
                Some(view.source(number).subscribe(&resource.native, &viewer))
            })
            .collect();
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
        let changes = changes.map(|change| Ok(Event::Change(change)));
        let draining = self.draining.clone().cancelled_owned();
        // Acknowledged only when established: from then on no update is missed.
        let established = async move {
            let subscriptions = subscriptions.into_iter();
            let subscriptions = join_all(subscriptions.map(ResourceSubscription::establish));
            let (guards, (task_ids, task_events), extensions) =
                join3(subscriptions, tasks, extensions).await;
            filter.tasks = task_ids;
            filter.extension_members = extensions.members;
            let acknowledged = stream::iter([Ok(Event::Acknowledged(filter))]);
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
