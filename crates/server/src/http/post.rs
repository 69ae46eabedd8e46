//! POST on the endpoint: a message of any revision. Tells them apart and answers, as JSON or as a
//! stream, whichever the first frame asks for.

use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderMap, Request};
use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use tidegate_core::{Result, Scope};
use tidegate_mcp::revision::{Classification, classify};
use tidegate_mcp::{Era, Inbound, Message, OutgoingMessage, Rejection, batch_not_allowed, decode};
use tokio::time::timeout;

use super::stream::Opening;
use super::{Http, accept, identify, respond, stream as bodies};
use crate::dispatch::{Peer, Taken};
use crate::frames::{OutgoingMessages, cancellable};
use crate::refusal::Refusal;
use crate::session::{Reader, Session};
use crate::subscribe;

/// How long a call of a session may take before its client gets a stream it can come back to.
const COMMIT_AFTER: Duration = Duration::from_millis(500);

pub(super) async fn post(
    http: &Arc<Http>,
    scope: Scope,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let caller = identify(http, &parts.headers).await?;
    accept::check_accept(&parts.headers)?;
    accept::check_content(&parts.headers)?;
    let accepted = accept::body(&http.transports, &parts.headers, body).await?;
    let limits = http.transports.limits.decode();
    let peer = Peer { caller, scope };
    match decode(accepted.bytes.clone(), limits)? {
        Inbound::Single(message) => {
            let id = message.request_id().cloned();
            let answer = one(http, &peer, &parts.headers, message).await;
            answer.map_err(|refusal| refusal.answering(id))
        }
        Inbound::Batch(messages) => batch(http, &peer, &parts.headers, messages).await,
    }
}

async fn one(
    http: &Arc<Http>,
    peer: &Peer,
    headers: &HeaderMap,
    message: Message,
) -> Result<Response, Refusal> {
    let headers = &accept::standard(headers)?;
    let transports = &http.transports;
    match classify(&message, headers)? {
        Classification::Modern => match transports.modern(peer, message, Some(headers))? {
            Taken::Call { frames, .. } => Ok(own_answer(http, Era::Modern, frames).await),
            Taken::Noted | Taken::Cancel(_) => Ok(respond::accepted()),
        },
        Classification::Sessionless(revision) => {
            match transports.sessionless(peer, message, revision)? {
                Taken::Call { frames, .. } => Ok(own_answer(http, Era::Legacy, frames).await),
                Taken::Noted | Taken::Cancel(_) => Ok(respond::accepted()),
            }
        }
        Classification::Handshake => handshake(http, peer, message).await,
        Classification::Session { id } => {
            let session =
                transports
                    .admission
                    .sessions
                    .find(&id, &peer.caller.principal, &peer.scope)?;
            in_session(http, peer, &session, message).await
        }
    }
}

/// The connection owns this answer. JSON if it comes before anything else does, else a stream.
async fn own_answer(http: &Http, era: Era, mut frames: OutgoingMessages) -> Response {
    let keep_alive = http.transports.limits.keep_alive_interval;
    let first = timeout(keep_alive, frames.next()).await;
    match first {
        Ok(Some(frame @ OutgoingMessage::Response { .. })) => respond::json(era, &frame),
        Ok(first) => respond::events(bodies::owned(first, frames, keep_alive)),
        Err(_) => respond::events(bodies::owned(None, frames, keep_alive)),
    }
}

async fn handshake(http: &Http, peer: &Peer, message: Message) -> Result<Response, Refusal> {
    let (frame, session) = http.transports.handshake(peer, message).await?;
    let response = respond::json(Era::Legacy, &frame);
    let Some(session) = session else {
        return Ok(response);
    };
    let (id, session) = http.transports.admission.sessions.open(session)?;
    subscribe::to_lists(&http.transports, peer, &session).await;
    Ok(respond::with_session(response, &id))
}

async fn in_session(
    http: &Http,
    peer: &Peer,
    session: &Arc<Session>,
    message: Message,
) -> Result<Response, Refusal> {
    match taken(http, peer, session, message)? {
        None => Ok(respond::accepted()),
        Some(frames) => Ok(session_answer(http, session, frames, Wanted::One).await),
    }
}

/// The session owns this answer: it is finished whether or not the client stays, and a client that
/// lost a stream can come back for the rest.
async fn session_answer(
    http: &Http,
    session: &Arc<Session>,
    mut frames: OutgoingMessages,
    wanted: Wanted,
) -> Response {
    let outlet = session.open_stream();
    let mut reader = outlet.read();
    let filling = Arc::clone(&outlet);
    http.transports.tasks.spawn(async move {
        while let Some(frame) = frames.next().await {
            filling.push(frame);
        }
        filling.finish();
    });
    let commit = tokio::time::Instant::now() + COMMIT_AFTER;
    let mut answers = Vec::new();
    loop {
        match tokio::time::timeout_at(commit, reader.next()).await {
            Ok(Some((_, frame))) if matches!(*frame, OutgoingMessage::Response { .. }) => {
                answers.push(frame);
                if answers.len() == wanted.count() {
                    session.close_stream(&outlet);
                    return wanted.whole(&answers);
                }
            }
            // Cancelled before anything was said: there is nothing to come back for.
            Ok(None) if answers.is_empty() => {
                session.close_stream(&outlet);
                return respond::accepted();
            }
            Ok(first) => return streamed(http, session, first, reader, answers.len()),
            Err(_) => return streamed(http, session, None, reader, answers.len()),
        }
    }
}

/// How the answers go out if no event comes first.
enum Wanted {
    One,
    Array(usize),
}

impl Wanted {
    fn count(&self) -> usize {
        match self {
            Self::One => 1,
            Self::Array(count) => *count,
        }
    }

    fn whole(&self, answers: &[Arc<OutgoingMessage>]) -> Response {
        match (self, answers) {
            (Self::One, [answer]) => respond::json(Era::Legacy, answer),
            _ => {
                let answers: Vec<_> = answers.iter().map(|frame| frame.json()).collect();
                respond::json_array(&answers)
            }
        }
    }
}

/// A stream from here on. Answers that were read already are read again from its start.
fn streamed(
    http: &Http,
    session: &Session,
    first: Option<(u64, Arc<OutgoingMessage>)>,
    reader: Reader,
    read_already: usize,
) -> Response {
    let primed = session.revision.primes_streams();
    let (reader, first) = match read_already {
        0 => (reader, first),
        _ => (reader.again(), None),
    };
    let opening = Opening {
        primed,
        first,
        room: None,
    };
    respond::events(bodies::shared(
        opening,
        reader,
        http.transports.limits.keep_alive_interval,
    ))
}

/// A batch: each message alone, one array for the answers, or a stream where there are events.
async fn batch(
    http: &Arc<Http>,
    peer: &Peer,
    headers: &HeaderMap,
    messages: Vec<Result<Message, Rejection>>,
) -> Result<Response, Refusal> {
    let headers = accept::standard(headers)?;
    let id = headers.session.as_deref().ok_or_else(batch_not_allowed)?;
    let session =
        http.transports
            .admission
            .sessions
            .find(id, &peer.caller.principal, &peer.scope)?;
    if !session.revision.has_batches() {
        return Err(batch_not_allowed().into());
    }
    let answers: Vec<OutgoingMessages> = messages
        .into_iter()
        .filter_map(|message| batched(http, peer, &session, message).transpose())
        .map(|answer| {
            let admission = &http.transports.admission;
            answer.unwrap_or_else(|refusal| stream::iter([refusal.to_message(admission)]).boxed())
        })
        .collect();
    match answers.len() {
        0 => Ok(respond::accepted()),
        count => {
            let frames = stream::select_all(answers).boxed();
            Ok(session_answer(http, &session, frames, Wanted::Array(count)).await)
        }
    }
}

fn batched(
    http: &Http,
    peer: &Peer,
    session: &Arc<Session>,
    message: Result<Message, Rejection>,
) -> Result<Option<OutgoingMessages>, Refusal> {
    let message = message?;
    let id = message.request_id().cloned();
    taken(http, peer, session, message).map_err(|refusal| refusal.answering(id))
}

/// The frames that answer a message of a session; none where there is nothing to say.
fn taken(
    http: &Http,
    peer: &Peer,
    session: &Arc<Session>,
    message: Message,
) -> Result<Option<OutgoingMessages>, Refusal> {
    match http.transports.in_session(peer, session, message)? {
        Taken::Noted => Ok(None),
        Taken::Cancel(id) => {
            session.in_flight.cancel(&id);
            Ok(None)
        }
        Taken::Call { id, frames } => {
            let ticket = session.in_flight.begin(&id, &session.ended)?;
            Ok(Some(cancellable(frames, ticket)))
        }
    }
}
