//! The oldest HTTP transport: one stream for everything the gateway says, and an endpoint to post
//! to. The stream is the session; when it goes, the session goes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Method, Request};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Code, Error, Principal, Result, Scope};
use tidegate_mcp::sse;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use super::{Http, accept, identify, respond};
use crate::dispatch::Peer;
use crate::duplex_transport::Pipe;
use crate::refusal::Refusal;

/// The streams that are open, by the secret in their endpoint.
#[derive(Default)]
pub(super) struct Channels(Mutex<HashMap<String, (Principal, Arc<Pipe>)>>);

impl Channels {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Principal, Arc<Pipe>)>> {
        self.0.lock()
    }
}

/// GET: opens a stream, and says first where to post.
pub(super) async fn open(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    let (parts, _) = request.into_parts();
    if parts.method != Method::GET {
        return respond::only(&http.transports.admission, "GET");
    }
    let opened = async {
        let caller = identify(&http, &parts.headers).await?;
        accept::check_accepts_events(&parts.headers)?;
        let room = http.transports.admission.stream()?;
        let secret = secret()?;
        let principal = caller.principal.clone();
        let (pipe, said) = Pipe::new(
            &http.transports,
            Peer {
                caller,
                scope: Scope::All,
            },
        );
        http.channels
            .lock()
            .insert(secret.clone(), (principal, Arc::clone(&pipe)));
        pipe.end_when_drained();
        let channel = Channel {
            http: Arc::clone(&http),
            secret,
            pipe,
            said,
            _room: room,
        };
        Ok::<_, Refusal>(respond::events(
            channel.body(http.transports.limits.keep_alive_interval),
        ))
    };
    opened
        .await
        .unwrap_or_else(|refusal| respond::refusal(&http.transports.admission, &refusal))
}

/// POST: takes one message; the answer goes out on the stream.
pub(super) async fn message(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    if request.method() != Method::POST {
        return respond::only(&http.transports.admission, "POST");
    }
    let taken = async {
        let (parts, body) = request.into_parts();
        let caller = identify(&http, &parts.headers).await?;
        accept::check_content(&parts.headers)?;
        let pipe = find(&http, parts.uri.query(), &caller.principal)?;
        let accepted = accept::body(&http.transports, &parts.headers, body).await?;
        pipe.take(accepted.bytes.clone()).await;
        Ok::<_, Refusal>(respond::accepted())
    };
    taken
        .await
        .unwrap_or_else(|refusal| respond::refusal(&http.transports.admission, &refusal))
}

fn find(http: &Http, query: Option<&str>, principal: &Principal) -> Result<Arc<Pipe>> {
    let secret = query
        .and_then(|query| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix("sessionId="))
        })
        .ok_or_else(|| Error::client(Code::SessionRequired, "`sessionId` is missing"))?;
    let channels = http.channels.lock();
    let found = channels.get(secret).filter(|(owner, _)| owner == principal);
    found.map(|(_, pipe)| Arc::clone(pipe)).ok_or_else(|| {
        Error::client(
            Code::SessionNotFound,
            "there is no such session; open a new stream",
        )
    })
}

fn secret() -> Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|cause| {
        Error::internal("no stream could be opened").with_cause(cause.to_string())
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// An open stream. Dropped with its connection, it ends what belongs to it.
struct Channel {
    http: Arc<Http>,
    secret: String,
    pipe: Arc<Pipe>,
    said: mpsc::Receiver<String>,
    _room: OwnedSemaphorePermit,
}

impl Channel {
    fn body(self, keep_alive: Duration) -> Body {
        let endpoint = Bytes::from(sse::encode_endpoint(&format!(
            "/messages?sessionId={}",
            self.secret
        )));
        let rest = stream::unfold(self, move |mut channel| async move {
            let ended = channel.pipe.ended.clone();
            tokio::select! {
                // What was said goes out before the end does.
                biased;
                said = timeout(keep_alive, channel.said.recv()) => {
                    let bytes = match said {
                        Ok(said) => sse::encode_message(None, &said?).into(),
                        Err(_) => Bytes::from_static(sse::KEEP_ALIVE.as_bytes()),
                    };
                    Some((bytes, channel))
                }
                () = ended.cancelled() => None,
            }
        });
        Body::from_stream(
            stream::iter([endpoint])
                .chain(rest)
                .map(Ok::<_, Infallible>),
        )
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.http.channels.lock().remove(&self.secret);
        self.pipe.ended.cancel();
    }
}
