//! Runs a request in the core (steps 5 to 7: resolve, govern, serve) and lowers its reply into
//! outgoing messages (step 8).
//!
//! Must not know: how a request arrived, or where its response goes.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use tidegate_core::{Event, GatewayOperation, Operation, Reply, Request, Result};
use tidegate_interaction::{CallQuestions, run_round_trips};
use tidegate_mcp::{Lowering, OutgoingMessage};
use tokio::sync::OwnedSemaphorePermit;

use crate::Transports;
use crate::error_response::record_rejection;
use crate::in_flight::InFlightCall;
use crate::session::too_many_subscriptions;

/// The messages that answer one request: notifications and questions, then one response. Dropping
/// it cancels the call.
pub(crate) type OutgoingMessageStream = BoxStream<'static, OutgoingMessage>;

impl Transports {
    /// Runs a request. With `questions`, its client can be asked questions while the call is in
    /// flight.
    pub(crate) fn execute(
        &self,
        request: Request,
        lowering: Lowering,
        questions: Option<CallQuestions>,
    ) -> OutgoingMessageStream {
        let permit = match self.admit(&request.operation) {
            Ok(permit) => permit,
            Err(error) => {
                record_rejection(&self.admission, lowering.correlation_id, &error);
                return single_message(lowering.error(&error));
            }
        };
        let (gateway, answer_timeout) = (Arc::clone(&self.gateway), self.limits.answer_timeout);
        let messages = stream::once(async move {
            let reply = match &questions {
                Some(_) if may_need_input(&request.operation) => {
                    let events = run_round_trips(gateway, request, answer_timeout);
                    Ok(Reply::Stream(events))
                }
                _ => gateway.handle(request).await,
            };
            lower_reply(reply, lowering, questions)
        });
        hold_until_response(messages.flatten(), permit)
    }

    /// Acquires a permit for a call or a change stream.
    fn admit(&self, operation: &Operation) -> Result<OwnedSemaphorePermit> {
        let Operation::Gateway(GatewayOperation::Listen(filter)) = operation else {
            return self.admission.call_permit();
        };
        if filter.uris.len() + filter.tasks.len() > self.limits.max_subscriptions {
            return Err(too_many_subscriptions(self.limits.max_subscriptions));
        }
        self.admission.stream_permit()
    }
}

/// Whether the result may be a request for input.
fn may_need_input(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Tool { .. } | Operation::Prompt { .. } | Operation::Resource { .. }
    )
}

/// Ends the messages when their call is cancelled. The call stays in flight until its response.
pub(crate) fn cancellable(
    messages: OutgoingMessageStream,
    call: InFlightCall,
) -> OutgoingMessageStream {
    let cancelled = call.cancelled.clone().cancelled_owned();
    hold_until_response(messages.take_until(cancelled), call)
}

/// Keeps `guard` until the response, or until the call is dropped.
fn hold_until_response<T: Send + 'static>(
    messages: impl Stream<Item = OutgoingMessage> + Send + 'static,
    guard: T,
) -> OutgoingMessageStream {
    let mut guard = Some(guard);
    let release = move |message| {
        if matches!(message, OutgoingMessage::Response { .. }) {
            drop(guard.take());
        }
        message
    };
    messages.map(release).boxed()
}

pub(crate) fn single_message(message: OutgoingMessage) -> OutgoingMessageStream {
    stream::once(std::future::ready(message)).boxed()
}

fn lower_reply(
    reply: Result<Reply>,
    lowering: Lowering,
    mut questions: Option<CallQuestions>,
) -> OutgoingMessageStream {
    match reply {
        Ok(Reply::Done(outcome)) => {
            let response = lowering.outcome(&outcome);
            log_lowering_failure(&response, &lowering);
            single_message(response)
        }
        Ok(Reply::Stream(events)) => {
            let messages = events.flat_map(move |event| {
                let withdrawn = match (&event, &mut questions) {
                    (Err(_), Some(questions)) => questions.withdraw_all(),
                    _ => Vec::new(),
                };
                let message = lower_event(event, &lowering, questions.as_mut());
                let is_response = matches!(message, Some(OutgoingMessage::Response { .. }));
                if let (true, Some(questions)) = (is_response, &mut questions) {
                    questions.detach();
                }
                // The client stops asking its user before it hears that the call has failed.
                let withdrawn = withdrawn.into_iter().map(OutgoingMessage::Notification);
                stream::iter(withdrawn.chain(message))
            });
            messages.boxed()
        }
        Err(error) => single_message(lowering.error(&error)),
    }
}

fn lower_event(
    event: Result<Event>,
    lowering: &Lowering,
    questions: Option<&mut CallQuestions>,
) -> Option<OutgoingMessage> {
    match event {
        // Without a session the client cannot be asked: dropping the question declines it.
        Ok(Event::Question(question)) => {
            let request = questions?.ask(question)?;
            Some(OutgoingMessage::Request(request))
        }
        Ok(Event::QuestionWithdrawn) => {
            let cancellation = questions?.close_withdrawn()?;
            Some(OutgoingMessage::Notification(cancellation))
        }
        Ok(event) => {
            let message = lowering.event(event)?;
            log_lowering_failure(&message, lowering);
            Some(message)
        }
        Err(error) => {
            if let Some(questions) = questions {
                questions.note_url_elicitations(&error);
            }
            Some(lowering.error(&error))
        }
    }
}

/// A reply that cannot be lowered becomes an error after the layer that logs errors.
fn log_lowering_failure(message: &OutgoingMessage, lowering: &Lowering) {
    if let OutgoingMessage::Response {
        code: Some(code), ..
    } = message
    {
        let (correlation_id, method) = (lowering.correlation_id, lowering.method.name());
        tracing::error!(%correlation_id, method, ?code, "reply cannot be lowered to the client's revision");
    }
}
