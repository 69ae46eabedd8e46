//! The path of a message through every door: lift, then resolve, govern and serve in the core, then
//! lower. What differs between HTTP and stdio ends before it and begins after it.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use tidegate_core::{
    Ask, Caller, Code, CorrelationId, Error, Event, Filter, Outcome, Own, Precondition, RawJson,
    Reply, Request, Result, Scope, Terms,
};
use tidegate_mcp::revision::{
    Asked, Method, StandardHeaders, check_param_headers, lift_legacy, lift_modern,
};
use tidegate_mcp::{Frame, Lifted, Lowering, Message, RequestId, Revision};

use crate::in_flight::Ticket;
use crate::questions::Asking;
use crate::refusal::{Refusal, note_refusal};
use crate::rounds::in_rounds;
use crate::session::Session;
use crate::{Doors, subscribe};

/// Who talks, to which part of the gateway.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) caller: Arc<Caller>,
    pub(crate) scope: Scope,
}

/// The messages that answer one request: notices, then one answer. Dropping it cancels the call.
pub(crate) type Frames = BoxStream<'static, Frame>;

/// What comes of a message.
pub(crate) enum Taken {
    /// A notification, or a response to us: taken, and nothing to say.
    Noted,
    /// The client gives up on a request.
    Cancel(RequestId),
    Call {
        id: RequestId,
        frames: Frames,
    },
}

impl Doors {
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
        let lifted = lift_legacy(message, revision, Terms::default()).map_err(Refusal::legacy)?;
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
            Lifted::Answered { .. } | Lifted::RootsChanged | Lifted::Noted => Ok(Taken::Noted),
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
        let lifted = lift_legacy(message, revision, session.terms()).map_err(Refusal::legacy)?;
        match lifted {
            Lifted::Request(asked) => {
                let asking = Asking::new(Arc::clone(&session.questions));
                Ok(self.call(peer, revision, asked, Some(asking)))
            }
            Lifted::Answered { id, answer } => {
                session.questions.answer(&id, answer);
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
                self.gateway.roots_changed(&peer.scope, session.number);
                Ok(Taken::Noted)
            }
            Lifted::Noted => Ok(Taken::Noted),
        }
    }

    /// Answers a handshake. The session is there only if the gateway lets the client in.
    pub(crate) async fn handshake(
        &self,
        peer: &Peer,
        message: Message,
    ) -> Result<(Frame, Option<Session>), Refusal> {
        let lifted = lift_legacy(message, Revision::NEWEST_LEGACY, Terms::default());
        let (id, handshake) = match lifted.map_err(Refusal::legacy)? {
            Lifted::Handshake { id, handshake } => (id, handshake),
            _ => {
                return Err(Error::client(Code::InvalidRequest, "a handshake is a request").into());
            }
        };
        let ask = Ask::Own(Own::Discover);
        let terms = Terms {
            capabilities: handshake.capabilities.clone(),
            client: handshake.client.clone(),
            ..Terms::default()
        };
        let params = RawJson::empty_object();
        let request = self.request(peer, Method::Initialize, ask, params, terms);
        let lowering = lowering(handshake.revision, Method::Initialize, id, &request);
        let frame = match self.gateway.handle(request).await {
            Ok(Reply::Done(outcome)) => lowering.outcome(&outcome),
            Ok(Reply::Stream(_)) => lowering.error(&Error::internal("the gateway did not answer")),
            Err(error) => lowering.error(&error),
        };
        let let_in = matches!(frame, Frame::Final { code: None, .. });
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
        ask: Ask,
        params: RawJson,
        terms: Terms,
    ) -> Request {
        Request {
            correlation: CorrelationId::fresh(),
            caller: Arc::clone(&peer.caller),
            scope: peer.scope.clone(),
            label: method.name(),
            terms,
            ask,
            params,
            continues: false,
            precondition: None,
        }
    }

    fn call(&self, peer: &Peer, revision: Revision, asked: Asked, asking: Option<Asking>) -> Taken {
        let Asked {
            id,
            method,
            ask,
            params,
            terms,
            continues: _,
        } = asked;
        let request = self.request(peer, method, ask, params, terms);
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
        asked: Asked,
        headers: Option<&StandardHeaders>,
    ) -> Taken {
        let Asked {
            id,
            method,
            ask,
            params,
            terms,
            continues,
        } = asked;
        let mut request = self.request(peer, method, ask, params, terms);
        request.continues = continues;
        request.precondition = headers.map(|headers| repeats(headers, &request));
        let lowering = lowering(revision, method, id.clone(), &request);
        let farewell = if headers.is_none() {
            lowering.farewell()
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

    /// Resolve, govern, serve and lower, as a stream of messages.
    fn frames(&self, request: Request, lowering: Lowering, asking: Option<Asking>) -> Frames {
        let room = match &request.ask {
            Ask::Own(Own::Listen(filter))
                if filter.uris.len() + filter.tasks.len() > self.limits.subscriptions =>
            {
                Err(subscribe::too_many(self.limits.subscriptions))
            }
            Ask::Own(Own::Listen(_)) => self.load.stream(),
            _ => self.load.call(),
        };
        let room = match room {
            Ok(room) => room,
            Err(error) => {
                note_refusal(&self.load, lowering.correlation, &error);
                return one(lowering.error(&error));
            }
        };
        let (gateway, patience) = (Arc::clone(&self.gateway), self.limits.answer_time);
        let frames = stream::once(async move {
            let reply = match &asking {
                Some(_) if may_ask(&request.ask) => {
                    Ok(Reply::Stream(in_rounds(gateway, request, patience)))
                }
                _ => gateway.handle(request).await,
            };
            lowered(reply, lowering, asking)
        });
        holding(frames.flatten(), room)
    }

    fn subscribe(&self, peer: &Peer, session: &Arc<Session>, id: RequestId, uri: String) -> Taken {
        let ask = Ask::Own(Own::Listen(Filter::uri(&uri)));
        let params = RawJson::empty_object();
        let request = self.request(peer, Method::Subscribe, ask, params, session.terms());
        let lowering = lowering(session.revision, Method::Subscribe, id.clone(), &request);
        // Noted before anything is awaited: an unsubscribe that comes next ends it.
        let ended = match session.subscribe(&uri) {
            Ok(Some(ended)) => ended,
            Ok(None) => return done(session.revision, Method::Subscribe, id),
            Err(error) => {
                note_refusal(&self.load, request.correlation, &error);
                return Taken::Call {
                    id,
                    frames: one(lowering.error(&error)),
                };
            }
        };
        let (gateway, tasks) = (Arc::clone(&self.gateway), self.tasks.clone());
        let (load, session) = (Arc::clone(&self.load), Arc::clone(session));
        let correlation = request.correlation;
        let frame = async move {
            let outlet = &session.standing;
            match subscribe::to_resource(&gateway, &tasks, outlet, request, &uri, ended).await {
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

/// Whether the answer may be a question.
fn may_ask(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::Tool { .. } | Ask::Prompt { .. } | Ask::Resource { .. }
    )
}

/// The headers of a call say what its arguments say.
fn repeats(headers: &StandardHeaders, request: &Request) -> Precondition {
    let (headers, params) = (headers.clone(), request.params.clone());
    Precondition::new(move |definition| check_param_headers(&headers, &params, definition))
}

/// Ends the frames when their call is cancelled, and takes it off the list when they end.
pub(crate) fn cancellable(frames: Frames, ticket: Ticket) -> Frames {
    let cancelled = ticket.cancelled.clone().cancelled_owned();
    holding(frames.take_until(cancelled), ticket)
}

/// Keeps `held` until the answer is there, or the call is dropped.
fn holding<T: Send + 'static>(
    frames: impl Stream<Item = Frame> + Send + 'static,
    held: T,
) -> Frames {
    let mut held = Some(held);
    let release = move |frame| {
        if matches!(frame, Frame::Final { .. }) {
            drop(held.take());
        }
        frame
    };
    frames.map(release).boxed()
}

fn lowering(revision: Revision, method: Method, id: RequestId, request: &Request) -> Lowering {
    Lowering::new(revision, method, id, request.correlation, &request.terms)
}

fn lowered(reply: Result<Reply>, lowering: Lowering, mut asking: Option<Asking>) -> Frames {
    match reply {
        Ok(Reply::Done(outcome)) => one(checked(lowering.outcome(&outcome), &lowering)),
        Ok(Reply::Stream(events)) => {
            let frames = events.filter_map(move |event| {
                let frame = match event {
                    // Without a session there is nobody to ask: dropped, it is declined.
                    Ok(Event::Question(question)) => {
                        let asked = asking.as_mut().and_then(|asking| asking.ask(question));
                        asked.map(Frame::Notice)
                    }
                    Ok(event) => lowering.event(event).map(|frame| checked(frame, &lowering)),
                    Err(error) => {
                        if let Some(asking) = &asking {
                            asking.note(&error);
                        }
                        Some(lowering.error(&error))
                    }
                };
                if let (Some(Frame::Final { .. }), Some(asking)) = (&frame, &mut asking) {
                    asking.leave();
                }
                std::future::ready(frame)
            });
            frames.boxed()
        }
        Err(error) => one(lowering.error(&error)),
    }
}

/// A reply that could not be lowered became an error after the layer that logs errors.
fn checked(frame: Frame, lowering: &Lowering) -> Frame {
    if let Frame::Final {
        code: Some(code), ..
    } = &frame
    {
        let (correlation, method) = (lowering.correlation, lowering.method.name());
        tracing::error!(%correlation, method, ?code, "a reply does not fit its client's revision");
    }
    frame
}

/// The empty answer.
fn done(revision: Revision, method: Method, id: RequestId) -> Taken {
    let correlation = CorrelationId::fresh();
    let lowering = Lowering::new(revision, method, id.clone(), correlation, &Terms::default());
    Taken::Call {
        id,
        frames: one(lowering.outcome(&nothing())),
    }
}

fn nothing() -> Outcome {
    Outcome::complete(RawJson::empty_object())
}

fn one(frame: Frame) -> Frames {
    stream::once(std::future::ready(frame)).boxed()
}
