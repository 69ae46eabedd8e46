//! An HTTP endpoint and the connections to it, which all links of a source share.
//!
//! Knows HTTP alone: not what is said over it, and no session.

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

use crate::session::unavailable;
use connector::Connector;

pub(crate) use origin::within;
pub use proxy::{Proxies, Proxy, UnusableProxy};
pub use tls::{CertificateAuthorities, TrustStore};

const WE: HeaderValue = HeaderValue::from_static(concat!("tidegate/", env!("CARGO_PKG_VERSION")));
const BOTH_FORMS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How often one request may be sent on to another path of its server.
const MOST_REDIRECTS: usize = 3;

/// Bytes of the head of an answer.
const HEAD_BYTES: usize = 64 * 1024;

/// Connections without work that are kept, and for how long.
const MOST_IDLE: usize = 128;
const IDLE: Duration = Duration::from_secs(30);

/// How often a connection of HTTP/2 is asked whether it lives, and how long it may take to say so.
const PING: Duration = Duration::from_secs(10);
const PONG: Duration = Duration::from_secs(10);

/// An endpoint. Clones share its connections.
#[derive(Clone)]
pub struct Endpoint {
    url: Uri,
    shared: Arc<Shared>,
}

struct Shared {
    /// What every request carries.
    headers: HeaderMap,
    client: Client<Connector, Full<Bytes>>,
}

/// An answer whose body is still to come.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) is_events: bool,
    pub(crate) body: Incoming,
}

impl Endpoint {
    /// The endpoint at this address. Every request to it carries these headers. Connects to nothing
    /// yet.
    pub fn new(
        url: Uri,
        headers: Vec<(HeaderName, HeaderValue)>,
        trust: &TrustStore,
        proxy: Option<Proxy>,
    ) -> Self {
        let mut all = HeaderMap::new();
        insert(&mut all, [(USER_AGENT, WE), (ACCEPT, BOTH_FORMS)]);
        insert(&mut all, headers);
        let for_proxy = proxy.as_ref().and_then(|proxy| proxy.reads_requests(&url));
        insert(
            &mut all,
            for_proxy.map(|value| (PROXY_AUTHORIZATION, value)),
        );
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(MOST_IDLE)
            .pool_idle_timeout(IDLE)
            .http1_max_buf_size(HEAD_BYTES)
            .http2_max_header_list_size(HEAD_BYTES as u32)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .http2_keep_alive_while_idle(true)
            .build(Connector::new(trust, proxy));
        let shared = Shared {
            headers: all,
            client,
        };
        Self {
            url,
            shared: Arc::new(shared),
        }
    }

    /// The same connections and headers for another address of the same server.
    pub(crate) fn at(&self, url: Uri) -> Self {
        Self {
            url,
            shared: Arc::clone(&self.shared),
        }
    }

    pub(crate) fn url(&self) -> &Uri {
        &self.url
    }

    /// Sends a request, to where the server redirects it if that is the server itself.
    pub(crate) async fn send(
        &self,
        method: Method,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: String,
    ) -> Result<Response> {
        let body = Bytes::from(body);
        let mut url = self.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = url.clone();
            *request.headers_mut() = self.shared.headers.clone();
            let kind = (!body.is_empty()).then_some((CONTENT_TYPE, JSON));
            insert(request.headers_mut(), kind);
            insert(request.headers_mut(), headers.iter().cloned());
            let answer = self.shared.client.request(request).await;
            let answer = answer.map_err(|error| connect_error::explain(&error))?;
            let (head, body) = answer.into_parts();
            match redirected(&url, &head)? {
                Some(next) => url = next,
                None => return Response::new(head, body),
            }
        }
        Err(unavailable(
            "the source redirects again and again; check its `url`",
        ))
    }
}

fn insert(map: &mut HeaderMap, more: impl IntoIterator<Item = (HeaderName, HeaderValue)>) {
    for (name, value) in more {
        map.insert(name, value);
    }
}

/// Where the server wants this request instead.
fn redirected(url: &Uri, head: &response::Parts) -> Result<Option<Uri>> {
    let location = head.headers.get(LOCATION);
    let Some(location) = location.filter(|_| head.status.is_redirection()) else {
        return Ok(None);
    };
    let reference = location.to_str().unwrap_or_default();
    match (head.status, within(url, reference)) {
        (StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT, Ok(next)) => {
            Ok(Some(next))
        }
        (_, Err(other)) => Err(unavailable(&format!(
            "the source redirects to {other}, where nothing is sent; if that is its address now, \
             put it into `url`"
        ))),
        (status, Ok(next)) => Err(unavailable(&format!(
            "the source redirects to {} in a way that does not repeat the request (HTTP status \
             {}); put that address into `url`",
            next.path(),
            status.as_u16()
        ))),
    }
}

impl Response {
    fn new(head: response::Parts, body: Incoming) -> Result<Self> {
        if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(connect_error::proxy_refused(head.status));
        }
        let of = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(coding) = of(CONTENT_ENCODING).filter(|coding| *coding != "identity") {
            return Err(unavailable(
                "the source compresses its answers, which it was not asked to; turn that off",
            )
            .with_cause(format!("Content-Encoding: {coding}")));
        }
        if head.status.is_success()
            && of(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/html"))
        {
            return Err(unavailable(
                "the source answers with a web page; check its `url`",
            ));
        }
        let is_events = of(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/event-stream"));
        Ok(Self {
            status: head.status,
            is_events,
            headers: head.headers,
            body,
        })
    }
}

/// An address may hold a secret behind its question mark, and headers often do.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.url.path()).finish()
    }
}
