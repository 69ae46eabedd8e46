//! The requests under way on a link where all answers come one way, and whom each word is for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use futures_util::stream;
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{QuestionKind, Result};
use tidegate_mcp::revision::Method;
use tidegate_mcp::revision::client::ServerNotification;
use tidegate_mcp::{RequestId, ResponseBody};
use tokio::sync::mpsc;

use super::task_questions::Adopted;
use super::{Heard, Talk, unavailable};

/// Words that may wait for one request before the oldest reader is too slow.
const WAITING: usize = 256;

/// Questions about folders that may wait for a call.
const MOST_HELD: usize = 16;

/// Requests by the id we gave them.
#[derive(Default)]
pub(crate) struct Pending {
    open: Mutex<Open>,
    /// What is asked about tasks, which outlive the requests that they began as.
    pub(crate) tasks: Arc<Adopted>,
    /// Whether something was asked that nothing links to a request.
    asks_anywhere: AtomicBool,
}

#[derive(Default)]
struct Open {
    requests: HashMap<u64, Waiting>,
    /// Whether all calls are of one client, which shows its folders.
    shows_folders: bool,
    /// What was asked about them when no call was under way.
    held: Vec<Heard>,
    /// No answer will come any more.
    ended: bool,
}

/// A request under way.
struct Waiting {
    sender: mpsc::Sender<Result<Heard>>,
    /// Whether a client waits for it: whatever belongs to a call is not for the gateway's own
    /// requests.
    is_call: bool,
}

impl Open {
    fn sender(&self, request: Option<u64>) -> Option<&mpsc::Sender<Result<Heard>>> {
        let waiting = self.requests.get(&request?)?;
        Some(&waiting.sender)
    }

    /// The only call under way, if there is just one.
    fn only_call(&self) -> Option<&mpsc::Sender<Result<Heard>>> {
        let mut calls = self.requests.values().filter(|waiting| waiting.is_call);
        let first = calls.next()?;
        calls.next().is_none().then_some(&first.sender)
    }

    /// Any call under way, or else the next one. It matters to none of them: the folders are their
    /// client's, and a server may ask for them before its first call, or after.
    fn ask_any(&mut self, question: Heard) -> bool {
        let calls = self.requests.values().filter(|waiting| waiting.is_call);
        let mut with_room = calls.filter(|waiting| waiting.sender.capacity() > 1);
        match with_room.next() {
            Some(waiting) => waiting.sender.try_send(Ok(question)).is_ok(),
            None if self.held.len() < MOST_HELD => {
                self.held.push(question);
                true
            }
            None => false,
        }
    }
}

impl Pending {
    /// Puts a request on the list. `gone` is called if it is dropped before its answer.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: u64,
        is_call: bool,
        gone: impl FnOnce(u64) + Send + 'static,
    ) -> Talk {
        // One more than there is room for words: the answer always fits.
        let (sender, receiver) = mpsc::channel(WAITING + 1);
        self.insert(id, Waiting { sender, is_call });
        let ticket = Ticket {
            pending: Arc::clone(self),
            id,
            gone: Some(Box::new(gone)),
        };
        let heard = stream::unfold((receiver, Some(ticket)), |(mut receiver, ticket)| async {
            let mut ticket = ticket?;
            match receiver.recv().await {
                Some(Ok(said @ (Heard::ServerNotification(_) | Heard::Question { .. }))) => {
                    Some((Ok(said), (receiver, Some(ticket))))
                }
                last => {
                    // One that could not hear all is not over for the server.
                    if last.is_some() || ticket.pending.lock().ended {
                        ticket.gone = None;
                    }
                    Some((last.unwrap_or_else(|| Err(broken())), (receiver, None)))
                }
            }
        });
        heard.boxed()
    }

    /// After the end a request is not put on the list, which it takes for the end.
    fn insert(&self, id: u64, waiting: Waiting) {
        let mut open = self.lock();
        if open.ended {
            return;
        }
        if waiting.is_call {
            for question in open.held.drain(..) {
                // There is room for more than are ever held.
                waiting.sender.try_send(Ok(question)).ok();
            }
        }
        open.requests.insert(id, waiting);
    }

    /// From here on all calls are of one client, which shows its folders.
    pub(crate) fn shows_folders(&self) {
        self.lock().shows_folders = true;
    }

    /// Hands an answer to the request it is for. One that nobody waits for is false.
    pub(crate) fn answer(&self, id: &RequestId, answer: Result<ResponseBody>) -> bool {
        let waiting = id
            .key()
            .parse()
            .ok()
            .and_then(|id: u64| self.lock().requests.remove(&id));
        let answer = answer.map(Heard::Answer);
        waiting.is_some_and(|waiting| waiting.sender.try_send(answer).is_ok())
    }

    /// Hands a word to the request it belongs to: progress by its token, what is said on a stream of
    /// changes by its request, a log message to the only one there is. Others belong to no request.
    pub(crate) fn say(&self, said: ServerNotification) -> Option<ServerNotification> {
        let mut open = self.lock();
        let sender = match &said {
            ServerNotification::Progress { token, .. } => {
                let waiting = token
                    .parse()
                    .ok()
                    .and_then(|id: u64| open.requests.get(&id));
                waiting.map(|waiting| &waiting.sender)
            }
            ServerNotification::Log { .. } => match open.only_call() {
                Some(sender) => Some(sender),
                None => return Some(said),
            },
            // Each knows what it was asked, and under which id.
            ServerNotification::Cancelled(_) => {
                let calls = open.requests.values().filter(|waiting| waiting.is_call);
                for waiting in calls.filter(|waiting| waiting.sender.capacity() > 1) {
                    waiting
                        .sender
                        .try_send(Ok(Heard::ServerNotification(said.clone())))
                        .ok();
                }
                return None;
            }
            ServerNotification::Acknowledged { request, .. } => open.sender(*request),
            ServerNotification::Task { request, .. } => {
                let sender = open.sender(*request);
                if sender.is_some_and(|sender| sender.capacity() <= 1) {
                    // Better none than one with a gap that nobody knows of.
                    request.and_then(|id| open.requests.remove(&id));
                    return None;
                }
                sender
            }
            _ => return Some(said),
        };
        if let Some(sender) = sender.filter(|sender| sender.capacity() > 1) {
            // A reader that is too slow for its own progress misses some of it.
            sender.try_send(Ok(Heard::ServerNotification(said))).ok();
        }
        None
    }

    /// Hands a question to the task that it names, or to the request it belongs to. Nothing links the
    /// two on a pipe, so it is the only one under way, or it is for nobody, which is false. Only
    /// folders are asked for at any time.
    pub(crate) fn ask(&self, question: Heard) -> bool {
        let Some(question) = self.tasks.ask(question) else {
            return true;
        };
        // Folders are asked for by many servers, once and at the start: that is not their way to ask.
        let is_usual = |kind| matches!(kind, QuestionKind::Elicit | QuestionKind::Sample);
        if matches!(&question, Heard::Question { kind, .. } if is_usual(*kind)) {
            self.asks_anywhere.store(true, Ordering::Relaxed);
        }
        let mut open = self.lock();
        let about_folders = matches!(
            &question,
            Heard::Question {
                kind: QuestionKind::Roots,
                ..
            }
        );
        if about_folders && open.shows_folders {
            return open.ask_any(question);
        }
        let room = open.only_call().filter(|sender| sender.capacity() > 1);
        room.is_some_and(|sender| sender.try_send(Ok(question)).is_ok())
    }

    /// Whether the server asks where nothing tells which request it is about.
    pub(crate) fn asks_anywhere(&self) -> bool {
        self.asks_anywhere.load(Ordering::Relaxed)
    }

    /// Nothing more will come: every request under way has failed.
    pub(crate) fn fail(&self) {
        *self.lock() = Open {
            ended: true,
            ..Open::default()
        };
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }
}

/// Whether a request is made for a client's call, and not for what the gateway itself wants to know.
pub(crate) fn is_call(method: Method) -> bool {
    !matches!(
        method,
        Method::Listen
            | Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::TemplatesList
            | Method::Subscribe
            | Method::Unsubscribe
            | Method::SetLevel
    )
}

/// Takes a request off the list when nobody waits for it any more.
struct Ticket {
    pending: Arc<Pending>,
    id: u64,
    gone: Option<Gone>,
}

type Gone = Box<dyn FnOnce(u64) + Send>;

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pending.lock().requests.remove(&self.id);
        if let Some(gone) = self.gone.take() {
            gone(self.id);
        }
    }
}

fn broken() -> tidegate_core::Error {
    unavailable("the source went away before it answered")
}

#[cfg(test)]
mod tests {
    use tidegate_core::RawJson;

    use super::*;

    #[tokio::test]
    async fn who_comes_after_the_end_hears_that_it_ended() {
        let pending = Arc::<Pending>::default();
        let mut before = pending.begin(1, true, |_| ());
        pending.fail();
        let mut after = pending.begin(2, true, |_| ());
        for talk in [&mut before, &mut after] {
            assert!(talk.next().await.unwrap().is_err());
            assert!(talk.next().await.is_none());
        }
    }

    fn question(kind: QuestionKind) -> Heard {
        let id = RequestId::new(RawJson::parse("1").unwrap()).unwrap();
        let params = RawJson::empty_object();
        Heard::Question { id, kind, params }
    }

    async fn is_asked(talk: &mut Talk) -> bool {
        matches!(talk.next().await, Some(Ok(Heard::Question { .. })))
    }

    #[tokio::test]
    async fn folders_that_are_shown_are_asked_for_at_any_time() {
        let pending = Arc::<Pending>::default();
        pending.shows_folders();
        assert!(pending.ask(question(QuestionKind::Roots)));
        let _listing = pending.begin(1, false, |_| ());
        let mut first = pending.begin(2, true, |_| ());
        assert!(is_asked(&mut first).await, "before its first call");
        let mut second = pending.begin(3, true, |_| ());
        assert!(pending.ask(question(QuestionKind::Roots)));
        tokio::select! {
            asked = is_asked(&mut first) => assert!(asked),
            asked = is_asked(&mut second) => assert!(asked),
        }
    }

    #[test]
    fn what_nobody_shows_is_refused_at_once_and_so_is_too_much() {
        let pending = Arc::<Pending>::default();
        assert!(!pending.ask(question(QuestionKind::Roots)));
        pending.shows_folders();
        assert!(!pending.ask(question(QuestionKind::Elicit)));
        for _ in 0..MOST_HELD {
            assert!(pending.ask(question(QuestionKind::Roots)));
        }
        assert!(!pending.ask(question(QuestionKind::Roots)));
    }

    /// Who hears of tasks learns that something was missed, and the server that nobody listens.
    #[tokio::test]
    async fn a_stream_of_tasks_that_is_not_read_ends() {
        let pending = Arc::<Pending>::default();
        let (gone, called_off) = tokio::sync::oneshot::channel();
        let talk = pending.begin(7, false, |id| gone.send(id).unwrap());
        for _ in 0..=WAITING {
            let (id, task) = ("t".to_owned(), RawJson::empty_object());
            let request = Some(7);
            pending.say(ServerNotification::Task { request, id, task });
        }
        let heard: Vec<_> = talk.collect().await;
        assert_eq!(heard.len(), WAITING + 1);
        assert!(heard.last().unwrap().is_err());
        assert_eq!(called_off.await, Ok(7));
    }

    /// One client that reads nothing must not keep the answers of others.
    #[tokio::test]
    async fn an_answer_has_room_behind_more_words_than_there_is_room_for() {
        let pending = Arc::<Pending>::default();
        let talk = pending.begin(1, true, |_| ());
        let words = WAITING * 2;
        for _ in 0..words {
            let (token, params) = ("1".to_owned(), RawJson::empty_object());
            pending.say(ServerNotification::Progress { token, params });
        }
        let id = RequestId::new(RawJson::parse("1").unwrap()).unwrap();
        let answer = || Ok(ResponseBody::Result(RawJson::empty_object()));
        assert!(pending.answer(&id, answer()));
        assert!(!pending.answer(&id, answer()), "once");
        let heard: Vec<_> = talk.collect().await;
        assert_eq!(heard.len(), WAITING + 1);
        assert!(matches!(heard.last(), Some(Ok(Heard::Answer(_)))));
    }
}
