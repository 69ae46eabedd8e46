//! Step 8, lower: turns messages into HTTP responses. The only place that selects a status.

use std::sync::Arc;

use ::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use ::http::{HeaderName, HeaderValue, StatusCode};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use tidegate_core::{CacheHint, CacheScope, Code, Error, Step};
use tidegate_mcp::{Era, codes};

use crate::Admission;
use crate::error_response::ErrorResponse;
use crate::outgoing::{Outgoing, shared_bytes};
use crate::session::SessionId;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// No scripts, no forms, no requests, and an origin of its own.
const NO_SCRIPTS: &str = "default-src 'none'; sandbox";

/// Which HTTP status errors have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorStatus {
    /// The status of the MCP specification, which is 200 for most errors of calls.
    #[default]
    Spec,
    /// The status that describes the error, as in its `data.httpStatus`.
    Mapped,
}

/// The response to a rejected message.
pub(super) fn error(
    admission: &Admission,
    error_status: ErrorStatus,
    response: &ErrorResponse,
) -> Response {
    json(error_status, response.era, response.to_message(admission))
}

/// A page that this caller may not see. Browsers and scrapers only read the status, so it is not 200.
pub(super) fn forbidden(admission: &Admission, message: &str) -> Response {
    let forbidden = Error::client(Code::Forbidden, message).at(Step::Identify);
    error(admission, ErrorStatus::Mapped, &forbidden.into())
}

/// One message as JSON.
pub(super) fn json(error_status: ErrorStatus, era: Era, message: impl Into<Outgoing>) -> Response {
    let message = message.into();
    let status = status(error_status, era, message.code());
    json_with_code(status, message.code(), message.into_bytes())
}

/// One message as JSON that is also buffered.
pub(super) fn shared_json(
    error_status: ErrorStatus,
    era: Era,
    message: &Arc<Outgoing>,
) -> Response {
    let status = status(error_status, era, message.code());
    json_with_code(status, message.code(), shared_bytes(message))
}

fn json_with_code(status: StatusCode, code: Option<Code>, body: Bytes) -> Response {
    let mut response = json_body(status, body);
    if let Some((name, value)) = code.and_then(error_header) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Several responses as one JSON array.
pub(super) fn json_array(responses: &[&str]) -> Response {
    json_body(StatusCode::OK, format!("[{}]", responses.join(",")))
}

fn json_body(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A stream of server-sent events.
pub(super) fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Accepted: the message gets no response.
pub(super) fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

/// The session was ended.
pub(super) fn session_ended() -> Response {
    empty(StatusCode::NO_CONTENT)
}

/// The stream is finished and the client has read all of it: it should not reconnect.
pub(super) fn stream_finished() -> Response {
    empty(StatusCode::NO_CONTENT)
}

/// The endpoint only supports these methods.
pub(super) fn method_not_allowed(admission: &Admission, methods: &'static str) -> Response {
    let message = format!("method not allowed; this endpoint supports {methods}");
    let not_allowed = Error::client(Code::MethodNotAllowed, message);
    let mut response = error(admission, ErrorStatus::Spec, &not_allowed.into());
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// Whether the gateway is ready for calls.
pub(super) fn readiness(is_ready: bool) -> Response {
    let (status, body) = match is_ready {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    };
    let mut response = text("text/plain; charset=utf-8", body);
    *response.status_mut() = status;
    response
}

/// A response with this content type; never cached.
pub(super) fn text(content_type: &'static str, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A resource as the body of a response.
pub(super) struct ResourceBody {
    pub(super) content_type: HeaderValue,
    pub(super) bytes: Bytes,
}

/// The response with a resource. A browser neither guesses its type nor runs its scripts: the content comes
/// from a source, and must not act in the name of the gateway.
pub(super) fn resource(body: ResourceBody, cache: Option<CacheHint>) -> Response {
    let mut response = Response::new(Body::from(body.bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, body.content_type);
    headers.insert(CACHE_CONTROL, cache_control(cache));
    headers.append(VARY, HeaderValue::from_static("Authorization"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(NO_SCRIPTS),
    );
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn cache_control(cache: Option<CacheHint>) -> HeaderValue {
    let no_store = HeaderValue::from_static("no-store");
    let Some(CacheHint { ttl, scope }) = cache.filter(|cache| cache.ttl.as_secs() > 0) else {
        return no_store;
    };
    let scope = match scope {
        CacheScope::Public => "public",
        CacheScope::Private => "private",
    };
    let value = format!("{scope}, max-age={}", ttl.as_secs());
    HeaderValue::try_from(value).unwrap_or(no_store)
}

/// Adds the id of a new session.
pub(super) fn with_session_id(mut response: Response, id: &SessionId) -> Response {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(SESSION_ID, value);
    }
    response
}

/// The response to a CORS preflight. An allowed page may send any header.
pub(super) fn preflight(origin: Option<HeaderValue>, requested: Option<&HeaderValue>) -> Response {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    if let Some(names) = requested {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    with_cors(response, origin)
}

/// Adds the CORS headers that let the calling page read the response.
pub(super) fn with_cors(mut response: Response, origin: Option<HeaderValue>) -> Response {
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(VARY, HeaderValue::from_static("Origin"));
        let exposed = HeaderValue::from_static("mcp-session-id, www-authenticate");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn status(error_status: ErrorStatus, era: Era, code: Option<Code>) -> StatusCode {
    let status = match (code.map(codes::of), error_status) {
        (None, _) => 200,
        (Some(spec), ErrorStatus::Spec) => spec.status(era),
        (Some(spec), ErrorStatus::Mapped) => spec.mapped_status,
    };
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The header that belongs to an error.
fn error_header(code: Code) -> Option<(HeaderName, HeaderValue)> {
    match code {
        Code::Unauthenticated => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        Code::Unavailable | Code::RateLimited => Some((RETRY_AFTER, HeaderValue::from_static("1"))),
        Code::MethodNotAllowed => Some((ALLOW, HeaderValue::from_static("POST"))),
        _ => None,
    }
}
