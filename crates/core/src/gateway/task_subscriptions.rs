//! Subscriptions to tasks. Each change subscription of a client has its own at the sources: tasks are
//! private, so their updates never pass the change hub.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::{self, BoxStream, StreamExt, select_all};

use super::GatewayInner;
use super::rewrite::ResponseRewriter;
use super::task_ids;
use super::view::View;
use crate::{Call, Event, Operation, RawJson, TaskOperation, TaskUpdates, Viewer};

/// The tasks at one source that a client subscribed to.
struct SourceTasks {
    /// The client's ids of each task, by the task's native id.
    client_ids: BTreeMap<String, Vec<String>>,
    rewriter: ResponseRewriter,
}

impl GatewayInner {
    /// Subscribes to the tasks with these ids. Returns the ids that the sources report on, and their
    /// updates.
    pub(super) fn subscribe_to_tasks(
        &self,
        view: &Arc<View>,
        call: &Call,
        ids: &BTreeSet<String>,
    ) -> impl Future<Output = (BTreeSet<String>, BoxStream<'static, Event>)> + Send + use<> {
        let mut by_source = BTreeMap::<usize, BTreeMap<String, Vec<String>>>::new();
        for id in ids {
            let opened = task_ids::open(&self.config.seal, &view.names, &call.caller, id);
            if let Ok((source, native)) = opened {
                let client_ids = by_source.entry(source).or_default();
                client_ids.entry(native).or_default().push(id.clone());
            }
        }
        let subscriptions = by_source.into_iter().map(|(number, client_ids)| {
            let native_ids = client_ids.keys().cloned().collect();
            let viewer = Viewer {
                caller: &call.caller,
                client: &call.client,
            };
            let updates = view.source(number).task_updates(native_ids, &viewer);
            let tasks = SourceTasks {
                client_ids,
                rewriter: ResponseRewriter {
                    names: Arc::clone(&view.names),
                    source: number,
                    operation: Operation::Task {
                        operation: TaskOperation::Get,
                        id: String::new(),
                    },
                    requested_uri: None,
                    task_ids: None,
                },
            };
            async move { tasks.subscribed(updates.await) }
        });
        let subscriptions = join_all(subscriptions);
        async {
            let (ids, updates): (Vec<_>, Vec<_>) = subscriptions.await.into_iter().unzip();
            let ids = ids.into_iter().flatten().collect();
            (ids, select_all(updates).boxed())
        }
    }
}

impl SourceTasks {
    /// The client's ids of the tasks that the source reports on, and their updates.
    fn subscribed(self, updates: TaskUpdates) -> (Vec<String>, BoxStream<'static, Event>) {
        let ids = updates.ids.iter();
        let ids = ids.filter_map(|id| self.client_ids.get(id));
        let ids = ids.flatten().cloned().collect();
        let updates = updates.updates;
        let events = updates.flat_map(move |(id, task)| stream::iter(self.events(&id, task)));
        (ids, events.boxed())
    }

    /// The new state of a task, under each id that the client has for it.
    fn events(&self, id: &str, task: RawJson) -> Vec<Event> {
        let task = self.rewriter.rewrite_result(&task).unwrap_or(task);
        let client_ids = self.client_ids.get(id).into_iter().flatten();
        let tasks = client_ids.filter_map(|id| task_ids::with_task_id(id, &task));
        tasks.map(Event::Task).collect()
    }
}
