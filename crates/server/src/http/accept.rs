//! Step 1, accept: checks the headers of a request and reads its body, within the limits. A request
//! that is rejected by its headers is not read.

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use ::http::{HeaderMap, HeaderName};
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tidegate_core::{Code, Credential, Error, Principal, Result};
use tidegate_mcp::revision::StandardHeaders;

use crate::Transports;
use crate::shared_pool::SharedPermit;

/// The MCP headers of a request.
pub(super) fn standard_headers(headers: &HeaderMap) -> Result<StandardHeaders> {
    let headers = headers.iter();
    StandardHeaders::parse(headers.map(|(name, value)| (name.as_str(), value.as_bytes())))
}

/// The credential of a request.
pub(super) fn credential(headers: &HeaderMap) -> Result<Credential<'_>> {
    let Some(value) = single_header(headers, &AUTHORIZATION)? else {
        return Ok(Credential::None);
    };
    let token = value.split_once(' ').and_then(|(scheme, token)| {
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    token.map(Credential::Bearer).ok_or_else(|| {
        let message = "unsupported credentials: send `Authorization: Bearer KEY`";
        Error::client(Code::Unauthenticated, message)
    })
}

/// A client must accept both forms of a response, because the gateway selects one late.
pub(super) fn check_accept(headers: &HeaderMap) -> Result<()> {
    if accepts(headers, "application", "json") && accepts(headers, "text", "event-stream") {
        return Ok(());
    }
    let message =
        "the response may have either form: send `Accept: application/json, text/event-stream`";
    Err(Error::client(Code::NotAcceptable, message))
}

/// A client that opens a stream must accept events.
pub(super) fn check_accepts_events(headers: &HeaderMap) -> Result<()> {
    if accepts(headers, "text", "event-stream") {
        return Ok(());
    }
    let message = "the response is a stream: send `Accept: text/event-stream`";
    Err(Error::client(Code::NotAcceptable, message))
}

/// Whether a media type is accepted: by name, `type/*` or `*/*`. A missing header accepts everything,
/// and so does `application/*`, which some clients send for both forms.
fn accepts(headers: &HeaderMap, kind: &str, subtype: &str) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let ranges = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    ranges.map(media_type).any(|range| {
        let (range_kind, range_subtype) = range.split_once('/').unwrap_or((&range, ""));
        range == "*/*"
            || range == "application/*"
            || range_kind == kind && (range_subtype == subtype || range_subtype == "*")
    })
}

/// A media type without its parameters, in lower case.
fn media_type(value: &str) -> String {
    let media_type = value.split(';').next().unwrap_or_default();
    media_type.trim().to_ascii_lowercase()
}

/// The body must be declared as JSON: web pages cannot send that without a CORS preflight.
pub(super) fn check_content(headers: &HeaderMap) -> Result<()> {
    let is_json = single_header(headers, &CONTENT_TYPE)?
        .is_some_and(|value| media_type(value) == "application/json");
    let is_uncompressed =
        single_header(headers, &CONTENT_ENCODING)?.is_none_or(|value| value == "identity");
    if is_json && is_uncompressed {
        return Ok(());
    }
    let message = "the body must be `Content-Type: application/json`, uncompressed";
    Err(Error::client(Code::UnsupportedMedia, message))
}

/// A body, with the permit for its bytes.
pub(super) struct AcceptedBody {
    pub(super) bytes: Bytes,
    _permit: SharedPermit,
}

/// Reads a body within the limits of size, time and buffered bytes.
pub(super) async fn read_body(
    transports: &Transports,
    principal: &Principal,
    headers: &HeaderMap,
    body: Body,
) -> Result<AcceptedBody> {
    let limits = &transports.limits;
    let (max_bytes, body_timeout) = (limits.max_message_bytes, limits.body_timeout);
    let announced =
        single_header(headers, &CONTENT_LENGTH)?.and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > max_bytes) {
        return Err(too_large(max_bytes));
    }
    let body = collect(
        body,
        max_bytes,
        transports.admission.received_permit(principal),
    );
    let body = tokio::time::timeout(body_timeout, body).await;
    body.unwrap_or_else(|_| {
        let seconds = body_timeout.as_secs_f64();
        let message = format!("the body did not arrive within {seconds} s");
        Err(Error::client(Code::TooSlow, message))
    })
}

async fn collect(body: Body, max_bytes: usize, mut permit: SharedPermit) -> Result<AcceptedBody> {
    let mut body = Limited::new(body, max_bytes);
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
            true => too_large(max_bytes),
            false => Error::client(Code::InvalidRequest, "the body is incomplete"),
        })?;
        if let Ok(data) = frame.into_data() {
            permit.grow(data.len())?;
            bytes.extend_from_slice(&data);
        }
    }
    Ok(AcceptedBody {
        bytes: bytes.freeze(),
        _permit: permit,
    })
}

fn too_large(max_bytes: usize) -> Error {
    let message = format!("the message exceeds the limit of {max_bytes} bytes");
    Error::client(Code::TooLarge, message)
}

/// The value of a header that may occur only once.
pub(super) fn single_header<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(invalid_header(name, "occurs more than once"));
    }
    value
        .to_str()
        .map(Some)
        .map_err(|_| invalid_header(name, "is not plain ASCII text"))
}

fn invalid_header(name: &HeaderName, problem: &str) -> Error {
    let message = format!("the header `{name}` {problem}");
    Error::client(Code::InvalidRequest, message)
}
