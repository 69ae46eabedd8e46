//! A two-way channel: messages come in one by one, all answers go out one way. What stdio and the
//! oldest HTTP transport have in common.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, SelectAll};
use parking_lot::Mutex;
use tidegate_core::{Code, Error, Result};
use tidegate_mcp::revision::{Classification, StandardHeaders, classify};
use tidegate_mcp::{
    Inbound, Message, OutgoingMessage, Rejection, Revision, batch_not_allowed, decode,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Transports;
use crate::dispatch::{Peer, Taken};
use crate::frames::{OutgoingMessages, cancellable};
use crate::in_flight::InFlight;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::subscribe;

/// Messages that wait to go out before their senders wait too.
const WAITING: usize = 64;

/// One client on one channel.
pub(crate) struct Pipe {
    transports: Arc<Transports>,
    peer: Peer,
    in_flight: Arc<InFlight>,
    /// There from the handshake on.
    session: Mutex<Option<Arc<Session>>>,
    out: mpsc::Sender<String>,
    /// The calls under way.
    calls: TaskTracker,
    pub(crate) ended: CancellationToken,
}

impl Pipe {
    /// Opens a channel; what it says comes out of the receiver.
    pub(crate) fn new(
        transports: &Arc<Transports>,
        peer: Peer,
    ) -> (Arc<Self>, mpsc::Receiver<String>) {
        let (out, said) = mpsc::channel(WAITING);
        let pipe = Self {
            transports: Arc::clone(transports),
            peer,
            in_flight: InFlight::new(transports.limits.max_concurrent_calls_per_session),
            session: Mutex::default(),
            out,
            calls: TaskTracker::new(),
            ended: transports.ended.child_token(),
        };
        (Arc::new(pipe), said)
    }

    /// Takes one body or line.
    pub(crate) async fn take(self: &Arc<Self>, bytes: Bytes) {
        let taken = match decode(bytes, self.transports.limits.decode()) {
            Ok(Inbound::Single(message)) => self.one(message).await,
            Ok(Inbound::Batch(messages)) => self.batch(messages),
            Err(refused) => Err(refused.into()),
        };
        if let Err(refusal) = taken {
            self.refuse(&refusal).await;
        }
    }

    /// Answers something that could not be taken.
    pub(crate) async fn refuse(&self, refusal: &Refusal) {
        let frame = refusal.to_message(&self.transports.admission);
        self.say(frame.json().to_owned()).await;
    }

    /// Waits until every call has been answered.
    pub(crate) async fn answered(&self) {
        self.calls.close();
        self.calls.wait().await;
    }

    /// Ends the pipe once the gateway stops and every call has been answered.
    pub(crate) fn end_when_drained(self: &Arc<Self>) {
        let pipe = Arc::clone(self);
        self.transports.tasks.spawn(async move {
            tokio::select! {
                () = pipe.ended.cancelled() => return,
                () = pipe.transports.draining.cancelled() => {}
            }
            pipe.answered().await;
            pipe.ended.cancel();
        });
    }

    async fn one(self: &Arc<Self>, message: Message) -> Result<(), Refusal> {
        let id = message.request_id().cloned();
        let frames = self
            .serve(message)
            .await
            .map_err(|refusal| refusal.answering(id))?;
        if let Some(frames) = frames {
            self.carry(frames);
        }
        Ok(())
    }

    /// Serves a message by what its body says; stateless messages and a session's may alternate.
    async fn serve(
        self: &Arc<Self>,
        message: Message,
    ) -> Result<Option<OutgoingMessages>, Refusal> {
        self.refuse_duplicate(&message)?;
        let taken = match classify(&message, &StandardHeaders::default())? {
            Classification::Modern => self.transports.modern(&self.peer, message, None)?,
            Classification::Handshake => return self.handshake(message).await.map(|()| None),
            Classification::Session { .. } | Classification::Sessionless(_) => match self.session()
            {
                Some(session) => self.transports.in_session(&self.peer, &session, message)?,
                None => self
                    .transports
                    .sessionless(&self.peer, message, Revision::ASSUMED)?,
            },
        };
        self.begin(taken)
    }

    /// One channel cannot tell two answers with one id apart.
    fn refuse_duplicate(&self, message: &Message) -> Result<(), Refusal> {
        match message.request_id() {
            Some(id) if self.in_flight.has(id) => {
                let message = "a request with this id is under way already";
                Err(Error::client(Code::InvalidRequest, message).into())
            }
            _ => Ok(()),
        }
    }

    /// Puts a call on the list of those under way.
    fn begin(&self, taken: Taken) -> Result<Option<OutgoingMessages>, Refusal> {
        match taken {
            Taken::Noted => Ok(None),
            Taken::Cancel(id) => {
                self.in_flight.cancel(&id);
                Ok(None)
            }
            Taken::Call { id, frames } => {
                let ticket = self.in_flight.begin(&id, &self.ended)?;
                Ok(Some(cancellable(frames, ticket)))
            }
        }
    }

    async fn handshake(self: &Arc<Self>, message: Message) -> Result<(), Refusal> {
        let (frame, session) = self.transports.handshake(&self.peer, message).await?;
        let session = session.map(Arc::new);
        if let Some(session) = &session {
            subscribe::to_lists(&self.transports, &self.peer, session).await;
            let mut slot = self.session.lock();
            *slot = Some(Arc::clone(session));
        }
        self.say(frame.json().to_owned()).await;
        if let Some(session) = &session {
            self.carry_changes(session);
        }
        Ok(())
    }

    fn batch(self: &Arc<Self>, messages: Vec<Result<Message, Rejection>>) -> Result<(), Refusal> {
        let session = self
            .session()
            .filter(|session| session.revision.has_batches());
        let session = session.ok_or_else(batch_not_allowed)?;
        let answers = messages
            .into_iter()
            .filter_map(|message| self.batched(&session, message).transpose())
            .map(|answer| {
                let admission = &self.transports.admission;
                answer
                    .unwrap_or_else(|refusal| stream::iter([refusal.to_message(admission)]).boxed())
            });
        self.carry_batch(stream::select_all(answers));
        Ok(())
    }

    /// Serves one message of a batch, which is the session's.
    fn batched(
        &self,
        session: &Arc<Session>,
        message: Result<Message, Rejection>,
    ) -> Result<Option<OutgoingMessages>, Refusal> {
        let message = message?;
        let id = message.request_id().cloned();
        let taken = self
            .refuse_duplicate(&message)
            .and_then(|()| self.transports.in_session(&self.peer, session, message))
            .and_then(|taken| self.begin(taken));
        taken.map_err(|refusal| refusal.answering(id))
    }

    fn carry(self: &Arc<Self>, mut frames: OutgoingMessages) {
        let pipe = Arc::clone(self);
        self.spawn_call(async move {
            while let Some(frame) = frames.next().await {
                pipe.say(frame.json().to_owned()).await;
            }
        });
    }

    /// Says notices as they come, and the answers together.
    fn carry_batch(self: &Arc<Self>, mut frames: SelectAll<OutgoingMessages>) {
        let pipe = Arc::clone(self);
        self.spawn_call(async move {
            let mut answers = Vec::new();
            while let Some(frame) = frames.next().await {
                match frame {
                    OutgoingMessage::Notification(json) => pipe.say(json).await,
                    OutgoingMessage::Response { json, .. } => answers.push(json),
                }
            }
            if !answers.is_empty() {
                pipe.say(format!("[{}]", answers.join(","))).await;
            }
        });
    }

    /// The transports wait for it, and so does the end of the pipe.
    fn spawn_call(&self, call: impl Future<Output = ()> + Send + 'static) {
        self.transports.tasks.spawn(self.calls.track_future(call));
    }

    fn carry_changes(self: &Arc<Self>, session: &Arc<Session>) {
        let (pipe, ended) = (Arc::clone(self), session.ended.clone());
        let mut changes = session.standing.read();
        self.transports.tasks.spawn(async move {
            loop {
                let change = tokio::select! {
                    () = ended.cancelled() => return,
                    () = pipe.ended.cancelled() => return,
                    () = pipe.transports.draining.cancelled() => return,
                    change = changes.next() => change,
                };
                match change {
                    Some((_, frame)) => pipe.say(frame.json().to_owned()).await,
                    None => return,
                }
            }
        });
    }

    /// Says one message; once the other side is gone, nothing.
    async fn say(&self, json: String) {
        tokio::select! {
            () = self.ended.cancelled() => {}
            sent = self.out.send(json) => if sent.is_err() {
                self.ended.cancel();
            }
        }
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().clone()
    }
}
