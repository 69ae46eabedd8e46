//! The HTTP transport: `/mcp`, `/mcp/{source}`, the oldest transport where it is switched on, and what
//! those who run the gateway ask it by HTTP.

mod accept;
mod legacy_sse;
mod listener;
mod metrics;
mod origin;
mod post;
mod respond;
mod serve;
mod session_routes;
mod stall;
mod stream;

use std::sync::Arc;

use ::http::header::ACCESS_CONTROL_REQUEST_HEADERS;
use ::http::{HeaderMap, Method, Request};
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get};
use tidegate_core::{Code, Error, Result, Scope};

use crate::Transports;
use crate::refusal::Refusal;
pub use listener::Listener;
pub use metrics::Exposition;
use origin::Origins;
pub use serve::serve_http;

/// What the HTTP transport needs beside the transports' own bounds.
#[derive(Clone, Debug, Default)]
pub struct HttpConfig {
    /// Whether the address listened on is this machine's own.
    pub loopback: bool,
    /// Host names under which the gateway is known, beside the address itself.
    pub allowed_hosts: Vec<String>,
    /// Origins of the web pages that may call.
    pub allowed_origins: Vec<String>,
    /// Whether `/sse` and `/messages` are there.
    pub legacy_sse: bool,
    /// What `/metrics` says, where it is there.
    pub metrics: Option<Exposition>,
}

/// The HTTP transport.
pub(crate) struct Http {
    pub(crate) transports: Arc<Transports>,
    origins: Origins,
    channels: legacy_sse::Channels,
}

impl Http {
    /// The routes. Every one of them is behind the check of host and origin.
    pub(crate) fn router(transports: Arc<Transports>, config: &HttpConfig) -> Router {
        let http = Arc::new(Self {
            transports,
            origins: Origins::new(config),
            channels: legacy_sse::Channels::default(),
        });
        let mut router = Router::new()
            .route("/mcp", any(everything))
            .route("/mcp/{source}", any(one_source))
            .route("/healthz", get(healthz))
            .route("/readyz", get(readyz));
        if let Some(page) = config.metrics.clone() {
            let show = move |http, headers: HeaderMap| metrics::show(http, headers, page);
            router = router.route("/metrics", get(show));
        }
        if config.legacy_sse {
            router = router
                .route("/sse", any(legacy_sse::open))
                .route("/messages", any(legacy_sse::message));
        }
        router
            .fallback(no_endpoint)
            .method_not_allowed_fallback(get_only)
            .layer(from_fn_with_state(Arc::clone(&http), guard))
            .with_state(http)
    }
}

/// Lets in what names us and comes from nowhere else, and tells browsers what they may read.
async fn guard(State(http): State<Arc<Http>>, request: Request<Body>, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let origin = match http.origins.admit(&parts) {
        Ok(origin) => origin,
        Err(error) => return respond::refusal(&http.transports.admission, &error.into()),
    };
    if parts.method == Method::OPTIONS && origin.is_some() {
        return respond::preflight(origin, parts.headers.get(ACCESS_CONTROL_REQUEST_HEADERS));
    }
    let response = next.run(Request::from_parts(parts, body)).await;
    respond::readable_by(response, origin)
}

async fn everything(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    endpoint(&http, Scope::All, request).await
}

async fn one_source(
    State(http): State<Arc<Http>>,
    source: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response {
    let known = source
        .ok()
        .and_then(|Path(source)| source.parse().ok())
        .filter(|id| http.transports.gateway.has_source(id));
    match known {
        Some(id) => endpoint(&http, Scope::Source(id), request).await,
        None => {
            let error = Error::client(Code::NoEndpoint, "there is no source of this name");
            respond::refusal(&http.transports.admission, &error.into())
        }
    }
}

async fn endpoint(http: &Arc<Http>, scope: Scope, request: Request<Body>) -> Response {
    let answer = match *request.method() {
        Method::POST => post::post(http, scope, request).await,
        Method::GET => session_routes::get(http, scope, request.headers()).await,
        Method::DELETE => session_routes::delete(http, scope, request.headers()).await,
        _ => return respond::only(&http.transports.admission, "GET, POST, DELETE"),
    };
    answer.unwrap_or_else(|refusal| respond::refusal(&http.transports.admission, &refusal))
}

/// Who shows this credential.
async fn identify(http: &Http, headers: &HeaderMap) -> Result<Arc<tidegate_core::Caller>, Refusal> {
    let credential = accept::credential(headers)?;
    Ok(http.transports.identify.identify(credential).await?)
}

async fn healthz() -> &'static str {
    "ok\n"
}

async fn readyz(State(http): State<Arc<Http>>) -> Response {
    respond::ready(http.transports.gateway.is_open() && !http.transports.stopping.is_cancelled())
}

async fn get_only(State(http): State<Arc<Http>>) -> Response {
    respond::only(&http.transports.admission, "GET")
}

async fn no_endpoint(State(http): State<Arc<Http>>) -> Response {
    let error = Error::client(
        Code::NoEndpoint,
        "there is nothing here; the endpoint is /mcp",
    );
    respond::refusal(&http.transports.admission, &error.into())
}
