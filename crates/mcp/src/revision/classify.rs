//! Decides which kind of exchange an HTTP message belongs to. The protocol fixes the order of the
//! checks.

use tidegate_core::{Code, Era, Error, Object, RawJson, Result, truncate_for_message};

use super::standard_headers::StandardHeaders;
use super::version::Revision;
use super::{meta, methods};
use crate::message::Message;

/// How a message is to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Classification {
    /// A message of the modern era, complete in itself.
    Modern,
    /// Opens a session.
    Handshake,
    /// Belongs to a session.
    Session { id: String },
    /// From a client that neither describes itself nor has a session; served as this revision.
    Sessionless(Revision),
}

/// Classifies a message by its body and its headers.
pub fn classify(message: &Message, headers: &StandardHeaders) -> Result<Classification> {
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_ref(), params.as_ref())
        }
        Message::Response { .. } => ("", None),
    };
    let members = params.and_then(RawJson::object);
    let has_modern_meta = members.as_ref().is_some_and(meta::has_modern_meta);
    let opens_session = methods::opens_session(method);
    let requests_version = members
        .as_ref()
        .is_some_and(|members: &Object<'_>| members.get("protocolVersion").is_some());
    if opens_session && requests_version && !has_modern_meta {
        return Ok(Classification::Handshake);
    }
    if has_modern_meta || has_modern_version(headers) {
        return Ok(Classification::Modern);
    }
    if opens_session {
        return Ok(Classification::Handshake);
    }
    match (&headers.session, headers.version.as_deref()) {
        (Some(id), None) => Ok(Classification::Session { id: id.clone() }),
        (Some(id), Some(version)) => match Revision::parse(version) {
            Some(_) => Ok(Classification::Session { id: id.clone() }),
            None => Err(unsupported_version(version)),
        },
        (None, None) => Ok(Classification::Sessionless(Revision::ASSUMED)),
        (None, Some(version)) => Err(Error::client(
            Code::SessionRequired,
            format!(
                "revision {} requires a session; initialize first and send `Mcp-Session-Id`",
                truncate_for_message(version)
            ),
        )),
    }
}

/// The session of a request without a body (GET or DELETE), which exists only in sessions.
pub fn required_session_id(headers: &StandardHeaders) -> Result<&str> {
    let not_allowed = || {
        Error::client(
            Code::MethodNotAllowed,
            "only POST is allowed without a session",
        )
    };
    let id = headers.session.as_deref().ok_or_else(not_allowed)?;
    match headers.version.as_deref() {
        None => Ok(id),
        Some(version) => match Revision::parse(version).map(Revision::era) {
            Some(Era::Legacy) => Ok(id),
            Some(Era::Modern) => Err(not_allowed()),
            None => Err(unsupported_version(version)),
        },
    }
}

/// Whether the version header alone makes a request modern: it names a modern revision, or an
/// unknown one that is newer or used outside a session.
fn has_modern_version(headers: &StandardHeaders) -> bool {
    headers
        .version
        .as_deref()
        .is_some_and(|version| match Revision::parse(version) {
            Some(revision) => revision.era() == Era::Modern,
            None => {
                version >= Revision::NEWEST.as_str() && looks_dated(version)
                    || headers.session.is_none()
            }
        })
}

fn looks_dated(version: &str) -> bool {
    version.len() == 10
        && version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn unsupported_version(version: &str) -> Error {
    let supported: Vec<_> = Revision::supported().collect();
    let version = truncate_for_message(version);
    Error::client(
        Code::InvalidRequest,
        format!(
            "unsupported revision `{version}`; supported: {}",
            supported.join(", ")
        ),
    )
}
