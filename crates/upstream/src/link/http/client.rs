//! The HTTP client: pooled connections, HTTP/1.1 and HTTP/2, with and without TLS.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tidegate_core::Result;

use super::SESSION_ID;
use crate::link::unavailable;

/// One endpoint and the connections to it.
pub(crate) struct Client {
    url: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// The session that the last answer opened, if it opened one.
    session: Mutex<Option<HeaderValue>>,
}

/// An answer whose body is still to come.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) is_events: bool,
    pub(crate) body: Incoming,
}

impl Client {
    pub(crate) fn new(url: Uri, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_webpki_roots()
            .https_or_http()
            .enable_all_versions()
            .build();
        let pool = Pool::builder(TokioExecutor::new()).build(connector);
        Self {
            url,
            headers,
            pool,
            session: Mutex::default(),
        }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: String,
    ) -> Result<Response> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.url.clone())
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in self.headers.iter().cloned().chain(headers) {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::from(body))
            .map_err(|cause| unavailable("the source cannot be asked").caused_by(cause))?;
        let response = self
            .pool
            .request(request)
            .await
            .map_err(|cause| unavailable("the source cannot be reached").caused_by(cause))?;
        let (parts, body) = response.into_parts();
        if let Some(id) = parts.headers.get(SESSION_ID) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
        let kind = parts
            .headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let is_events = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        Ok(Response {
            status: parts.status,
            is_events,
            body,
        })
    }

    /// The same connections and headers for another address of the same server.
    pub(crate) fn at(self, url: Uri) -> Self {
        Self { url, ..self }
    }

    pub(super) fn take_session(&self) -> Option<HeaderValue> {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
