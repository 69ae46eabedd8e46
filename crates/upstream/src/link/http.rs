//! A server at an HTTP endpoint: one exchange a request.

mod body;
mod client;
mod standing;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tidegate_core::{Code, Error, Result, Side, Terms};
use tidegate_mcp::revision::Revision;
use tidegate_mcp::revision::client::{Outbound, Wording};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Link, Talk, Unasked, unavailable};
use crate::config::RemoteConfig;
pub(crate) use client::Client;
use client::Response;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long the end of a session may take to be told.
const LEAVING: Duration = Duration::from_secs(2);

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
    client: Client,
    message_bytes: usize,
    session: ArcSwapOption<SessionHeaders>,
    unasked: mpsc::Sender<tidegate_mcp::revision::client::Said>,
    closed: CancellationToken,
}

impl HttpLink {
    pub(crate) fn new(
        config: &RemoteConfig,
        url: &http::Uri,
        headers: &[(HeaderName, HeaderValue)],
    ) -> (Self, Unasked) {
        let (unasked, heard) = mpsc::channel(256);
        let shared = Shared {
            name: config.name.clone(),
            client: Client::new(url.clone(), headers.to_vec()),
            message_bytes: config.message_bytes,
            session: ArcSwapOption::empty(),
            unasked,
            closed: CancellationToken::new(),
        };
        (
            Self {
                shared: Arc::new(shared),
            },
            heard,
        )
    }

    /// From here on every exchange belongs to the session that a handshake opened.
    pub(crate) fn enter(&self, revision: Revision) {
        let id = self.shared.client.take_session();
        let version = HeaderValue::from_static(revision.as_str());
        self.shared
            .session
            .store(Some(Arc::new(SessionHeaders { id, version })));
    }

    /// Hears what the server says on its session's own stream, for as long as the link is open.
    pub(crate) fn follow(&self) {
        tokio::spawn(standing::follow(Arc::clone(&self.shared)));
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

    /// Asks for what came after an event of this session; none if it cannot be had.
    async fn resume(&self, last_event: &str) -> Option<Response> {
        self.session.load_full()?;
        let mut headers = self.session_headers();
        headers.push((LAST_EVENT_ID, HeaderValue::try_from(last_event).ok()?));
        let response = self
            .client
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
            let word = Wording {
                revision: Revision::NEWEST_LEGACY,
                terms: Terms::default(),
            };
            runtime.spawn(async move { shared.post(word.cancelled(id), Vec::new()).await.ok() });
        }
    }

    /// Tells the server that the session is over.
    async fn leave(&self) {
        if self
            .session
            .load()
            .as_ref()
            .is_some_and(|session| session.id.is_some())
        {
            let leaving = self
                .client
                .send(Method::DELETE, self.session_headers(), String::new());
            tokio::time::timeout(LEAVING, leaving).await.ok();
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
        let response = self.client.send(Method::POST, all, json).await?;
        if response.status == StatusCode::NOT_FOUND && self.session.load().is_some() {
            self.closed.cancel();
            return Err(unavailable("the source has ended the session; try again"));
        }
        Ok(response)
    }
}

impl Link for HttpLink {
    fn request(&self, outbound: Outbound, headers: Vec<(String, String)>) -> Talk {
        let shared = Arc::clone(&self.shared);
        let exchange = async move {
            let id = outbound.id;
            match shared.post(outbound.json, headers).await {
                Ok(response) => body::talk(response, id, &shared),
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        };
        stream::once(exchange).flatten().boxed()
    }

    fn notify(&self, json: String) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let response = self.shared.post(json, Vec::new()).await?;
            match response.status.is_success() {
                true => Ok(()),
                false => Err(refused(response.status)),
            }
        })
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
            runtime.spawn(async move { shared.leave().await });
        }
    }
}

/// The server refused without a word we understand.
fn refused(status: StatusCode) -> Error {
    let message = format!("the source refused with HTTP status {}", status.as_u16());
    Error::new(Code::Unavailable, Side::Source, message)
}
