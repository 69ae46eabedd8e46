//! Streams the updates of one client's tasks: on a separate change stream, because tasks belong to
//! the client that started them.
//!
//! Must not know: the ids by which the client knows the tasks.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tidegate_core::{ChangeFilter, ClientContext, Operation, RawJson, TaskOperation, TaskUpdates};
use tidegate_mcp::revision::client::{
    LegacyTask, LegacyTaskStatus, ServerNotification, modern_headers,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use crate::backoff::Backoff;
use crate::session::own_requests::send_request;
use crate::session::{Connection, ResponseStream, ServerMessage};

/// How long a server may take to acknowledge a stream, while its client waits.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it may take to return the state of one task.
const GET_TIMEOUT: Duration = Duration::from_secs(5);

/// The id of a task and its state.
type TaskUpdate = (String, RawJson);

/// Provides the connection on which the tasks of a client were started, if it is open.
pub(crate) type TaskConnections = Box<dyn Fn() -> Option<Arc<Connection>> + Send + Sync>;

/// The task stream of one client.
struct TaskStream {
    connections: TaskConnections,
    /// The tasks that have not ended.
    ids: BTreeSet<String>,
    client: ClientContext,
    backoff: Backoff,
    _permit: OwnedSemaphorePermit,
}

/// Opens a stream for these tasks. Tasks that the server does not acknowledge are left out.
pub(crate) async fn open(
    connections: TaskConnections,
    ids: BTreeSet<String>,
    client: ClientContext,
    permit: OwnedSemaphorePermit,
) -> TaskUpdates {
    let mut stream = TaskStream {
        connections,
        ids,
        // Neither belongs on such a stream.
        client: ClientContext {
            log_level: None,
            progress: None,
            ..client
        },
        backoff: Backoff::for_streams(),
        _permit: permit,
    };
    let Some((messages, acknowledged)) = stream.listen().await else {
        return TaskUpdates::default();
    };
    stream.ids = acknowledged;
    TaskUpdates {
        ids: stream.ids.clone(),
        updates: stream.updates(messages),
    }
}

impl TaskStream {
    fn connection(&self) -> Option<Arc<Connection>> {
        (self.connections)()
    }

    /// Opens a stream. Returns it with the tasks that the server acknowledged, if there are any.
    async fn listen(&self) -> Option<(ResponseStream, BTreeSet<String>)> {
        let connection = self.connection()?;
        if !connection.facts.features.tasks {
            return None;
        }
        let filter = ChangeFilter {
            tasks: self.ids.clone(),
            ..ChangeFilter::default()
        };
        let encoder = connection.encoder(self.client.clone());
        let request = encoder.listen(connection.ids.next(), &filter);
        let headers = modern_headers(connection.facts.revision, &request, None);
        let mut messages = connection.channel.request(request, headers);
        let acknowledged = timeout(ACKNOWLEDGE_TIMEOUT, acknowledged_tasks(&mut messages));
        let acknowledged = acknowledged.await.ok()??;
        let tasks: BTreeSet<_> = acknowledged.intersection(&self.ids).cloned().collect();
        (!tasks.is_empty()).then_some((messages, tasks))
    }

    /// The updates, until every task has ended.
    fn updates(self, messages: ResponseStream) -> BoxStream<'static, TaskUpdate> {
        let start = (self, messages, VecDeque::new());
        stream::unfold(start, |(mut stream, mut messages, mut queued)| async {
            loop {
                if let Some(update) = queued.pop_front() {
                    stream.forget_ended(&update);
                    return Some((update, (stream, messages, queued)));
                }
                if stream.ids.is_empty() {
                    return None;
                }
                match messages.next().await {
                    Some(Ok(ServerMessage::Notification(ServerNotification::Task {
                        id,
                        task,
                        ..
                    }))) => {
                        stream.backoff.reset();
                        if stream.ids.contains(&id) {
                            queued.push_back((id, task));
                        }
                    }
                    Some(Ok(ServerMessage::Notification(_))) => {}
                    _ => (messages, queued) = stream.reopen().await,
                }
            }
        })
        .boxed()
    }

    /// A task that has ended has no further updates.
    fn forget_ended(&mut self, (id, task): &TaskUpdate) {
        if LegacyTask::from_task_result(task)
            .is_some_and(|task| task.status == LegacyTaskStatus::Ended)
        {
            self.ids.remove(id);
        }
    }

    /// Reopens a stream that ended, and fetches the states that may have been missed.
    async fn reopen(&mut self) -> (ResponseStream, VecDeque<TaskUpdate>) {
        loop {
            sleep(self.backoff.delay()).await;
            if let Some((messages, tasks)) = self.listen().await {
                return (messages, self.fetch(&tasks).await);
            }
        }
    }

    async fn fetch(&self, ids: &BTreeSet<String>) -> VecDeque<TaskUpdate> {
        let mut updates = VecDeque::new();
        for id in ids {
            if let Some(task) = self.fetch_task(id).await {
                updates.push_back((id.clone(), task));
            }
        }
        updates
    }

    /// The state of a task; `None` if the server does not return it.
    async fn fetch_task(&self, id: &str) -> Option<RawJson> {
        let connection = self.connection()?;
        let operation = Operation::Task {
            operation: TaskOperation::Get,
            id: id.to_owned(),
        };
        let encoder = connection.encoder(self.client.clone());
        let params = RawJson::empty_object();
        let request = encoder.call(connection.ids.next(), &operation, &params, None)?;
        let headers = modern_headers(connection.facts.revision, &request, None);
        let response = send_request(connection.channel.as_ref(), request, headers);
        timeout(GET_TIMEOUT, response).await.ok()?.ok()?.ok()
    }
}

/// The tasks that a stream acknowledges; `None` if it ends first.
async fn acknowledged_tasks(messages: &mut ResponseStream) -> Option<BTreeSet<String>> {
    loop {
        match messages.next().await? {
            Ok(ServerMessage::Notification(ServerNotification::Acknowledged { tasks, .. })) => {
                return Some(tasks);
            }
            Ok(ServerMessage::Notification(_)) => {}
            _ => return None,
        }
    }
}
