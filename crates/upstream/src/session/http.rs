//! Requests over Streamable HTTP: one HTTP exchange per request, and, in a legacy session, one
//! stream for messages that belong to no request.

mod exchange;
mod session_stream;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use tidegate_core::{ClientContext, GaugeValue, Result};
use tidegate_mcp::revision::Revision;
use tidegate_mcp::revision::client::{OutboundRequest, RequestEncoder};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::demultiplexer::Demultiplexer;
use super::in_flight::is_call;
use super::notification_queue::NotificationSender;
use super::{NegotiatedSession, Refusal, RequestChannel, ResponseStream};
use crate::config::RemoteConfig;
use crate::transport::http::body::MessageReader;
use crate::transport::http::{Endpoint, Response};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long a server may take to accept that a call was cancelled or a session has ended.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to open the session's own stream, or to refuse it.
const STREAM_TIMEOUT: Duration = Duration::from_secs(2);

/// The headers of a legacy session.
struct SessionHeaders {
    id: Option<HeaderValue>,
    version: HeaderValue,
}

/// Requests to an HTTP endpoint.
pub(super) struct HttpChannel {
    client: Arc<HttpClient>,
}

/// What the exchanges of one channel share.
struct HttpClient {
    source: String,
    endpoint: Endpoint,
    max_message_bytes: usize,
    demultiplexer: Demultiplexer,
    session: ArcSwapOption<SessionHeaders>,
    /// The session id of the last response, until the session begins.
    offered_session: Mutex<Option<HeaderValue>>,
    closed: CancellationToken,
    /// Cancellations that are being sent.
    cancellations: TaskTracker,
    /// What the source waits for when it stops.
    background_tasks: TaskTracker,
}

impl HttpChannel {
    pub(super) fn new(
        config: &RemoteConfig,
        endpoint: &Endpoint,
        background_tasks: &TaskTracker,
        notifications: NotificationSender,
    ) -> Self {
        let client = HttpClient {
            source: config.name.clone(),
            endpoint: endpoint.clone(),
            max_message_bytes: config.max_message_bytes,
            demultiplexer: Demultiplexer::new(
                &config.name,
                config.is_shared_by_principals(),
                notifications,
            ),
            session: ArcSwapOption::empty(),
            offered_session: Mutex::default(),
            closed: CancellationToken::new(),
            cancellations: TaskTracker::new(),
            background_tasks: background_tasks.clone(),
        };
        Self {
            client: Arc::new(client),
        }
    }
}

impl HttpClient {
    async fn post(&self, json: String, headers: Vec<(String, String)>) -> Result<Response> {
        let mut merged = self.session_headers();
        for (name, value) in headers {
            let name = HeaderName::try_from(name).ok();
            merged.extend(name.zip(HeaderValue::try_from(value).ok()));
        }
        let response = self.endpoint.send(Method::POST, merged, json).await?;
        if self.session.load().is_none() {
            *self.offered_session.lock() = response.headers.get(SESSION_ID).cloned();
        }
        Ok(response)
    }

    /// Opens the session's own stream, or resumes a stream after the event with this id.
    async fn get(&self, last_event_id: Option<&str>) -> Result<Response> {
        let mut headers = self.session_headers();
        let last_event_id = last_event_id.and_then(|id| HeaderValue::try_from(id).ok());
        headers.extend(last_event_id.map(|id| (LAST_EVENT_ID, id)));
        self.endpoint
            .send(Method::GET, headers, String::new())
            .await
    }

    /// Resumes an interrupted stream after this event; `None` if the server cannot resume it.
    async fn resume(&self, last_event_id: &str) -> Option<Response> {
        self.session.load_full()?;
        HeaderValue::try_from(last_event_id).ok()?;
        let response = self.get(Some(last_event_id)).await.ok()?;
        (response.status.is_success() && response.is_event_stream).then_some(response)
    }

    fn reader(&self, response: Response) -> MessageReader {
        MessageReader::new(response, self.max_message_bytes)
    }

    fn session_headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let session = self.session.load();
        let Some(session) = session.as_ref() else {
            return Vec::new();
        };
        let id = session.id.clone().map(|id| (SESSION_ID, id));
        let version = (PROTOCOL_VERSION, session.version.clone());
        [version].into_iter().chain(id).collect()
    }

    fn has_session_id(&self) -> bool {
        let session = self.session.load();
        session.as_ref().is_some_and(|session| session.id.is_some())
    }

    /// The refusal that a status implies. The end of the session ends the connection.
    fn refusal(&self, status: StatusCode) -> Option<Refusal> {
        if status == StatusCode::NOT_FOUND && self.has_session_id() {
            self.closed.cancel();
            return Some(Refusal::SessionEnded);
        }
        Refusal::from_status(status)
    }

    /// Sends the cancellation of a request. Without a session, closing the stream cancels it.
    fn cancel(self: &Arc<Self>, id: u64) {
        let in_session = self.session.load().is_some() && !self.closed.is_cancelled();
        if let (true, Ok(runtime)) = (in_session, Handle::try_current()) {
            let client = Arc::clone(self);
            let encoder = RequestEncoder {
                revision: Revision::NEWEST_LEGACY,
                client: ClientContext::default(),
            };
            let cancellation = self.cancellations.track_future(async move {
                let posted = client.post(encoder.cancelled(id), Vec::new());
                timeout(GOODBYE_TIMEOUT, posted).await.ok();
            });
            self.background_tasks.spawn_on(cancellation, &runtime);
        }
    }

    /// Ends the session, after all cancellations are sent: not every server ends the calls of a
    /// session with it.
    async fn end_session(&self) {
        self.cancellations.close();
        self.cancellations.wait().await;
        if self.has_session_id() {
            let headers = self.session_headers();
            let deleted = self.endpoint.send(Method::DELETE, headers, String::new());
            timeout(GOODBYE_TIMEOUT, deleted).await.ok();
        }
    }
}

impl RequestChannel for HttpChannel {
    fn request(&self, request: OutboundRequest, headers: Vec<(String, String)>) -> ResponseStream {
        let (id, is_call) = (request.id, is_call(request.method));
        let exchange = exchange::run(Arc::clone(&self.client), request, headers);
        let responses = stream::once(exchange).flatten().boxed();
        if self.client.session.load().is_none() {
            return responses;
        }
        // In a session, messages for this request may also arrive on the session's own stream.
        let in_flight = &self.client.demultiplexer.in_flight;
        exchange::merge(responses, in_flight.register(id, is_call, drop))
    }

    fn task_questions(&self, task: &str) -> ResponseStream {
        self.client.demultiplexer.in_flight.task_questions(task)
    }

    fn send(&self, json: String, headers: Vec<(String, String)>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let response = self.client.post(json, headers).await?;
            let (status, refusal) = (response.status, self.client.refusal(response.status));
            match status.is_success() {
                true => Ok(()),
                false => {
                    let refusal = refusal.unwrap_or_else(|| Refusal::with_body(status, b""));
                    Err(refusal.error())
                }
            }
        })
    }

    fn begin_session(&self, session: NegotiatedSession) {
        if session.declares_roots {
            self.client.demultiplexer.in_flight.set_declares_roots();
        }
        let headers = SessionHeaders {
            id: self.client.offered_session.lock().take(),
            version: HeaderValue::from_static(session.revision.as_str()),
        };
        self.client.session.store(Some(Arc::new(headers)));
    }

    fn open_session_stream(&self) -> BoxFuture<'_, ()> {
        let settled = CancellationToken::new();
        let client = Arc::clone(&self.client);
        tokio::spawn(session_stream::run(client, settled.clone()));
        Box::pin(async move {
            // Messages that a server sends before the stream is open may be lost.
            timeout(STREAM_TIMEOUT, settled.cancelled()).await.ok();
        })
    }

    fn has_unlinked_questions(&self) -> bool {
        let in_flight = &self.client.demultiplexer.in_flight;
        in_flight.has_unlinked_questions()
    }

    fn take_unknown_roots(&self) -> bool {
        self.client.demultiplexer.in_flight.take_unknown_roots()
    }

    fn gauges(&self) -> [GaugeValue; 2] {
        self.client.demultiplexer.gauges()
    }

    fn has_headers(&self) -> bool {
        true
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.client.closed.cancelled())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.client.closed.cancel();
        Box::pin(std::future::ready(()))
    }
}

impl Drop for HttpChannel {
    fn drop(&mut self) {
        self.client.closed.cancel();
        if let Ok(runtime) = Handle::try_current() {
            let client = Arc::clone(&self.client);
            let background_tasks = self.client.background_tasks.clone();
            background_tasks.spawn_on(async move { client.end_session().await }, &runtime);
        }
    }
}
