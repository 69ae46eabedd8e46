//! GET and DELETE on the endpoint: a session's stream of what no call asked for, the rest of a
//! stream that broke, and the end of a session. Clients without sessions have neither.

use std::sync::Arc;

use ::http::{HeaderMap, HeaderName};
use axum::response::Response;
use tidegate_core::{Code, Error, Principal, Result, Scope};
use tidegate_mcp::revision::required_session_id;

use super::stream::Opening;
use super::{Http, accept, identify, respond, stream};
use crate::refusal::Refusal;
use crate::session::{Outlet, Session, parse_event_id};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) async fn get(
    http: &Http,
    scope: Scope,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let session = find(http, scope, headers).await?;
    accept::check_accepts_events(headers)?;
    let primed = session.revision.primes_streams();
    let keep_alive = http.transports.limits.keep_alive_interval;
    let room = Some(http.transports.admission.stream()?);
    let reader = match accept::only(headers, &LAST_EVENT_ID)? {
        None => session.standing.try_read().ok_or_else(taken)?,
        Some(id) => {
            let (outlet, after) = resumed(&session, id)?;
            if outlet.is_over_after(after) {
                return Ok(respond::nothing_left());
            }
            outlet.read_from(after)
        }
    };
    let opening = Opening {
        primed,
        first: None,
        room,
    };
    Ok(respond::events(stream::shared(opening, reader, keep_alive)))
}

pub(super) async fn delete(
    http: &Http,
    scope: Scope,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let (id, principal) = whose(http, headers).await?;
    http.transports
        .admission
        .sessions
        .end(&id, &principal, &scope)?;
    Ok(respond::session_ended())
}

async fn find(http: &Http, scope: Scope, headers: &HeaderMap) -> Result<Arc<Session>, Refusal> {
    let (id, principal) = whose(http, headers).await?;
    Ok(http
        .transports
        .admission
        .sessions
        .find(&id, &principal, &scope)?)
}

/// The session a request names, and who names it.
async fn whose(http: &Http, headers: &HeaderMap) -> Result<(String, Principal), Refusal> {
    let caller = identify(http, headers).await?;
    let standard = accept::standard(headers)?;
    Ok((
        required_session_id(&standard)?.to_owned(),
        caller.principal.clone(),
    ))
}

/// The stream of this session that an event id belongs to.
fn resumed(session: &Session, id: &str) -> Result<(Arc<Outlet>, u64)> {
    let unknown = || {
        Error::client(
            Code::InvalidRequest,
            "no stream of this session has this event",
        )
    };
    let (stream, after) = parse_event_id(id).ok_or_else(unknown)?;
    let outlet = session.stream(stream).ok_or_else(unknown)?;
    Ok((outlet, after))
}

fn taken() -> Error {
    Error::client(
        Code::StreamTaken,
        "this session's stream is being read already; come back with `Last-Event-ID` to take over",
    )
}
