//! Step 1, accept: headers and a size-capped body. Nothing is read of what is refused.

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use ::http::{HeaderMap, HeaderName};
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tidegate_core::{Code, Credential, Error, Result};
use tidegate_mcp::revision::StandardHeaders;

use crate::Transports;
use crate::admission::Room;

/// The standard headers of a request.
pub(super) fn standard(headers: &HeaderMap) -> Result<StandardHeaders> {
    StandardHeaders::parse(
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes())),
    )
}

/// The credential a request shows.
pub(super) fn credential(headers: &HeaderMap) -> Result<Credential<'_>> {
    let Some(value) = only(headers, &AUTHORIZATION)? else {
        return Ok(Credential::None);
    };
    let token = value.split_once(' ').and_then(|(scheme, token)| {
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    match token {
        Some(token) => Ok(Credential::Bearer(token)),
        None => Err(Error::client(
            Code::Unauthenticated,
            "only bearer keys are taken: send `Authorization: Bearer …`",
        )),
    }
}

/// A client must take an answer in either form, because the gateway chooses late.
pub(super) fn check_accept(headers: &HeaderMap) -> Result<()> {
    if accepts(headers, "application", "json") && accepts(headers, "text", "event-stream") {
        return Ok(());
    }
    Err(Error::client(
        Code::NotAcceptable,
        "send `Accept: application/json, text/event-stream`: the answer may come as either",
    ))
}

/// A client that opens a stream must take events.
pub(super) fn check_accepts_events(headers: &HeaderMap) -> Result<()> {
    if accepts(headers, "text", "event-stream") {
        return Ok(());
    }
    Err(Error::client(
        Code::NotAcceptable,
        "send `Accept: text/event-stream`",
    ))
}

/// Whether a media type is accepted: by name, by `type/*` or by `*/*`; no header accepts all, and
/// so does `application/*`, which some clients send for both forms.
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
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The body must be JSON by its own header: what a web page can send without asking is not.
pub(super) fn check_content(headers: &HeaderMap) -> Result<()> {
    let is_json =
        only(headers, &CONTENT_TYPE)?.is_some_and(|value| media_type(value) == "application/json");
    let is_plain = only(headers, &CONTENT_ENCODING)?.is_none_or(|value| value == "identity");
    if is_json && is_plain {
        return Ok(());
    }
    let message = "the body must be `Content-Type: application/json`, uncompressed";
    Err(Error::client(Code::UnsupportedMedia, message))
}

/// A body, and the room its bytes take for as long as they are needed.
pub(super) struct Accepted {
    pub(super) bytes: Bytes,
    _room: Room,
}

/// Reads a body within its bounds of size, time and room.
pub(super) async fn body(
    transports: &Transports,
    headers: &HeaderMap,
    body: Body,
) -> Result<Accepted> {
    let (limit, time) = (
        transports.limits.max_message_bytes,
        transports.limits.body_timeout,
    );
    let announced = only(headers, &CONTENT_LENGTH)?.and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let read = tokio::time::timeout(time, read(body, limit, transports.admission.room()));
    read.await.unwrap_or_else(|_| {
        let message = format!("the body did not arrive within {} seconds", time.as_secs());
        Err(Error::client(Code::TooSlow, message))
    })
}

async fn read(body: Body, limit: usize, mut room: Room) -> Result<Accepted> {
    let mut body = Limited::new(body, limit);
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
            true => too_large(limit),
            false => Error::client(Code::InvalidRequest, "the body ended early"),
        })?;
        if let Ok(data) = frame.into_data() {
            room.grow(data.len())?;
            bytes.extend_from_slice(&data);
        }
    }
    Ok(Accepted {
        bytes: bytes.freeze(),
        _room: room,
    })
}

fn too_large(limit: usize) -> Error {
    Error::client(
        Code::TooLarge,
        format!("the message is larger than {limit} bytes"),
    )
}

/// A header that may stand once, as text.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(bad_header(name, "stands more than once"));
    }
    value
        .to_str()
        .map(Some)
        .map_err(|_| bad_header(name, "is not plain text"))
}

fn bad_header(name: &HeaderName, what: &str) -> Error {
    Error::client(Code::InvalidRequest, format!("the header `{name}` {what}"))
}
