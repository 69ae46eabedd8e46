//! GET and DELETE on an MCP endpoint: reads the standalone stream of a session, resumes a stream, or
//! ends the session. Clients without a session cannot use them.

use std::sync::Arc;

use ::http::{HeaderMap, HeaderName};
use axum::response::Response;
use tidegate_core::{Code, Error, Principal, Result, Scope};
use tidegate_mcp::revision::required_session_id;

use super::response_stream::{StreamStart, session_stream};
use super::{Http, accept, respond};
use crate::error_response::ErrorResponse;
use crate::session::{ReplayBuffer, Session, parse_event_id};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) async fn get(
    http: &Http,
    scope: Scope,
    headers: &HeaderMap,
) -> Result<Response, ErrorResponse> {
    let (id, principal) = session_and_principal(http, headers).await?;
    let transports = &http.transports;
    let session = transports.sessions.find(&id, &principal, &scope)?;
    accept::check_accepts_events(headers)?;
    let permit = Some(transports.admission.stream_permit(&principal)?);
    let reader = match accept::single_header(headers, &LAST_EVENT_ID)? {
        None => session.standalone.try_reader().ok_or_else(stream_taken)?,
        Some(id) => {
            let (stream, sequence) = find_stream(&session, id)?;
            if stream.is_finished_after(sequence) {
                return Ok(respond::stream_finished());
            }
            stream.reader_after(sequence)
        }
    };
    let start = StreamStart {
        is_primed: session.revision.primes_streams(),
        first: None,
        permit,
    };
    Ok(session_stream(http, start, reader))
}

pub(super) async fn delete(
    http: &Http,
    scope: Scope,
    headers: &HeaderMap,
) -> Result<Response, ErrorResponse> {
    let (id, principal) = session_and_principal(http, headers).await?;
    let sessions = &http.transports.sessions;
    sessions.end(&id, &principal, &scope)?;
    Ok(respond::session_ended())
}

async fn session_and_principal(http: &Http, headers: &HeaderMap) -> Result<(String, Principal)> {
    let caller = http.identify(headers).await?;
    let headers = accept::standard_headers(headers)?;
    Ok((
        required_session_id(&headers)?.to_owned(),
        caller.principal.clone(),
    ))
}

/// The stream of an event id, and the sequence number of the event.
fn find_stream(session: &Session, event_id: &str) -> Result<(Arc<ReplayBuffer>, u64)> {
    let find = || {
        let (stream, sequence) = parse_event_id(event_id)?;
        Some((session.stream(stream)?, sequence))
    };
    find().ok_or_else(|| {
        let message = "unknown `Last-Event-ID`: no stream of this session has this event";
        Error::client(Code::InvalidRequest, message)
    })
}

fn stream_taken() -> Error {
    let message =
        "the stream of this session already has a reader; send `Last-Event-ID` to replace it";
    Error::client(Code::StreamTaken, message)
}
