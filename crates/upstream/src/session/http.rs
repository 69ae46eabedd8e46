//! A server at an HTTP endpoint: one exchange a request.

mod exchange;
mod session_stream;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{ClientContext, GaugeValue, Result};
use tidegate_mcp::revision::Revision;
use tidegate_mcp::revision::client::{OutboundRequest, RequestEncoder};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::in_flight::{Pending, is_call};
use super::invalid_messages::Junk;
use super::{Link, Refusal, Session, Talk, Unasked};
use crate::config::RemoteConfig;
use crate::session::notification_queue::{NewsSender, mailbox};
use crate::transport::http::{Endpoint, Response};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long the end of a call, or of a session, may take to be told.
const LEAVING: Duration = Duration::from_secs(2);

/// How long a server may take to open the stream of a session, or to say that it has none.
const STREAM: Duration = Duration::from_secs(2);

/// What a legacy session needs on each of its exchanges.
#[derive(Clone)]
pub(crate) struct SessionHeaders {
    id: Option<HeaderValue>,
    version: HeaderValue,
}

/// An endpoint.
pub(crate) struct HttpLink {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    endpoint: Endpoint,
    max_message_bytes: usize,
    junk: Arc<Junk>,
    session: ArcSwapOption<SessionHeaders>,
    /// The session that the last answer opened, until it is entered.
    opened: Mutex<Option<HeaderValue>>,
    /// The requests of the session that are under way.
    pending: Arc<Pending>,
    unasked: NewsSender,
    closed: CancellationToken,
    /// The calls whose end is being told.
    ending: TaskTracker,
    /// What the source waits for before it is closed.
    unfinished: TaskTracker,
}

impl HttpLink {
    pub(crate) fn new(
        config: &RemoteConfig,
        endpoint: &Endpoint,
        unfinished: &TaskTracker,
    ) -> (Self, Unasked) {
        let (unasked, heard) = mailbox();
        let shared = Shared {
            name: config.name.clone(),
            endpoint: endpoint.clone(),
            max_message_bytes: config.max_message_bytes,
            junk: Arc::new(Junk::new(&config.name)),
            session: ArcSwapOption::empty(),
            opened: Mutex::default(),
            pending: Arc::default(),
            unasked,
            closed: CancellationToken::new(),
            ending: TaskTracker::new(),
            unfinished: unfinished.clone(),
        };
        (
            Self {
                shared: Arc::new(shared),
            },
            heard,
        )
    }
}

impl Shared {
    fn session_headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let session = self.session.load();
        let Some(session) = session.as_ref() else {
            return Vec::new();
        };
        let id = session.id.clone().map(|id| (SESSION_ID, id));
        [(VERSION, session.version.clone())]
            .into_iter()
            .chain(id)
            .collect()
    }

    fn opened(&self) -> MutexGuard<'_, Option<HeaderValue>> {
        self.opened.lock()
    }

    /// Asks for what came after an event of this session; none if it cannot be had.
    async fn resume(&self, last_event: &str) -> Option<Response> {
        self.session.load_full()?;
        let mut headers = self.session_headers();
        headers.push((LAST_EVENT_ID, HeaderValue::try_from(last_event).ok()?));
        let response = self
            .endpoint
            .send(Method::GET, headers, String::new())
            .await
            .ok()?;
        (response.status.is_success() && response.is_events).then_some(response)
    }

    /// Tells the server that nobody waits for an answer any more.
    fn call_off(self: &Arc<Self>, id: u64) {
        let in_session = self.session.load().is_some() && !self.closed.is_cancelled();
        if let (true, Ok(runtime)) = (in_session, Handle::try_current()) {
            let shared = Arc::clone(self);
            let word = RequestEncoder {
                revision: Revision::NEWEST_LEGACY,
                client: ClientContext::default(),
            };
            let telling = async move {
                let told = shared.post(word.cancelled(id), Vec::new());
                timeout(LEAVING, told).await.ok();
            };
            let telling = self.ending.track_future(telling);
            self.unfinished.spawn_on(telling, &runtime);
        }
    }

    /// Tells the server that the session is over, after all that there was to tell of its calls: not
    /// every server ends them with it.
    async fn leave(&self) {
        self.ending.close();
        self.ending.wait().await;
        if self
            .session
            .load()
            .as_ref()
            .is_some_and(|session| session.id.is_some())
        {
            let leaving = self
                .endpoint
                .send(Method::DELETE, self.session_headers(), String::new());
            timeout(LEAVING, leaving).await.ok();
        }
    }

    async fn post(&self, json: String, headers: Vec<(String, String)>) -> Result<Response> {
        let mut all = self.session_headers();
        for (name, value) in headers {
            let named = HeaderName::try_from(name)
                .ok()
                .zip(HeaderValue::try_from(value).ok());
            all.extend(named);
        }
        let response = self.endpoint.send(Method::POST, all, json).await?;
        if self.session.load().is_none() {
            *self.opened() = response.headers.get(SESSION_ID).cloned();
        }
        Ok(response)
    }

    /// What a status says by itself. A session that has ended ends the link with it.
    fn refusal(&self, status: StatusCode) -> Option<Refusal> {
        let session = self.session.load();
        let has_id = session.as_ref().is_some_and(|session| session.id.is_some());
        if status == StatusCode::NOT_FOUND && has_id {
            self.closed.cancel();
            return Some(Refusal::SessionEnded);
        }
        Refusal::of(status)
    }
}

impl Link for HttpLink {
    fn request(&self, outbound: OutboundRequest, headers: Vec<(String, String)>) -> Talk {
        let (id, is_call) = (outbound.id, is_call(outbound.method));
        let exchange = exchange::run(Arc::clone(&self.shared), outbound, headers);
        let own = stream::once(exchange).flatten().boxed();
        match self.shared.session.load().is_some() {
            true => exchange::beside(own, self.shared.pending.begin(id, is_call, drop)),
            false => own,
        }
    }

    fn adopt(&self, task: &str) -> Talk {
        self.shared.pending.tasks.adopt(task)
    }

    fn notify(&self, json: String) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let response = self.shared.post(json, Vec::new()).await?;
            let refusal = self.shared.refusal(response.status);
            match response.status.is_success() {
                true => Ok(()),
                false => Err(refusal.unwrap_or(Refusal::Status(response.status)).error()),
            }
        })
    }

    fn enter(&self, session: Session) {
        if session.shows_folders {
            self.shared.pending.shows_folders();
        }
        let id = self.shared.opened().take();
        let version = HeaderValue::from_static(session.revision.as_str());
        self.shared
            .session
            .store(Some(Arc::new(SessionHeaders { id, version })));
    }

    fn follow(&self) -> BoxFuture<'_, ()> {
        let settled = CancellationToken::new();
        tokio::spawn(session_stream::follow(
            Arc::clone(&self.shared),
            settled.clone(),
        ));
        Box::pin(async move {
            // What a server says before there is a stream to say it on may be lost.
            let in_time = timeout(STREAM, settled.cancelled());
            in_time.await.ok();
        })
    }

    fn asks_anywhere(&self) -> bool {
        self.shared.pending.asks_anywhere()
    }

    fn gauges(&self) -> [GaugeValue; 2] {
        self.shared.junk.gauges()
    }

    fn has_headers(&self) -> bool {
        true
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shared.closed.cancelled())
    }

    fn end(&self) -> BoxFuture<'_, ()> {
        self.shared.closed.cancel();
        Box::pin(std::future::ready(()))
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.shared.closed.cancel();
        if let Ok(runtime) = Handle::try_current() {
            let shared = Arc::clone(&self.shared);
            let unfinished = self.shared.unfinished.clone();
            unfinished.spawn_on(async move { shared.leave().await }, &runtime);
        }
    }
}
