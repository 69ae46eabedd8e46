//! A duplex connection: messages arrive one by one, and all responses share one outgoing channel. The
//! common part of stdio and the HTTP+SSE transport of 2024.

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
use crate::change_delivery::deliver_list_changes;
use crate::error_response::ErrorResponse;
use crate::execution::single_message;
use crate::in_flight::InFlightCalls;
use crate::log_delivery::deliver_log_messages;
use crate::outgoing::{Outgoing, OutgoingMessageStream};
use crate::requester::Requester;
use crate::session::Session;

/// Messages that may be queued for sending. When the queue is full, senders wait.
const MAX_QUEUED_MESSAGES: usize = 64;

/// The connection of one client.
pub(crate) struct DuplexConnection {
    transports: Arc<Transports>,
    requester: Requester,
    in_flight: Arc<InFlightCalls>,
    /// Set by the handshake.
    session: Mutex<Option<Arc<Session>>>,
    outgoing: mpsc::Sender<Arc<Outgoing>>,
    /// The tasks of calls in flight.
    calls: TaskTracker,
    pub(crate) ended: CancellationToken,
}

impl DuplexConnection {
    /// Opens a connection. The receiver yields the messages to send.
    pub(crate) fn new(
        transports: &Arc<Transports>,
        requester: Requester,
    ) -> (Arc<Self>, mpsc::Receiver<Arc<Outgoing>>) {
        let (outgoing, receiver) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let connection = Self {
            transports: Arc::clone(transports),
            requester,
            in_flight: InFlightCalls::new(transports.limits.max_concurrent_calls_per_session),
            session: Mutex::default(),
            outgoing,
            calls: TaskTracker::new(),
            ended: transports.aborted.child_token(),
        };
        if let Some(affinity) = connection.requester.affinity {
            let scope = &connection.requester.scope;
            transports.announce_end(&connection.ended, scope, affinity);
        }
        (Arc::new(connection), receiver)
    }

    /// Handles one HTTP body or line.
    pub(crate) async fn receive(self: &Arc<Self>, bytes: Bytes) {
        let received = match decode(bytes, self.transports.limits.decode()) {
            Ok(Inbound::Single(message)) => self.receive_message(message).await,
            Ok(Inbound::Batch(messages)) => self.receive_batch(messages),
            Err(rejection) => Err(rejection.into()),
        };
        if let Err(response) = received {
            self.reject(&response).await;
        }
    }

    /// Sends the response to a rejected message.
    pub(crate) async fn reject(&self, response: &ErrorResponse) {
        let message = response.to_message(&self.transports.admission);
        self.send(Outgoing::from(message)).await;
    }

    /// Waits until all calls have been answered.
    pub(crate) async fn wait_for_calls(&self) {
        self.calls.close();
        self.calls.wait().await;
    }

    /// Ends the connection when the gateway shuts down and all calls have been answered.
    pub(crate) fn end_when_drained(self: &Arc<Self>) {
        let connection = Arc::clone(self);
        self.transports.tasks.spawn(async move {
            tokio::select! {
                () = connection.ended.cancelled() => return,
                () = connection.transports.draining.cancelled() => {}
            }
            connection.wait_for_calls().await;
            connection.ended.cancel();
        });
    }

    async fn receive_message(self: &Arc<Self>, message: Message) -> Result<(), ErrorResponse> {
        let id = message.request_id().cloned();
        let messages = self
            .dispatch(message)
            .await
            .map_err(|response| response.with_id(id))?;
        if let Some(messages) = messages {
            self.send_all(messages);
        }
        Ok(())
    }

    /// Dispatches a message by its content: modern messages and messages of a session may
    /// alternate.
    async fn dispatch(
        self: &Arc<Self>,
        message: Message,
    ) -> Result<Option<OutgoingMessageStream>, ErrorResponse> {
        self.reject_duplicate_id(&message)?;
        let (transports, requester) = (&self.transports, &self.requester);
        let dispatched = match classify(&message, &StandardHeaders::default())? {
            Classification::Modern => transports.dispatch_modern(requester, message, None)?,
            Classification::Handshake => return self.handshake(message).await.map(|()| None),
            Classification::Session { .. } | Classification::Sessionless(_) => {
                match self.session.lock().clone() {
                    Some(session) => {
                        transports.dispatch_in_session(requester, &session, message)?
                    }
                    None => {
                        transports.dispatch_sessionless(requester, message, Revision::ASSUMED)?
                    }
                }
            }
        };
        Ok(dispatched.track(&self.in_flight, &self.ended)?)
    }

    /// Responses share one channel, so two calls with the same id would be indistinguishable.
    fn reject_duplicate_id(&self, message: &Message) -> Result<(), ErrorResponse> {
        match message.request_id() {
            Some(id) if self.in_flight.contains(id) => {
                let message = "a request with this id is already in flight";
                Err(Error::client(Code::InvalidRequest, message).into())
            }
            _ => Ok(()),
        }
    }

    async fn handshake(self: &Arc<Self>, message: Message) -> Result<(), ErrorResponse> {
        let (transports, requester) = (&self.transports, &self.requester);
        let (response, session) = transports.handshake(requester, message).await?;
        let session = session.map(Arc::new);
        if let Some(session) = &session {
            deliver_list_changes(transports, requester, session).await;
            deliver_log_messages(transports, requester, session);
            *self.session.lock() = Some(Arc::clone(session));
        }
        self.send(Outgoing::from(response)).await;
        if let Some(session) = &session {
            self.send_notifications(session);
        }
        Ok(())
    }

    fn receive_batch(
        self: &Arc<Self>,
        messages: Vec<Result<Message, Rejection>>,
    ) -> Result<(), ErrorResponse> {
        let session = self.session.lock().clone();
        let session = session
            .filter(|session| session.revision.has_batches())
            .ok_or_else(batch_not_allowed)?;
        let responses = messages.into_iter().filter_map(|message| {
            let messages = self.dispatch_batched(&session, message);
            messages.unwrap_or_else(|response| {
                Some(single_message(
                    response.to_message(&self.transports.admission),
                ))
            })
        });
        self.send_batch(stream::select_all(responses));
        Ok(())
    }

    fn dispatch_batched(
        &self,
        session: &Arc<Session>,
        message: Result<Message, Rejection>,
    ) -> Result<Option<OutgoingMessageStream>, ErrorResponse> {
        let message = message?;
        let id = message.request_id().cloned();
        let dispatch = || -> Result<_, ErrorResponse> {
            self.reject_duplicate_id(&message)?;
            let (transports, requester) = (&self.transports, &self.requester);
            let dispatched = transports.dispatch_in_session(requester, session, message)?;
            Ok(dispatched.track(&self.in_flight, &self.ended)?)
        };
        dispatch().map_err(|response| response.with_id(id))
    }

    fn send_all(self: &Arc<Self>, mut messages: OutgoingMessageStream) {
        let connection = Arc::clone(self);
        self.spawn_call(async move {
            while let Some(message) = messages.next().await {
                connection.send(message).await;
            }
        });
    }

    /// Sends notifications as they come, and all responses together.
    fn send_batch(self: &Arc<Self>, mut messages: SelectAll<OutgoingMessageStream>) {
        let connection = Arc::clone(self);
        self.spawn_call(async move {
            let mut responses = Vec::new();
            while let Some(message) = messages.next().await {
                match message.is_response() {
                    true => responses.push(message),
                    false => connection.send(message).await,
                }
            }
            if !responses.is_empty() {
                let responses: Vec<_> = responses.iter().map(Outgoing::json).collect();
                let json = format!("[{}]", responses.join(","));
                let batch = OutgoingMessage::Response { json, code: None };
                connection.send(Outgoing::from(batch)).await;
            }
        });
    }

    /// Spawns a task that the shutdown of the transports and of this connection wait for.
    fn spawn_call(&self, call: impl Future<Output = ()> + Send + 'static) {
        self.transports.tasks.spawn(self.calls.track_future(call));
    }

    /// Sends the notifications of the session's standalone stream.
    fn send_notifications(self: &Arc<Self>, session: &Arc<Session>) {
        let (connection, ended) = (Arc::clone(self), session.ended.clone());
        let mut reader = session.standalone.reader();
        self.transports.tasks.spawn(async move {
            loop {
                let next = tokio::select! {
                    () = ended.cancelled() => return,
                    () = connection.ended.cancelled() => return,
                    () = connection.transports.draining.cancelled() => return,
                    next = reader.next() => next,
                };
                match next {
                    Some((_, message)) => connection.send(message).await,
                    None => return,
                }
            }
        });
    }

    /// Queues a message for sending. Ends the connection if the client has disconnected.
    async fn send(&self, message: impl Into<Arc<Outgoing>>) {
        tokio::select! {
            () = self.ended.cancelled() => {}
            sent = self.outgoing.send(message.into()) => if sent.is_err() {
                self.ended.cancel();
            }
        }
    }
}
