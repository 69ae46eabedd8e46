//! Questions about tasks. They name their task, and may arrive when no request is in flight, or before
//! the response that creates the task.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use parking_lot::Mutex;
use tidegate_mcp::revision::client::related_task;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::{ResponseStream, ServerMessage};

/// Questions that may wait for one task, and for tasks that do not exist yet.
const MAX_QUEUED_QUESTIONS: usize = 64;
const MAX_EARLY: usize = 16;

/// The tasks of one connection whose calls are in flight.
#[derive(Clone, Default)]
pub(super) struct TaskQuestions(Arc<Mutex<Queues>>);

#[derive(Default)]
struct Queues {
    tasks: HashMap<String, mpsc::Sender<ServerMessage>>,
    /// Questions that arrived before their task, oldest first.
    early: VecDeque<(String, ServerMessage)>,
}

impl TaskQuestions {
    /// The questions about a task, until the stream is dropped.
    pub(super) fn subscribe(&self, task: &str) -> ResponseStream {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_QUESTIONS);
        let mut queues = self.0.lock();
        let (early, others) = std::mem::take(&mut queues.early)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(about, _)| about == task);
        queues.early = others;
        for (_, question) in early {
            sender.try_send(question).ok();
        }
        queues.tasks.insert(task.to_owned(), sender);
        drop(queues);
        let guard = SubscriptionGuard {
            questions: self.clone(),
            task: task.to_owned(),
        };
        stream::unfold((receiver, guard), |(mut receiver, guard)| async {
            let question = receiver.recv().await?;
            Some((Ok(question), (receiver, guard)))
        })
        .boxed()
    }

    /// Delivers a question to the task that it names. Returns a question that names no task, or
    /// for which there is no space.
    pub(super) fn ask(&self, question: ServerMessage) -> Option<ServerMessage> {
        let task = match &question {
            ServerMessage::Question { params, .. } => related_task(params),
            _ => None,
        };
        let Some(task) = task else {
            return Some(question);
        };
        let mut queues = self.0.lock();
        match queues.tasks.get(&task) {
            Some(sender) => sender
                .try_send(question)
                .err()
                .map(TrySendError::into_inner),
            None if queues.early.len() < MAX_EARLY => {
                queues.early.push_back((task, question));
                None
            }
            None => Some(question),
        }
    }
}

/// Removes a task when its stream of questions is dropped.
struct SubscriptionGuard {
    questions: TaskQuestions,
    task: String,
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        self.questions.0.lock().tasks.remove(&self.task);
    }
}
