//! What stdio and the oldest HTTP transport have in common as links: words go out one by one, and
//! all that comes back comes one way.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tidegate_core::{ClientContext, GaugeValue, Result};
use tidegate_mcp::revision::Revision;
use tidegate_mcp::revision::client::{OutboundRequest, RequestEncoder};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::demultiplexer::Ear;
use super::in_flight::{Pending, is_call};
use super::invalid_messages::Junk;
use super::{Link, Session, Talk, Unasked, not_asked};
use crate::session::notification_queue::mailbox;

/// Words that may wait to go out.
const WAITING: usize = 256;

/// How long those that wait when the link is closed may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A link on which requests are told apart by their ids alone.
pub(crate) struct OneWay {
    out: mpsc::Sender<String>,
    pending: Arc<Pending>,
    junk: Arc<Junk>,
    pub(crate) closed: CancellationToken,
    /// What must have ended before the link has.
    pub(crate) started: TaskTracker,
}

/// What whoever carries the words needs.
pub(crate) struct Ends {
    pub(crate) to_send: mpsc::Receiver<String>,
    pub(crate) ear: Ear,
    pub(crate) unasked: Unasked,
}

impl OneWay {
    pub(crate) fn new(name: &str) -> (Self, Ends) {
        let (out, to_send) = mpsc::channel(WAITING);
        let (news, unasked) = mailbox();
        let pending = Arc::<Pending>::default();
        let junk = Arc::new(Junk::new(name));
        let ear = Ear::new(Arc::clone(&pending), out.clone(), news, Arc::clone(&junk));
        let link = Self {
            out,
            pending,
            junk,
            closed: CancellationToken::new(),
            started: TaskTracker::new(),
        };
        (
            link,
            Ends {
                to_send,
                ear,
                unasked,
            },
        )
    }
}

impl Link for OneWay {
    fn request(&self, outbound: OutboundRequest, _: Vec<(String, String)>) -> Talk {
        let out = self.out.clone();
        let cancel = move |id| {
            let word = RequestEncoder {
                revision: Revision::NEWEST,
                client: ClientContext::default(),
            };
            // A queue that is full is read by nobody, and has other worries.
            out.try_send(word.cancelled(id)).ok();
        };
        let is_call = is_call(outbound.method);
        let talk = self.pending.begin(outbound.id, is_call, cancel);
        let (out, closed) = (self.out.clone(), self.closed.clone());
        let sent = async move {
            let sent = tokio::select! {
                sent = out.send(outbound.json) => sent.is_ok(),
                () = closed.cancelled() => false,
            };
            match sent {
                true => talk,
                false => stream::iter([Err(ended())]).boxed(),
            }
        };
        stream::once(sent).flatten().boxed()
    }

    fn adopt(&self, task: &str) -> Talk {
        self.pending.tasks.adopt(task)
    }

    fn notify(&self, json: String) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.out.send(json).await.map_err(|_| ended()) })
    }

    fn enter(&self, session: Session) {
        if session.shows_folders {
            self.pending.shows_folders();
        }
    }

    fn asks_anywhere(&self) -> bool {
        self.pending.asks_anywhere()
    }

    fn gauges(&self) -> [GaugeValue; 2] {
        self.junk.gauges()
    }

    fn has_headers(&self) -> bool {
        false
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.closed.cancelled())
    }

    fn end(&self) -> BoxFuture<'_, ()> {
        self.closed.cancel();
        self.started.close();
        Box::pin(async { self.started.wait().await })
    }
}

impl Drop for OneWay {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

/// The next word to go out. What was said before the link was closed goes out before its end: that a
/// call is over, most of all.
pub(crate) async fn next_word(
    words: &mut mpsc::Receiver<String>,
    closed: &CancellationToken,
) -> Option<String> {
    tokio::select! {
        biased;
        word = words.recv() => word,
        () = closed.cancelled() => None,
    }
}

/// Waits until whoever carries the words of a link that was closed has had its time.
pub(crate) async fn silence(closed: &CancellationToken) {
    closed.cancelled().await;
    tokio::time::sleep(LAST_WORDS).await;
}

fn ended() -> tidegate_core::Error {
    not_asked("the source has ended")
}
