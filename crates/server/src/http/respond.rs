//! Step 8, respond: messages into HTTP responses. The only place where a status is picked.

use ::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use ::http::{HeaderName, HeaderValue, StatusCode};
use axum::body::Body;
use axum::response::Response;
use tidegate_core::{Code, Error, Step};
use tidegate_mcp::{Era, OutgoingMessage, codes};

use crate::Admission;
use crate::refusal::Refusal;
use crate::session::SessionId;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A message that was not taken.
pub(super) fn refusal(admission: &Admission, refusal: &Refusal) -> Response {
    json(refusal.era, &refusal.to_message(admission))
}

/// The page is not for this caller. Whoever asks for one reads the status, and no more.
pub(super) fn forbidden(admission: &Admission, message: &str) -> Response {
    let error = Error::client(Code::Forbidden, message).at(Step::Identify);
    let mut response = refusal(admission, &error.into());
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

/// One message as JSON.
pub(super) fn json(era: Era, frame: &OutgoingMessage) -> Response {
    let code = match frame {
        OutgoingMessage::Response { code, .. } => *code,
        OutgoingMessage::Notification(_) => None,
    };
    let mut response = json_body(status(era, code), frame.json().to_owned());
    if let Some((name, value)) = code.and_then(companion) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Several answers as one JSON array.
pub(super) fn json_array(answers: &[&str]) -> Response {
    json_body(StatusCode::OK, format!("[{}]", answers.join(",")))
}

fn json_body(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A stream of events.
pub(super) fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Taken, and nothing to say.
pub(super) fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

/// The session is over.
pub(super) fn session_ended() -> Response {
    empty(StatusCode::NO_CONTENT)
}

/// The stream is over and was read to its end: a client need not come back.
pub(super) fn nothing_left() -> Response {
    empty(StatusCode::NO_CONTENT)
}

/// The endpoint takes only these methods.
pub(super) fn only(admission: &Admission, methods: &'static str) -> Response {
    let message = format!("this endpoint takes only {methods}");
    let mut response = refusal(
        admission,
        &Error::client(Code::MethodNotAllowed, message).into(),
    );
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// Whether the gateway takes calls.
pub(super) fn ready(ready: bool) -> Response {
    let (status, words) = match ready {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    };
    let mut response = text("text/plain; charset=utf-8", words);
    *response.status_mut() = status;
    response
}

/// Text of this type, which is another the next time.
pub(super) fn text(mime: &'static str, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(mime));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Tells the client the id of its new session.
pub(super) fn with_session(mut response: Response, id: &SessionId) -> Response {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(SESSION_ID, value);
    }
    response
}

/// The answer to a browser that asks before it calls. An allowed page may send any header.
pub(super) fn preflight(origin: Option<HeaderValue>, asked: Option<&HeaderValue>) -> Response {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    if let Some(names) = asked {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    readable_by(response, origin)
}

/// Lets the page that called read the response.
pub(super) fn readable_by(mut response: Response, origin: Option<HeaderValue>) -> Response {
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

fn status(era: Era, code: Option<Code>) -> StatusCode {
    let status = code.map_or(200, |code| codes::of(code).status(era));
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The header that goes with an error.
fn companion(code: Code) -> Option<(HeaderName, HeaderValue)> {
    match code {
        Code::Unauthenticated => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        Code::Unavailable | Code::RateLimited => Some((RETRY_AFTER, HeaderValue::from_static("1"))),
        Code::MethodNotAllowed => Some((ALLOW, HeaderValue::from_static("POST"))),
        _ => None,
    }
}
