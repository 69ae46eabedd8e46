//! From a request to the messages that answer it: resolve, govern and serve in the core, then lower.
//!
//! Must not know: how a request came in, or where its answer goes.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use tidegate_core::{Event, GatewayOperation, Operation, Reply, Request, Result};
use tidegate_interaction::{CallQuestions, run_round_trips};
use tidegate_mcp::{Lowering, OutgoingMessage};

use crate::in_flight::Ticket;
use crate::refusal::note_refusal;
use crate::{Transports, subscribe};

/// The messages that answer one request: notices, then one answer. Dropping it cancels the call.
pub(crate) type OutgoingMessages = BoxStream<'static, OutgoingMessage>;

impl Transports {
    /// Resolve, govern, serve and lower, as a stream of messages.
    pub(crate) fn frames(
        &self,
        request: Request,
        lowering: Lowering,
        asking: Option<CallQuestions>,
    ) -> OutgoingMessages {
        let room = match &request.operation {
            Operation::Gateway(GatewayOperation::Listen(filter))
                if filter.uris.len() + filter.tasks.len() > self.limits.max_subscriptions =>
            {
                Err(subscribe::too_many(self.limits.max_subscriptions))
            }
            Operation::Gateway(GatewayOperation::Listen(_)) => self.admission.stream(),
            _ => self.admission.call(),
        };
        let room = match room {
            Ok(room) => room,
            Err(error) => {
                note_refusal(&self.admission, lowering.correlation, &error);
                return one(lowering.error(&error));
            }
        };
        let (gateway, patience) = (Arc::clone(&self.gateway), self.limits.answer_timeout);
        let frames = stream::once(async move {
            let reply = match &asking {
                Some(_) if may_ask(&request.operation) => {
                    Ok(Reply::Stream(run_round_trips(gateway, request, patience)))
                }
                _ => gateway.handle(request).await,
            };
            lowered(reply, lowering, asking)
        });
        holding(frames.flatten(), room)
    }
}

/// Whether the answer may be a question.
fn may_ask(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Tool { .. } | Operation::Prompt { .. } | Operation::Resource { .. }
    )
}

/// Ends the frames when their call is cancelled, and takes it off the list when they end.
pub(crate) fn cancellable(frames: OutgoingMessages, ticket: Ticket) -> OutgoingMessages {
    let cancelled = ticket.cancelled.clone().cancelled_owned();
    holding(frames.take_until(cancelled), ticket)
}

/// Keeps `held` until the answer is there, or the call is dropped.
fn holding<T: Send + 'static>(
    frames: impl Stream<Item = OutgoingMessage> + Send + 'static,
    held: T,
) -> OutgoingMessages {
    let mut held = Some(held);
    let release = move |frame| {
        if matches!(frame, OutgoingMessage::Response { .. }) {
            drop(held.take());
        }
        frame
    };
    frames.map(release).boxed()
}

fn lowered(
    reply: Result<Reply>,
    lowering: Lowering,
    mut asking: Option<CallQuestions>,
) -> OutgoingMessages {
    match reply {
        Ok(Reply::Done(outcome)) => one(checked(lowering.outcome(&outcome), &lowering)),
        Ok(Reply::Stream(events)) => {
            let frames = events.filter_map(move |event| {
                let frame = match event {
                    // Without a session there is nobody to ask: dropped, it is declined.
                    Ok(Event::Question(question)) => {
                        let asked = asking.as_mut().and_then(|asking| asking.ask(question));
                        asked.map(OutgoingMessage::Notification)
                    }
                    Ok(Event::QuestionWithdrawn) => {
                        let withdrawn = asking.as_mut().and_then(CallQuestions::close_withdrawn);
                        withdrawn.map(OutgoingMessage::Notification)
                    }
                    Ok(event) => lowering.event(event).map(|frame| checked(frame, &lowering)),
                    Err(error) => {
                        if let Some(asking) = &asking {
                            asking.note_url_elicitations(&error);
                        }
                        Some(lowering.error(&error))
                    }
                };
                if let (Some(OutgoingMessage::Response { .. }), Some(asking)) =
                    (&frame, &mut asking)
                {
                    asking.detach();
                }
                std::future::ready(frame)
            });
            frames.boxed()
        }
        Err(error) => one(lowering.error(&error)),
    }
}

/// A reply that could not be lowered became an error after the layer that logs errors.
fn checked(frame: OutgoingMessage, lowering: &Lowering) -> OutgoingMessage {
    if let OutgoingMessage::Response {
        code: Some(code), ..
    } = &frame
    {
        let (correlation, method) = (lowering.correlation, lowering.method.name());
        tracing::error!(%correlation, method, ?code, "a reply does not fit its client's revision");
    }
    frame
}

pub(crate) fn one(frame: OutgoingMessage) -> OutgoingMessages {
    stream::once(std::future::ready(frame)).boxed()
}
