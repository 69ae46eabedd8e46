//! The path of a message through every transport: it is lifted, and `frames` has the core answer it. What
//! differs between HTTP and stdio ends before it and begins after it.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tidegate_core::{
    Caller, ChangeFilter, ClientContext, Code, CorrelationId, Error, GatewayOperation, Operation,
    Outcome, Precondition, RawJson, Reply, Request, Result, Scope,
};
use tidegate_interaction::CallQuestions;
use tidegate_mcp::revision::{
    LiftedRequest, Method, StandardHeaders, check_param_headers, lift_legacy, lift_modern,
};
use tidegate_mcp::{Lifted, Lowering, Message, OutgoingMessage, RequestId, Revision};

use crate::frames::{OutgoingMessages, one};
use crate::refusal::{Refusal, note_refusal};
use crate::session::Session;
use crate::{Transports, subscribe};

/// Who talks, to which part of the gateway.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) caller: Arc<Caller>,
    pub(crate) scope: Scope,
}

/// What comes of a message.
pub(crate) enum Taken {
    /// A notification, or a response to us: taken, and nothing to say.
    Noted,
    /// The client gives up on a request.
    Cancel(RequestId),
    Call {
        id: RequestId,
        frames: OutgoingMessages,
    },
}

impl Transports {
    /// Takes a stateless message. `headers` are those of HTTP; a pipe has none.
    pub(crate) fn modern(
        &self,
        peer: &Peer,
        message: Message,
        headers: Option<&StandardHeaders>,
    ) -> Result<Taken, Refusal> {
        let (revision, lifted) = lift_modern(message, headers)?;
        match lifted {
            Lifted::Request(asked) => Ok(self.stateless(peer, revision, asked, headers)),
            Lifted::Cancelled { id } => Ok(Taken::Cancel(id)),
            _ => Ok(Taken::Noted),
        }
    }

    /// Takes a message of a client that says nothing about itself.
    pub(crate) fn sessionless(
        &self,
        peer: &Peer,
        message: Message,
        revision: Revision,
    ) -> Result<Taken, Refusal> {
        let lifted =
            lift_legacy(message, revision, ClientContext::default()).map_err(Refusal::legacy)?;
        match lifted {
            Lifted::Request(asked) => Ok(self.call(peer, revision, asked, None)),
            Lifted::SetLevel { id, .. }
            | Lifted::Subscribe { id, .. }
            | Lifted::Unsubscribe { id, .. }
            | Lifted::Handshake { id, .. } => {
                let error = Error::client(
                    Code::SessionRequired,
                    "this needs a session; initialize first",
                );
                Err(Refusal::legacy((Some(id), error)))
            }
            Lifted::Cancelled { id } => Ok(Taken::Cancel(id)),
            Lifted::Response { .. } | Lifted::RootsChanged | Lifted::Ignored => Ok(Taken::Noted),
        }
    }

    /// Takes a message of a session.
    pub(crate) fn in_session(
        &self,
        peer: &Peer,
        session: &Arc<Session>,
        message: Message,
    ) -> Result<Taken, Refusal> {
        let revision = session.revision;
        let lifted = lift_legacy(message, revision, session.client()).map_err(Refusal::legacy)?;
        match lifted {
            Lifted::Request(asked) => {
                let asking = CallQuestions::new(Arc::clone(&session.questions));
                Ok(self.call(peer, revision, asked, Some(asking)))
            }
            Lifted::Response { id, body } => {
                session.questions.answer(&id, body);
                Ok(Taken::Noted)
            }
            Lifted::SetLevel { id, level } => {
                session.set_level(level);
                Ok(done(revision, Method::SetLevel, id))
            }
            Lifted::Unsubscribe { id, uri } => {
                session.unsubscribe(&uri);
                Ok(done(revision, Method::Unsubscribe, id))
            }
            Lifted::Subscribe { id, uri } => Ok(self.subscribe(peer, session, id, uri)),
            Lifted::Handshake { id, .. } => {
                let error = Error::client(Code::InvalidRequest, "this session is open already");
                Err(Refusal::legacy((Some(id), error)))
            }
            Lifted::Cancelled { id } => Ok(Taken::Cancel(id)),
            Lifted::RootsChanged => {
                self.gateway.roots_changed(&peer.scope, session.affinity);
                Ok(Taken::Noted)
            }
            Lifted::Ignored => Ok(Taken::Noted),
        }
    }

    /// Answers a handshake. The session is there only if the gateway lets the client in.
    pub(crate) async fn handshake(
        &self,
        peer: &Peer,
        message: Message,
    ) -> Result<(OutgoingMessage, Option<Session>), Refusal> {
        let lifted = lift_legacy(message, Revision::NEWEST_LEGACY, ClientContext::default());
        let (id, handshake) = match lifted.map_err(Refusal::legacy)? {
            Lifted::Handshake { id, handshake } => (id, handshake),
            _ => {
                return Err(Error::client(Code::InvalidRequest, "a handshake is a request").into());
            }
        };
        let operation = Operation::Gateway(GatewayOperation::Discover);
        let client = ClientContext {
            capabilities: handshake.capabilities.clone(),
            client_info: handshake.client_info.clone(),
            ..ClientContext::default()
        };
        let params = RawJson::empty_object();
        let request = self.request(peer, Method::Initialize, operation, params, client);
        let lowering = lowering(handshake.revision, Method::Initialize, id, &request);
        let frame = match self.gateway.handle(request).await {
            Ok(Reply::Done(outcome)) => lowering.outcome(&outcome),
            Ok(Reply::Stream(_)) => lowering.error(&Error::internal("the gateway did not answer")),
            Err(error) => lowering.error(&error),
        };
        let let_in = matches!(frame, OutgoingMessage::Response { code: None, .. });
        let session = let_in.then(|| {
            let (principal, scope) = (peer.caller.principal.clone(), peer.scope.clone());
            Session::new(principal, scope, handshake, &self.limits, &self.ended)
        });
        Ok((frame, session))
    }

    /// A request for the core.
    pub(crate) fn request(
        &self,
        peer: &Peer,
        method: Method,
        operation: Operation,
        params: RawJson,
        client: ClientContext,
    ) -> Request {
        Request {
            correlation: CorrelationId::fresh(),
            caller: Arc::clone(&peer.caller),
            scope: peer.scope.clone(),
            label: method.name(),
            client,
            operation,
            params,
            is_continuation: false,
            precondition: None,
        }
    }

    fn call(
        &self,
        peer: &Peer,
        revision: Revision,
        asked: LiftedRequest,
        asking: Option<CallQuestions>,
    ) -> Taken {
        let LiftedRequest {
            id,
            method,
            operation,
            params,
            client,
            is_continuation: _,
        } = asked;
        let request = self.request(peer, method, operation, params, client);
        let lowering = lowering(revision, method, id.clone(), &request);
        Taken::Call {
            id,
            frames: self.frames(request, lowering, asking),
        }
    }

    /// A call without a session: its headers must repeat its arguments; and on a pipe, which stays
    /// open, a stream of changes ends with a farewell.
    fn stateless(
        &self,
        peer: &Peer,
        revision: Revision,
        asked: LiftedRequest,
        headers: Option<&StandardHeaders>,
    ) -> Taken {
        let LiftedRequest {
            id,
            method,
            operation,
            params,
            client,
            is_continuation,
        } = asked;
        let mut request = self.request(peer, method, operation, params, client);
        request.is_continuation = is_continuation;
        request.precondition = headers.map(|headers| repeats(headers, &request));
        let lowering = lowering(revision, method, id.clone(), &request);
        let farewell = if headers.is_none() {
            lowering.listen_cancellation()
        } else {
            None
        };
        let frames = self
            .frames(request, lowering, None)
            .chain(stream::iter(farewell));
        Taken::Call {
            id,
            frames: frames.boxed(),
        }
    }

    fn subscribe(&self, peer: &Peer, session: &Arc<Session>, id: RequestId, uri: String) -> Taken {
        let operation = Operation::Gateway(GatewayOperation::Listen(ChangeFilter::for_uri(&uri)));
        let params = RawJson::empty_object();
        let request = self.request(peer, Method::Subscribe, operation, params, session.client());
        let lowering = lowering(session.revision, Method::Subscribe, id.clone(), &request);
        // Noted before anything is awaited: an unsubscribe that comes next ends it.
        let ended = match session.subscribe(&uri) {
            Ok(Some(ended)) => ended,
            Ok(None) => return done(session.revision, Method::Subscribe, id),
            Err(error) => {
                note_refusal(&self.admission, request.correlation, &error);
                return Taken::Call {
                    id,
                    frames: one(lowering.error(&error)),
                };
            }
        };
        let (gateway, tasks) = (Arc::clone(&self.gateway), self.tasks.clone());
        let (load, session) = (Arc::clone(&self.admission), Arc::clone(session));
        let correlation = request.correlation;
        let frame = async move {
            match subscribe::to_resource(&gateway, &tasks, &session, request, &uri, ended).await {
                Ok(true) => lowering.outcome(&nothing()),
                Ok(false) => {
                    session.unsubscribe(&uri);
                    let error = subscribe::cannot(&uri);
                    note_refusal(&load, correlation, &error);
                    lowering.error(&error)
                }
                Err(error) => {
                    session.unsubscribe(&uri);
                    lowering.error(&error)
                }
            }
        };
        Taken::Call {
            id,
            frames: stream::once(frame).boxed(),
        }
    }
}

/// The headers of a call say what its arguments say.
fn repeats(headers: &StandardHeaders, request: &Request) -> Precondition {
    let (headers, params) = (headers.clone(), request.params.clone());
    Precondition::new(move |definition| check_param_headers(&headers, &params, definition))
}

fn lowering(revision: Revision, method: Method, id: RequestId, request: &Request) -> Lowering {
    Lowering::new(revision, method, id, request.correlation, &request.client)
}

/// The empty answer.
fn done(revision: Revision, method: Method, id: RequestId) -> Taken {
    let correlation = CorrelationId::fresh();
    let lowering = Lowering::new(
        revision,
        method,
        id.clone(),
        correlation,
        &ClientContext::default(),
    );
    Taken::Call {
        id,
        frames: one(lowering.outcome(&nothing())),
    }
}

fn nothing() -> Outcome {
    Outcome::complete(RawJson::empty_object())
}
