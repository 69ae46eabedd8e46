//! Runs a request in the core (steps 5 to 7: resolve, govern, serve) and lowers its reply into
//! outgoing messages (step 8).
//!
//! Must not know: how a request arrived, or where its response goes.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use tidegate_core::{
    Error, Event, GatewayOperation, Operation, Outcome, Principal, Reply, Request, Result,
};
use tidegate_interaction::{CallQuestions, run_round_trips};
use tidegate_mcp::{Lowering, OutgoingMessage};

use crate::error_response::record_rejection;
use crate::in_flight::InFlightCall;
use crate::outgoing::{MIN_COUNTED_BYTES, Outgoing, OutgoingMessageStream};
use crate::session::too_many_subscriptions;
use crate::shared_pool::SharedPermit;
use crate::{Admission, Transports};

impl Transports {
    /// Runs a request. With `questions`, its client can be asked questions while the call is in
    /// flight.
    pub(crate) fn execute(
        &self,
        request: Request,
        lowering: Lowering,
        questions: Option<CallQuestions>,
    ) -> OutgoingMessageStream {
        let principal = request.caller.principal.clone();
        let permit = match self.admit(&principal, &request.operation) {
            Ok(permit) => permit,
            Err(error) => {
                record_rejection(&self.admission, lowering.correlation_id, &error);
                return single_message(lowering.error(&error));
            }
        };
        let errors = lowering.clone();
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
        let admission = Arc::clone(&self.admission);
        let count = move |message| {
            let counted = count_unread(&admission, &principal, message, &errors);
            std::future::ready(counted)
        };
        hold_until_response(messages.flatten().filter_map(count), permit)
    }

    /// Runs a request whose client gets only the outcome. Its events are dropped; dropping a question
    /// declines it.
    pub(crate) async fn outcome_of(&self, request: Request) -> Result<Outcome> {
        let correlation_id = request.correlation_id;
        let permit = self.admit(&request.caller.principal, &request.operation);
        let _permit =
            permit.inspect_err(|error| record_rejection(&self.admission, correlation_id, error))?;
        let mut events = match self.gateway.handle(request).await? {
            Reply::Done(outcome) => return Ok(outcome),
            Reply::Stream(events) => events,
        };
        while let Some(event) = events.next().await {
            if let Event::Done(outcome) = event? {
                return Ok(outcome);
            }
        }
        Err(Error::internal("the reply ended without an outcome"))
    }

    /// Acquires a permit for a call or a change stream.
    fn admit(&self, principal: &Principal, operation: &Operation) -> Result<SharedPermit> {
        let Operation::Gateway(GatewayOperation::Listen(filter)) = operation else {
            return self.admission.call_permit(principal);
        };
        if filter.uris.len() + filter.tasks.len() > self.limits.max_subscriptions {
            return Err(too_many_subscriptions(self.limits.max_subscriptions));
        }
        self.admission.stream_permit(principal)
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
    messages: impl Stream<Item = Outgoing> + Send + 'static,
    guard: T,
) -> OutgoingMessageStream {
    let mut guard = Some(guard);
    let release = move |message: Outgoing| {
        if message.is_response() {
            drop(guard.take());
        }
        message
    };
    messages.map(release).boxed()
}

pub(crate) fn single_message(message: OutgoingMessage) -> OutgoingMessageStream {
    stream::once(std::future::ready(message.into())).boxed()
}

/// Counts a message as unread. Over the limit, a response is replaced by an error, and a notification
/// is dropped.
fn count_unread(
    admission: &Admission,
    principal: &Principal,
    message: OutgoingMessage,
    errors: &Lowering,
) -> Option<Outgoing> {
    let bytes = message.json().len();
    if bytes < MIN_COUNTED_BYTES {
        return Some(message.into());
    }
    match (admission.unread_permit(principal, bytes), &message) {
        (Ok(permit), _) => Some(Outgoing::new(message, Some(permit))),
        (Err(error), OutgoingMessage::Response { .. }) => {
            record_rejection(admission, errors.correlation_id, &error);
            Some(errors.error(&error).into())
        }
        (Err(_), OutgoingMessage::Notification(_)) => None,
        // Nobody would answer a question that was dropped, and calls bound their number.
        (Err(_), OutgoingMessage::Request(_)) => Some(message.into()),
    }
}

fn lower_reply(
    reply: Result<Reply>,
    lowering: Lowering,
    mut questions: Option<CallQuestions>,
) -> BoxStream<'static, OutgoingMessage> {
    let single = |message| stream::once(std::future::ready(message)).boxed();
    match reply {
        Ok(Reply::Done(outcome)) => {
            let response = lowering.outcome(&outcome);
            log_lowering_failure(&response, &lowering);
            single(response)
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
        Err(error) => single(lowering.error(&error)),
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
