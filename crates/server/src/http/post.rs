//! POST on an MCP endpoint: receives a message of any revision and selects how it is served.

use std::sync::Arc;

use ::http::{HeaderMap, Request};
use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::stream;
use tidegate_core::{Result, Scope};
use tidegate_mcp::revision::{Classification, classify};
use tidegate_mcp::{Era, Inbound, Message, Rejection, batch_not_allowed, decode};

use super::response_stream::{SessionResponse, connection_response, session_response};
use super::{Http, accept, respond};
use crate::change_delivery::deliver_list_changes;
use crate::dispatch::Dispatched;
use crate::error_response::ErrorResponse;
use crate::execution::single_message;
use crate::log_delivery::deliver_log_messages;
use crate::outgoing::OutgoingMessageStream;
use crate::requester::Requester;
use crate::session::Session;

pub(super) async fn post(
    http: &Arc<Http>,
    scope: Scope,
    request: Request<Body>,
) -> Result<Response, ErrorResponse> {
    let (parts, body) = request.into_parts();
    let caller = http.identify(&parts.headers).await?;
    accept::check_accept(&parts.headers)?;
    accept::check_content(&parts.headers)?;
    let body = accept::read_body(&http.transports, &caller.principal, &parts.headers, body).await?;
    let limits = http.transports.limits.decode();
    let requester = Requester {
        caller,
        scope,
        affinity: None,
    };
    match decode(body.bytes.clone(), limits)? {
        Inbound::Single(message) => {
            let id = message.request_id().cloned();
            let response = serve_message(http, &requester, &parts.headers, message).await;
            response.map_err(|response| response.with_id(id))
        }
        Inbound::Batch(messages) => serve_batch(http, &requester, &parts.headers, messages).await,
    }
}

async fn serve_message(
    http: &Http,
    requester: &Requester,
    headers: &HeaderMap,
    message: Message,
) -> Result<Response, ErrorResponse> {
    let headers = &accept::standard_headers(headers)?;
    let transports = &http.transports;
    match classify(&message, headers)? {
        Classification::Modern => {
            let dispatched = transports.dispatch_modern(requester, message, Some(headers))?;
            Ok(response_on_connection(http, Era::Modern, dispatched).await)
        }
        Classification::Sessionless(revision) => {
            let dispatched = transports.dispatch_sessionless(requester, message, revision)?;
            Ok(response_on_connection(http, Era::Legacy, dispatched).await)
        }
        Classification::Handshake => handshake(http, requester, message).await,
        Classification::Session { id } => {
            let session = find_session(http, requester, &id)?;
            match dispatch_in_session(http, requester, &session, message)? {
                None => Ok(respond::accepted()),
                Some(messages) => {
                    let kind = SessionResponse::Single;
                    Ok(session_response(http, &session, messages, kind).await)
                }
            }
        }
    }
}

/// Without a session a client cancels its call by closing the connection.
async fn response_on_connection(http: &Http, era: Era, dispatched: Dispatched) -> Response {
    match dispatched {
        Dispatched::Call { messages, .. } => connection_response(http, era, messages).await,
        Dispatched::NoResponse | Dispatched::Cancel(_) => respond::accepted(),
    }
}

async fn handshake(
    http: &Http,
    requester: &Requester,
    message: Message,
) -> Result<Response, ErrorResponse> {
    let transports = &http.transports;
    let (message, session) = transports.handshake(requester, message).await?;
    let response = respond::json(http.error_status, Era::Legacy, message);
    let Some(session) = session else {
        return Ok(response);
    };
    let (id, session) = transports.sessions.add(session, &transports.admission)?;
    deliver_list_changes(transports, requester, &session).await;
    deliver_log_messages(transports, requester, &session);
    Ok(respond::with_session_id(response, &id))
}

/// Serves each message of a batch by itself. The responses are one array, or a stream if there are
/// notifications too.
async fn serve_batch(
    http: &Http,
    requester: &Requester,
    headers: &HeaderMap,
    messages: Vec<Result<Message, Rejection>>,
) -> Result<Response, ErrorResponse> {
    let headers = accept::standard_headers(headers)?;
    let id = headers.session.as_deref().ok_or_else(batch_not_allowed)?;
    let session = find_session(http, requester, id)?;
    if !session.revision.has_batches() {
        return Err(batch_not_allowed().into());
    }
    let calls: Vec<OutgoingMessageStream> = messages
        .into_iter()
        .filter_map(|message| {
            let messages = dispatch_batched(http, requester, &session, message);
            messages.unwrap_or_else(|response| {
                let admission = &http.transports.admission;
                Some(single_message(response.to_message(admission)))
            })
        })
        .collect();
    match calls.len() {
        0 => Ok(respond::accepted()),
        count => {
            let messages = stream::select_all(calls).boxed();
            let kind = SessionResponse::Batch(count);
            Ok(session_response(http, &session, messages, kind).await)
        }
    }
}

fn dispatch_batched(
    http: &Http,
    requester: &Requester,
    session: &Arc<Session>,
    message: Result<Message, Rejection>,
) -> Result<Option<OutgoingMessageStream>, ErrorResponse> {
    let message = message?;
    let id = message.request_id().cloned();
    let messages = dispatch_in_session(http, requester, session, message);
    messages.map_err(|response| response.with_id(id))
}

/// The messages that answer a message of a session; `None` if it gets no response.
fn dispatch_in_session(
    http: &Http,
    requester: &Requester,
    session: &Arc<Session>,
    message: Message,
) -> Result<Option<OutgoingMessageStream>, ErrorResponse> {
    let transports = &http.transports;
    let dispatched = transports.dispatch_in_session(requester, session, message)?;
    Ok(dispatched.track(&session.in_flight, &session.ended)?)
}

fn find_session(http: &Http, requester: &Requester, id: &str) -> Result<Arc<Session>> {
    let sessions = &http.transports.sessions;
    sessions.find(id, &requester.caller.principal, &requester.scope)
}
