//! The HTTP+SSE transport of 2024: one event stream for all outgoing messages, and an endpoint
//! for incoming ones. The session ends with its stream.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ::http::request::Parts;
use ::http::{Method, Request};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use tidegate_core::{AffinityKey, Code, Error, Principal, Result, Scope};
use tidegate_mcp::sse;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::response_stream::keep_alive_comment;
use super::{Http, accept, respond};
use crate::duplex_transport::DuplexConnection;
use crate::outgoing::Outgoing;
use crate::requester::Requester;
use crate::shared_pool::SharedPermit;

/// The open streams by the secret id in their endpoint.
#[derive(Default)]
pub(super) struct LegacyStreams(Mutex<HashMap<String, (Principal, Arc<DuplexConnection>)>>);

/// GET: opens a stream. Its first event is the endpoint for messages.
pub(super) async fn open(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    if request.method() != Method::GET {
        return respond::method_not_allowed(&http.transports.admission, "GET");
    }
    let (parts, _) = request.into_parts();
    let stream = match open_stream(&http, &parts).await {
        Ok(stream) => stream,
        Err(error) => return http.error(error),
    };
    respond::events(stream.into_body(http.transports.limits.keep_alive_interval))
}

async fn open_stream(http: &Arc<Http>, parts: &Parts) -> Result<LegacyStream> {
    let caller = http.identify(&parts.headers).await?;
    accept::check_accepts_events(&parts.headers)?;
    let permit = http.transports.admission.stream_permit(&caller.principal)?;
    let id = generate_session_id()?;
    let principal = caller.principal.clone();
    let requester = Requester {
        affinity: Some(AffinityKey::generate()),
        caller,
        scope: Scope::All,
    };
    let (connection, outgoing) = DuplexConnection::new(&http.transports, requester);
    let entry = (principal, Arc::clone(&connection));
    http.legacy_streams.0.lock().insert(id.clone(), entry);
    connection.end_when_drained();
    Ok(LegacyStream {
        http: Arc::clone(http),
        id,
        connection,
        outgoing,
        _permit: permit,
    })
}

/// POST: receives a message. Its response is sent on the stream.
pub(super) async fn receive(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    if request.method() != Method::POST {
        return respond::method_not_allowed(&http.transports.admission, "POST");
    }
    let received = async {
        let (parts, body) = request.into_parts();
        let caller = http.identify(&parts.headers).await?;
        accept::check_content(&parts.headers)?;
        let connection = find(&http, parts.uri.query(), &caller.principal)?;
        let body =
            accept::read_body(&http.transports, &caller.principal, &parts.headers, body).await?;
        connection.receive(body.bytes.clone()).await;
        Ok(())
    };
    match received.await {
        Ok(()) => respond::accepted(),
        Err(error) => http.error(error),
    }
}

fn find(http: &Http, query: Option<&str>, principal: &Principal) -> Result<Arc<DuplexConnection>> {
    let mut pairs = query.unwrap_or_default().split('&');
    let id = pairs
        .find_map(|pair| pair.strip_prefix("sessionId="))
        .ok_or_else(|| {
            let message = "the query parameter `sessionId` is missing";
            Error::client(Code::SessionRequired, message)
        })?;
    let streams = http.legacy_streams.0.lock();
    let entry = streams.get(id).filter(|(owner, _)| owner == principal);
    let connection = entry.map(|(_, connection)| Arc::clone(connection));
    connection.ok_or_else(|| {
        let message = "unknown session; open a new stream at /sse";
        Error::client(Code::SessionNotFound, message)
    })
}

fn generate_session_id() -> Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|cause| {
        Error::internal("cannot generate a session id").with_cause(cause.to_string())
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// An open stream. It is dropped with its HTTP connection and ends the session.
struct LegacyStream {
    http: Arc<Http>,
    id: String,
    connection: Arc<DuplexConnection>,
    outgoing: mpsc::Receiver<Arc<Outgoing>>,
    _permit: SharedPermit,
}

impl LegacyStream {
    fn into_body(self, keep_alive: Duration) -> Body {
        let endpoint = sse::encode_endpoint(&format!("/messages?sessionId={}", self.id));
        let messages = stream::unfold(self, move |mut stream| async move {
            let ended = stream.connection.ended.clone();
            tokio::select! {
                // Queued messages are sent before the stream ends.
                biased;
                message = timeout(keep_alive, stream.outgoing.recv()) => {
                    let bytes = match message {
                        Ok(message) => sse::encode_message(None, message?.json()).into(),
                        Err(_) => keep_alive_comment(),
                    };
                    Some((bytes, stream))
                }
                () = ended.cancelled() => None,
            }
        });
        let events = stream::iter([Bytes::from(endpoint)]).chain(messages);
        Body::from_stream(events.map(Ok::<_, Infallible>))
    }
}

impl Drop for LegacyStream {
    fn drop(&mut self) {
        self.http.legacy_streams.0.lock().remove(&self.id);
        self.connection.ended.cancel();
    }
}
