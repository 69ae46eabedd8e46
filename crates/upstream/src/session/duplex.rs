//! Requests over a duplex transport (stdio, and SSE of 2024): messages go out one by one, and
//! everything the server sends arrives on one stream.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tidegate_core::{ClientContext, GaugeValue, Result};
use tidegate_mcp::RequestId;
use tidegate_mcp::revision::Revision;
use tidegate_mcp::revision::client::{OutboundRequest, RequestEncoder};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::demultiplexer::{Demultiplexer, MessageOrigin, Routed};
use super::in_flight::is_call;
use super::notification_queue::NotificationSender;
use super::{NegotiatedSession, RequestChannel, ResponseStream};
use crate::RemoteConfig;
use crate::error::source_unreachable;
use crate::transport::{MessageSink, OutgoingLine, OutgoingMessages, outgoing_queue};

/// Requests over a duplex transport. Responses are matched by id.
pub(super) struct DuplexChannel {
    outgoing: mpsc::Sender<OutgoingLine>,
    demultiplexer: Arc<Demultiplexer>,
    pub(super) closed: CancellationToken,
    /// Cancelled when the server has sent anything.
    pub(super) alive: CancellationToken,
    /// What must have ended before [`RequestChannel::close`] is done.
    pub(super) transport_tasks: TaskTracker,
}

/// What the transport needs to carry the messages.
pub(super) struct TransportEnds {
    pub(super) outgoing: OutgoingMessages,
    pub(super) receiver: DuplexReceiver,
}

impl DuplexChannel {
    pub(super) fn new(
        config: &RemoteConfig,
        notifications: NotificationSender,
    ) -> (Self, TransportEnds) {
        let closed = CancellationToken::new();
        let (outgoing, messages) = outgoing_queue(closed.clone());
        let alive = CancellationToken::new();
        let demultiplexer = Arc::new(Demultiplexer::new(
            &config.name,
            config.is_shared_by_principals(),
            notifications,
        ));
        let ends = TransportEnds {
            outgoing: messages,
            receiver: DuplexReceiver {
                demultiplexer: Arc::clone(&demultiplexer),
                outgoing: outgoing.clone(),
                alive: alive.clone(),
                closed: closed.clone(),
            },
        };
        let channel = Self {
            outgoing,
            demultiplexer,
            closed,
            alive,
            transport_tasks: TaskTracker::new(),
        };
        (channel, ends)
    }
}

/// Hands the messages of the transport to the demultiplexer.
pub(super) struct DuplexReceiver {
    demultiplexer: Arc<Demultiplexer>,
    outgoing: mpsc::Sender<OutgoingLine>,
    alive: CancellationToken,
    closed: CancellationToken,
}

impl DuplexReceiver {
    /// Answers a held question after some time, unless a call gets it or the connection is closed.
    fn answer_later(&self, id: RequestId, delay: Duration) {
        let (demultiplexer, outgoing) = (Arc::clone(&self.demultiplexer), self.outgoing.clone());
        tokio::spawn(self.closed.clone().run_until_cancelled_owned(async move {
            tokio::time::sleep(delay).await;
            if let Some(reply) = demultiplexer.answer_held(&id) {
                outgoing.send(reply.into()).await.ok();
            }
        }));
    }
}

impl MessageSink for DuplexReceiver {
    fn receive(&self, message: &Bytes) {
        self.alive.cancel();
        for routed in self.demultiplexer.receive(message, MessageOrigin::Duplex) {
            match routed {
                // A server that does not read gets no replies.
                Routed::Reply(reply) => drop(self.outgoing.try_send(reply.into())),
                Routed::Held(id, delay) => self.answer_later(id, delay),
                Routed::ToRequest(_) => {}
            }
        }
    }

    fn receive_oversized(&self, head: &[u8], tail: &[u8]) {
        self.demultiplexer.receive_oversized(head, tail);
    }

    fn awaits_response(&self, sent: u64) -> bool {
        self.demultiplexer.in_flight.awaits_response(sent)
    }

    fn end(&self) {
        self.demultiplexer.in_flight.fail_all();
    }
}

impl RequestChannel for DuplexChannel {
    fn request(&self, request: OutboundRequest, _: Vec<(String, String)>) -> ResponseStream {
        let outgoing = self.outgoing.clone();
        let cancel = move |id| {
            let encoder = RequestEncoder {
                revision: Revision::NEWEST,
                client: ClientContext::default(),
            };
            // If the queue is full, the server does not read anyway.
            outgoing.try_send(encoder.cancelled(id).into()).ok();
        };
        let in_flight = &self.demultiplexer.in_flight;
        let responses = in_flight.register(request.id, is_call(request.method), cancel);
        let (outgoing, closed) = (self.outgoing.clone(), self.closed.clone());
        let in_flight = in_flight.clone();
        let sent = async move {
            let permit = tokio::select! {
                permit = outgoing.reserve() => permit.ok(),
                () = closed.cancelled() => None,
            };
            match permit {
                Some(permit) => {
                    in_flight.send_in_order(request.id, |place| {
                        permit.send(OutgoingLine {
                            json: request.json,
                            request: Some(place),
                        });
                    });
                    responses
                }
                None => stream::iter([Err(connection_closed())]).boxed(),
            }
        };
        stream::once(sent).flatten().boxed()
    }

    fn task_questions(&self, task: &str) -> ResponseStream {
        self.demultiplexer.in_flight.task_questions(task)
    }

    fn send(&self, json: String, _: Vec<(String, String)>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let sent = self.outgoing.send(json.into()).await;
            sent.map_err(|_| connection_closed())
        })
    }

    fn begin_session(&self, session: NegotiatedSession) {
        if session.declares_roots {
            self.demultiplexer.in_flight.set_declares_roots();
        }
    }

    fn has_unlinked_questions(&self) -> bool {
        self.demultiplexer.in_flight.has_unlinked_questions()
    }

    fn take_unknown_roots(&self) -> bool {
        self.demultiplexer.in_flight.take_unknown_roots()
    }

    fn gauges(&self) -> [GaugeValue; 2] {
        self.demultiplexer.gauges()
    }

    fn has_headers(&self) -> bool {
        false
    }

    fn first_output(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.alive.cancelled())
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.closed.cancelled())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.closed.cancel();
        self.transport_tasks.close();
        Box::pin(async { self.transport_tasks.wait().await })
    }
}

impl Drop for DuplexChannel {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

fn connection_closed() -> tidegate_core::Error {
    source_unreachable("the connection to the source is closed")
}
