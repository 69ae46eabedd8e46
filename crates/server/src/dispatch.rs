//! Lifts a message (step 4) and starts its execution. All transports share this: they differ only in
//! how messages arrive and where responses go.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tidegate_core::{
    ClientContext, Code, CorrelationId, Error, Outcome, Precondition, RawJson, Request, Result,
    Viewer,
};
use tidegate_interaction::CallQuestions;
use tidegate_mcp::revision::{
    LiftedRequest, Method, StandardHeaders, check_param_headers, lift_legacy, lift_modern,
};
use tidegate_mcp::{Lifted, Lowering, Message, RequestId, Revision};
use tokio_util::sync::CancellationToken;

use crate::Transports;
use crate::error_response::ErrorResponse;
use crate::execution::{cancellable, single_message};
use crate::in_flight::InFlightCalls;
use crate::outgoing::{Outgoing, OutgoingMessageStream};
use crate::requester::Requester;
use crate::session::Session;

/// The result of dispatching a message.
pub(crate) enum Dispatched {
    /// A notification or a response: it gets no response.
    NoResponse,
    /// The client cancels one of its requests.
    Cancel(RequestId),
    /// A request, and the messages that answer it.
    Call {
        id: RequestId,
        messages: OutgoingMessageStream,
    },
}

impl Dispatched {
    /// Adds a call to the calls in flight, or cancels one of them. Returns the messages to send.
    pub(crate) fn track(
        self,
        in_flight: &Arc<InFlightCalls>,
        parent: &CancellationToken,
    ) -> Result<Option<OutgoingMessageStream>> {
        match self {
            Self::NoResponse => Ok(None),
            Self::Cancel(id) => {
                in_flight.cancel(&id);
                Ok(None)
            }
            Self::Call { id, messages } => {
                let call = in_flight.add(&id, parent)?;
                Ok(Some(cancellable(messages, call)))
            }
        }
    }

    /// A call that is answered with an empty result.
    pub(crate) fn empty_result(revision: Revision, method: Method, id: RequestId) -> Self {
        let (correlation_id, client) = (CorrelationId::generate(), ClientContext::default());
        let lowering = Lowering::new(revision, method, id.clone(), correlation_id, &client);
        Self::Call {
            id,
            messages: single_message(lowering.outcome(&empty_outcome())),
        }
    }
}

impl Transports {
    /// Dispatches a message of the modern era. Only HTTP has `headers`.
    pub(crate) fn dispatch_modern(
        &self,
        requester: &Requester,
        message: Message,
        headers: Option<&StandardHeaders>,
    ) -> Result<Dispatched, ErrorResponse> {
        let (revision, lifted) = lift_modern(message, headers)?;
        match lifted {
            Lifted::Request(lifted) => Ok(self.call_modern(requester, revision, lifted, headers)),
            Lifted::Cancelled { id } => Ok(Dispatched::Cancel(id)),
            Lifted::Extension {
                method,
                params,
                client,
            } => {
                let client = ClientContext {
                    affinity: requester.affinity,
                    ..client.unwrap_or_else(ClientContext::of_gateway)
                };
                self.notify_source(requester, &client, &method, &params);
                Ok(Dispatched::NoResponse)
            }
            _ => Ok(Dispatched::NoResponse),
        }
    }

    /// Dispatches a sessionless message, as `revision`.
    pub(crate) fn dispatch_sessionless(
        &self,
        requester: &Requester,
        message: Message,
        revision: Revision,
    ) -> Result<Dispatched, ErrorResponse> {
        let lifted = lift_legacy(message, revision, ClientContext::default())
            .map_err(ErrorResponse::legacy)?;
        match lifted {
            Lifted::Request(lifted) => Ok(self.call_legacy(requester, revision, lifted, None)),
            Lifted::SetLevel { id, .. }
            | Lifted::Subscribe { id, .. }
            | Lifted::Unsubscribe { id, .. }
            | Lifted::Handshake { id, .. } => {
                let message = "this method needs a session; send `initialize` first";
                let error = Error::client(Code::SessionRequired, message);
                Err(ErrorResponse::legacy((Some(id), error)))
            }
            Lifted::Cancelled { id } => Ok(Dispatched::Cancel(id)),
            Lifted::Response { .. }
            | Lifted::RootsChanged
            | Lifted::Extension { .. }
            | Lifted::Ignored => Ok(Dispatched::NoResponse),
        }
    }

    /// Dispatches a message of a session.
    pub(crate) fn dispatch_in_session(
        &self,
        requester: &Requester,
        session: &Arc<Session>,
        message: Message,
    ) -> Result<Dispatched, ErrorResponse> {
        let revision = session.revision;
        let lifted =
            lift_legacy(message, revision, session.client()).map_err(ErrorResponse::legacy)?;
        match lifted {
            Lifted::Request(lifted) => {
                let questions = CallQuestions::new(Arc::clone(&session.questions));
                Ok(self.call_legacy(requester, revision, lifted, Some(questions)))
            }
            Lifted::Response { id, body } => {
                session.questions.answer(&id, body);
                Ok(Dispatched::NoResponse)
            }
            Lifted::SetLevel { id, level } => {
                session.log_level.set(level);
                let gateway = &self.gateway;
                gateway.log_level_changed(&requester.scope, session.affinity, level);
                Ok(Dispatched::empty_result(revision, Method::SetLevel, id))
            }
            Lifted::Subscribe { id, uri } => Ok(self.subscribe(requester, session, id, uri)),
            Lifted::Unsubscribe { id, uri } => {
                session.subscriptions.remove(&uri);
                Ok(Dispatched::empty_result(revision, Method::Unsubscribe, id))
            }
            Lifted::Handshake { id, .. } => {
                let error = Error::client(Code::InvalidRequest, "the session is already open");
                Err(ErrorResponse::legacy((Some(id), error)))
            }
            Lifted::Cancelled { id } => Ok(Dispatched::Cancel(id)),
            Lifted::RootsChanged => {
                let gateway = &self.gateway;
                gateway.roots_changed(&requester.scope, session.affinity);
                Ok(Dispatched::NoResponse)
            }
            Lifted::Extension { method, params, .. } => {
                self.notify_source(requester, &session.client(), &method, &params);
                Ok(Dispatched::NoResponse)
            }
            Lifted::Ignored => Ok(Dispatched::NoResponse),
        }
    }

    /// Sends a notification of an extension to the source of the endpoint.
    fn notify_source(
        &self,
        requester: &Requester,
        client: &ClientContext,
        method: &str,
        params: &RawJson,
    ) {
        let viewer = Viewer {
            caller: &requester.caller,
            client,
        };
        self.gateway
            .notify(&requester.scope, &viewer, method, params);
    }

    fn call_legacy(
        &self,
        requester: &Requester,
        revision: Revision,
        lifted: LiftedRequest,
        questions: Option<CallQuestions>,
    ) -> Dispatched {
        let LiftedRequest {
            id,
            method,
            operation,
            params,
            client,
            is_continuation: _,
        } = lifted;
        let request = requester.request(method, operation, params, client);
        let lowering = lowering_of(revision, method, id.clone(), &request);
        Dispatched::Call {
            id,
            messages: self.execute(request, lowering, questions),
        }
    }

    /// Starts a call of the modern era. Over HTTP its headers must match its arguments. A duplex
    /// connection stays open after a change stream, so the end of the stream is announced there.
    fn call_modern(
        &self,
        requester: &Requester,
        revision: Revision,
        lifted: LiftedRequest,
        headers: Option<&StandardHeaders>,
    ) -> Dispatched {
        let LiftedRequest {
            id,
            method,
            operation,
            params,
            client,
            is_continuation,
        } = lifted;
        let mut request = requester.request(method, operation, params, client);
        request.is_continuation = is_continuation;
        request.precondition = headers.map(|headers| headers_match(headers, &request));
        let lowering = lowering_of(revision, method, id.clone(), &request);
        let end_of_stream = match headers {
            Some(_) => None,
            None => lowering.listen_cancellation(),
        };
        let messages = self.execute(request, lowering, None);
        Dispatched::Call {
            id,
            messages: messages
                .chain(stream::iter(end_of_stream.map(Outgoing::from)))
                .boxed(),
        }
    }
}

/// The headers of a tool call repeat some of its arguments, as declared in the tool's definition.
fn headers_match(headers: &StandardHeaders, request: &Request) -> Precondition {
    let (headers, params) = (headers.clone(), request.params.clone());
    Precondition::new(move |definition| check_param_headers(&headers, &params, definition))
}

pub(crate) fn lowering_of(
    revision: Revision,
    method: Method,
    id: RequestId,
    request: &Request,
) -> Lowering {
    Lowering::new(
        revision,
        method,
        id,
        request.correlation_id,
        &request.client,
    )
}

pub(crate) fn empty_outcome() -> Outcome {
    Outcome::complete(RawJson::empty_object())
}
