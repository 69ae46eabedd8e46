//! An HTTP endpoint and its pooled TCP connections, shared by all sessions of the source.
//!
//! Knows only HTTP: no JSON-RPC, no session.

pub(crate) mod body;
mod connect_error;
mod connector;
mod json_values;
mod origin;
mod proxy;
mod resolver;
mod stream;
mod tls;
mod tunnel;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, PROXY_AUTHORIZATION, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tidegate_core::Result;

use crate::error::source_failed;
use connector::Connector;

pub(crate) use origin::resolve_same_origin;
pub use proxy::{Proxies, Proxy, UnusableProxy};
pub use tls::{CertificateAuthorities, TrustStore};

const OUR_USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("tidegate/", env!("CARGO_PKG_VERSION")));
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How often one request is redirected to another path of its server.
const MAX_REDIRECTS: usize = 3;

/// Bytes of the head of a response.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Idle connections that are kept, and for how long.
const MAX_IDLE_CONNECTIONS: usize = 128;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval of HTTP/2 pings, and how long a server may take to answer one.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// An endpoint. Clones share its connections.
#[derive(Clone)]
pub struct Endpoint {
    url: Uri,
    shared: Arc<Shared>,
}

struct Shared {
    /// The headers of every request.
    headers: HeaderMap,
    client: Client<Connector, Full<Bytes>>,
}

/// A response whose body has not been read yet.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) is_event_stream: bool,
    pub(crate) body: Incoming,
}

impl Endpoint {
    /// The endpoint at this URL. Every request to it carries these headers. Opens no connection yet.
    pub fn new(
        url: Uri,
        headers: Vec<(HeaderName, HeaderValue)>,
        trust: &TrustStore,
        proxy: Option<Proxy>,
    ) -> Self {
        let mut merged = HeaderMap::new();
        insert(
            &mut merged,
            [(USER_AGENT, OUR_USER_AGENT), (ACCEPT, JSON_OR_EVENTS)],
        );
        insert(&mut merged, headers);
        let proxy_authorization = proxy
            .as_ref()
            .and_then(|proxy| proxy.request_authorization(&url));
        insert(
            &mut merged,
            proxy_authorization.map(|value| (PROXY_AUTHORIZATION, value)),
        );
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .http2_max_header_list_size(MAX_HEAD_BYTES as u32)
            .http2_keep_alive_interval(PING_INTERVAL)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .http2_keep_alive_while_idle(true)
            .build(Connector::new(trust, proxy));
        let shared = Shared {
            headers: merged,
            client,
        };
        Self {
            url,
            shared: Arc::new(shared),
        }
    }

    /// The same connections and headers for another URL of the same server.
    pub(crate) fn at(&self, url: Uri) -> Self {
        Self {
            url,
            shared: Arc::clone(&self.shared),
        }
    }

    pub(crate) fn url(&self) -> &Uri {
        &self.url
    }

    /// Sends a request. Follows redirects within the same origin.
    pub(crate) async fn send(
        &self,
        method: Method,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: String,
    ) -> Result<Response> {
        let body = Bytes::from(body);
        let mut url = self.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = url.clone();
            *request.headers_mut() = self.shared.headers.clone();
            let content_type = (!body.is_empty()).then_some((CONTENT_TYPE, JSON));
            insert(request.headers_mut(), content_type);
            insert(request.headers_mut(), headers.iter().cloned());
            let response = self.shared.client.request(request).await;
            let response =
                response.map_err(|error| connect_error::explain(&error, &origin::origin(&url)))?;
            let (head, body) = response.into_parts();
            match redirect_target(&url, &head)? {
                Some(target) => url = target,
                None => return Response::new(head, body),
            }
        }
        Err(source_failed("the source redirects in a loop; check `url`"))
    }
}

fn insert(map: &mut HeaderMap, headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>) {
    for (name, value) in headers {
        map.insert(name, value);
    }
}

/// Where the server redirects this request to.
fn redirect_target(url: &Uri, head: &response::Parts) -> Result<Option<Uri>> {
    let location = head.headers.get(LOCATION);
    let Some(location) = location.filter(|_| head.status.is_redirection()) else {
        return Ok(None);
    };
    let reference = location.to_str().unwrap_or_default();
    match (head.status, resolve_same_origin(url, reference)) {
        (StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT, Ok(target)) => {
            Ok(Some(target))
        }
        (_, Err(origin)) => Err(source_failed(&format!(
            "the source redirects to another origin ({origin}), which is not followed; if it has \
             moved there, change `url`"
        ))),
        (status, Ok(target)) => Err(source_failed(&format!(
            "the source redirects to {} with HTTP status {}, which does not repeat the request; \
             change `url` to that address",
            target.path(),
            status.as_u16()
        ))),
    }
}

impl Response {
    fn new(head: response::Parts, body: Incoming) -> Result<Self> {
        if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(connect_error::proxy_refused(head.status));
        }
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(coding) = header(CONTENT_ENCODING).filter(|coding| *coding != "identity") {
            let message = "the source compresses its responses, which was not requested; turn \
                           compression off";
            return Err(source_failed(message).with_cause(format!("Content-Encoding: {coding}")));
        }
        let content_type = header(CONTENT_TYPE).unwrap_or_default();
        if head.status.is_success() && content_type.starts_with("text/html") {
            return Err(source_failed(
                "the source responds with a web page; check `url`",
            ));
        }
        Ok(Self {
            status: head.status,
            is_event_stream: content_type.starts_with("text/event-stream"),
            headers: head.headers,
            body,
        })
    }
}

/// Shows the path only: the query may hold a secret, and headers often do.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint")
            .field(&origin::origin(&self.url))
            .finish()
    }
}
