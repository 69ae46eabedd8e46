//! The HTTP transport: routes, and the lifecycle from listening to shutdown.
//!
//! `/mcp` and `/mcp/{source}` are the MCP endpoints, with or without a slash at the end. `/sse` and `/messages` are the HTTP+SSE transport
//! of 2024, if enabled. `/v1/resource` reads one resource without MCP. `/healthz`, `/readyz` and `/metrics` are for operators.

mod accept;
mod connections_per_address;
mod http2_streams;
mod legacy_sse;
mod listener;
mod metrics;
mod origin;
mod post;
mod resource;
mod respond;
mod response_stream;
mod session_routes;
mod write_timeout;

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
use tidegate_core::{Caller, Code, Error, Result, Scope, SourceId, truncate_for_message};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Transports;
use crate::error_response::ErrorResponse;
pub use listener::Listener;
pub use metrics::Exposition;
use origin::OriginPolicy;
pub use respond::ErrorStatus;

/// The configuration of the HTTP transport, in addition to the limits of all transports.
#[derive(Clone, Debug, Default)]
pub struct HttpConfig {
    /// Whether the listener is on a loopback address.
    pub loopback: bool,
    /// Host names of the gateway, in addition to its address.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call the gateway.
    pub allowed_origins: Vec<String>,
    /// Enables `/sse` and `/messages`.
    pub legacy_sse: bool,
    /// Which status errors have at the MCP endpoints.
    pub error_status: ErrorStatus,
    /// The content of `/metrics`; without it there is no such route.
    pub metrics: Option<Exposition>,
}

/// Serves until `stop` is cancelled. Then the gateway is not ready, still accepts connections for the
/// shutdown delay, and cancels the calls that are in flight after the shutdown timeout.
pub async fn serve_http(
    transports: &Arc<Transports>,
    listener: Listener,
    config: &HttpConfig,
    stop: CancellationToken,
) {
    let limits = transports.limits.clone();
    let (close, abort) = (CancellationToken::new(), CancellationToken::new());
    let server = TaskTracker::new();
    {
        let router = Http::router(Arc::clone(transports), config);
        let (limits, close, abort) = (limits.clone(), close.clone(), abort.clone());
        server.spawn(async move { listener.serve(router, &limits, close, abort).await });
        server.close();
    }
    stop.cancelled().await;
    transports.begin_stop();
    tokio::time::sleep(limits.shutdown_delay).await;
    close.cancel();
    transports.begin_drain();
    let drained = async {
        server.wait().await;
        transports.wait_until_idle().await;
    };
    let drained = tokio::time::timeout(limits.shutdown_timeout, drained);
    if drained.await.is_err() {
        tracing::warn!("shutdown timeout: cancelling calls in flight");
    }
    abort.cancel();
    transports.abort().await;
    server.wait().await;
}

/// The state of all routes.
pub(crate) struct Http {
    pub(crate) transports: Arc<Transports>,
    origin_policy: OriginPolicy,
    error_status: ErrorStatus,
    legacy_streams: legacy_sse::LegacyStreams,
}

impl Http {
    /// All routes, behind the check of host and origin.
    pub(crate) fn router(transports: Arc<Transports>, config: &HttpConfig) -> Router {
        let http = Arc::new(Self {
            transports,
            origin_policy: OriginPolicy::new(config),
            error_status: config.error_status,
            legacy_streams: legacy_sse::LegacyStreams::default(),
        });
        let mut router = Router::new()
            .route("/mcp", any(all_sources))
            .route("/mcp/", any(all_sources))
            .route("/mcp/{source}", any(one_source))
            .route("/mcp/{source}/", any(one_source))
            .route("/v1/resource", get(resource::get))
            .route("/healthz", get(healthz))
            .route("/readyz", get(readyz));
        if let Some(exposition) = config.metrics.clone() {
            let show = move |http, headers: HeaderMap| metrics::show(http, headers, exposition);
            router = router.route("/metrics", get(show));
        }
        if config.legacy_sse {
            router = router
                .route("/sse", any(legacy_sse::open))
                .route("/messages", any(legacy_sse::receive));
        }
        router
            .fallback(no_endpoint)
            .method_not_allowed_fallback(get_only)
            .layer(from_fn_with_state(Arc::clone(&http), check_origin))
            .with_state(http)
    }

    fn error(&self, error: Error) -> Response {
        self.error_response(&error.into())
    }

    fn error_response(&self, response: &ErrorResponse) -> Response {
        respond::error(&self.transports.admission, self.error_status, response)
    }

    /// Step 2, identify.
    async fn identify(&self, headers: &HeaderMap) -> Result<Arc<Caller>> {
        let credential = accept::credential(headers)?;
        self.transports.identify.identify(credential).await
    }
}

/// Rejects requests from foreign web pages, and adds the CORS headers for allowed ones.
async fn check_origin(
    State(http): State<Arc<Http>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let origin = match http.origin_policy.check(&parts) {
        Ok(origin) => origin,
        Err(error) => return http.error(error),
    };
    if parts.method == Method::OPTIONS && origin.is_some() {
        let headers = parts.headers.get(ACCESS_CONTROL_REQUEST_HEADERS);
        return respond::preflight(origin, headers);
    }
    let response = next.run(Request::from_parts(parts, body)).await;
    respond::with_cors(response, origin)
}

async fn all_sources(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    endpoint(&http, Scope::All, request).await
}

async fn one_source(
    State(http): State<Arc<Http>>,
    source: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response {
    let Ok(Path(name)) = source else {
        return no_endpoint(State(http)).await;
    };
    let id = name.parse().ok();
    match id.filter(|id| http.transports.gateway.has_source(id)) {
        Some(id) => endpoint(&http, Scope::Source(id), request).await,
        None => {
            let error = unknown_source(&http, &name, request.headers()).await;
            http.error(error)
        }
    }
}

/// Lists the sources only for callers that may use them.
async fn unknown_source(http: &Http, name: &str, headers: &HeaderMap) -> Error {
    let message = format!("no source named `{}`", truncate_for_message(name));
    let message = match http.identify(headers).await {
        Ok(_) => {
            let ids = http.transports.gateway.source_ids();
            let ids: Vec<&str> = ids.map(SourceId::as_str).collect();
            format!("{message}; configured: {}", ids.join(", "))
        }
        Err(_) => message,
    };
    let message = format!("{message}; the endpoint of all sources is /mcp");
    Error::client(Code::NoEndpoint, message)
}

async fn endpoint(http: &Arc<Http>, scope: Scope, request: Request<Body>) -> Response {
    let response = match *request.method() {
        Method::POST => post::post(http, scope, request).await,
        Method::GET => session_routes::get(http, scope, request.headers()).await,
        Method::DELETE => session_routes::delete(http, scope, request.headers()).await,
        _ => {
            let admission = &http.transports.admission;
            return respond::method_not_allowed(admission, "GET, POST, DELETE");
        }
    };
    response.unwrap_or_else(|response| http.error_response(&response))
}

async fn healthz() -> &'static str {
    "ok\n"
}

async fn readyz(State(http): State<Arc<Http>>) -> Response {
    let transports = &http.transports;
    respond::readiness(transports.gateway.is_open() && !transports.stopping.is_cancelled())
}

async fn get_only(State(http): State<Arc<Http>>) -> Response {
    respond::method_not_allowed(&http.transports.admission, "GET")
}

async fn no_endpoint(State(http): State<Arc<Http>>) -> Response {
    let message = "no such endpoint; the MCP endpoint is /mcp";
    http.error(Error::client(Code::NoEndpoint, message))
}
