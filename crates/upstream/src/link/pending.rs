//! The requests under way on a link where all answers come one way, and whom each word is for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use futures_util::stream;
use tidegate_mcp::revision::client::Said;
use tidegate_mcp::{Answer, RequestId};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::{Heard, Talk, unavailable};

/// Words that may wait for one request before the oldest reader is too slow.
const WAITING: usize = 256;

/// Requests by the id we gave them.
#[derive(Default)]
pub(crate) struct Pending {
    open: Mutex<HashMap<u64, mpsc::Sender<Heard>>>,
}

impl Pending {
    /// Puts a request on the list. `gone` is called if it is dropped before its answer.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: u64,
        gone: impl FnOnce(u64) + Send + 'static,
    ) -> Talk {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.lock().insert(id, sender);
        let ticket = Ticket {
            pending: Arc::clone(self),
            id,
            gone: Some(Box::new(gone)),
        };
        let heard = stream::unfold((receiver, Some(ticket)), |(mut receiver, ticket)| async {
            let mut ticket = ticket?;
            match receiver.recv().await {
                Some(Heard::Answer(answer)) => {
                    ticket.gone = None;
                    Some((Ok(Heard::Answer(answer)), (receiver, None)))
                }
                Some(said) => Some((Ok(said), (receiver, Some(ticket)))),
                None => {
                    ticket.gone = None;
                    Some((Err(broken()), (receiver, None)))
                }
            }
        });
        heard.boxed()
    }

    /// Hands an answer to the request it is for. One that nobody waits for is false.
    pub(crate) async fn answer(&self, id: &RequestId, answer: Answer) -> bool {
        let sender = id
            .key()
            .parse()
            .ok()
            .and_then(|id: u64| self.lock().remove(&id));
        match sender {
            Some(sender) => sender.send(Heard::Answer(answer)).await.is_ok(),
            None => false,
        }
    }

    /// Hands a word to the request it belongs to: progress by its token, a log message to the only
    /// one there is. Others belong to no request.
    pub(crate) fn say(&self, said: Said) -> Option<Said> {
        let open = self.lock();
        let sender = match &said {
            Said::Progress { token, .. } => token.parse().ok().and_then(|id: u64| open.get(&id)),
            Said::Log { .. } if open.len() == 1 => open.values().next(),
            _ => return Some(said),
        };
        if let Some(sender) = sender {
            // A reader that is too slow for its own progress misses some of it.
            sender.try_send(Heard::Said(said)).ok();
        }
        None
    }

    /// Hands a question to the request it belongs to. Nothing links the two on a pipe, so it is the
    /// only one under way, or none: then the question comes back.
    pub(crate) fn ask(&self, question: Heard) -> Option<Heard> {
        let open = self.lock();
        match open.values().next().filter(|_| open.len() == 1) {
            Some(sender) => sender
                .try_send(question)
                .err()
                .map(TrySendError::into_inner),
            None => Some(question),
        }
    }

    /// Nothing more will come: every request under way has failed.
    pub(crate) fn fail(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, mpsc::Sender<Heard>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request under way.
struct Ticket {
    pending: Arc<Pending>,
    id: u64,
    gone: Option<Gone>,
}

type Gone = Box<dyn FnOnce(u64) + Send>;

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pending.lock().remove(&self.id);
        if let Some(gone) = self.gone.take() {
            gone(self.id);
        }
    }
}

fn broken() -> tidegate_core::Error {
    unavailable("the source went away before it answered")
}
