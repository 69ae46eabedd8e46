//! Questions about tasks: they say which task they are about, and may come when no request is under
//! way, or before the task is known here.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use parking_lot::{Mutex, MutexGuard};
use tidegate_mcp::revision::client::related_task;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::{Heard, Talk};

/// Questions that may wait for one task, and for tasks that are not known yet.
const WAITING: usize = 64;
const MOST_EARLY: usize = 16;

/// The tasks on one link whose calls are under way.
#[derive(Default)]
pub(crate) struct Adopted(Mutex<State>);

#[derive(Default)]
struct State {
    tasks: HashMap<String, mpsc::Sender<Heard>>,
    /// What came before its task, oldest first.
    early: VecDeque<(String, Heard)>,
}

impl Adopted {
    /// What is asked about a task, for as long as it is listened to.
    pub(crate) fn adopt(self: &Arc<Self>, task: &str) -> Talk {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut state = self.lock();
        let (ours, others) = std::mem::take(&mut state.early)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(about, _)| about == task);
        state.early = others;
        for (_, question) in ours {
            sender.try_send(question).ok();
        }
        state.tasks.insert(task.to_owned(), sender);
        drop(state);
        let listening = Listening {
            adopted: Arc::clone(self),
            task: task.to_owned(),
        };
        let heard = stream::unfold((receiver, listening), |(mut receiver, listening)| async {
            let question = receiver.recv().await?;
            Some((Ok(question), (receiver, listening)))
        });
        heard.boxed()
    }

    /// Hands a question to the task that it names. One that names none, or none that there is room
    /// for, comes back.
    pub(crate) fn ask(&self, question: Heard) -> Option<Heard> {
        let task = match &question {
            Heard::Question { params, .. } => related_task(params),
            _ => None,
        };
        let Some(task) = task else {
            return Some(question);
        };
        let mut state = self.lock();
        match state.tasks.get(&task) {
            Some(sender) => sender
                .try_send(question)
                .err()
                .map(TrySendError::into_inner),
            None if state.early.len() < MOST_EARLY => {
                state.early.push_back((task, question));
                None
            }
            None => Some(question),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

/// Forgets a task that nobody listens to any more.
struct Listening {
    adopted: Arc<Adopted>,
    task: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.adopted.lock().tasks.remove(&self.task);
    }
}
