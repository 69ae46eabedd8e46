//! Which kind of exchange an HTTP message belongs to. The order of the checks is the protocol's.

use tidegate_core::{Code, Error, Object, Result, truncate_for_message};

use super::{Era, Revision, StandardHeaders, meta, methods};
use crate::Message;

/// How a message is to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Classification {
    /// Stateless: the request says all there is to know.
    Modern,
    /// Opens a session.
    Handshake,
    /// Belongs to a session; the revision named must be one we speak.
    Session { id: String },
    /// From a client that says nothing about itself: served alone, as this revision.
    Sessionless(Revision),
}

/// Tells a message's exchange by its body and its headers.
pub fn classify(message: &Message, headers: &StandardHeaders) -> Result<Classification> {
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_ref(), params.as_ref())
        }
        Message::Response { .. } => ("", None),
    };
    let members = params.and_then(tidegate_core::RawJson::object);
    let has_modern_meta = members.as_ref().is_some_and(meta::is_modern);
    let opens_session = methods::opens_session(method);
    let asks_for_a_version = members
        .as_ref()
        .is_some_and(|members: &Object<'_>| members.get("protocolVersion").is_some());
    if opens_session && asks_for_a_version && !has_modern_meta {
        return Ok(Classification::Handshake);
    }
    if has_modern_meta || names_modern(headers) {
        return Ok(Classification::Modern);
    }
    if opens_session {
        return Ok(Classification::Handshake);
    }
    match (&headers.session, headers.version.as_deref()) {
        (Some(id), None) => Ok(Classification::Session { id: id.clone() }),
        (Some(id), Some(version)) => match Revision::parse(version) {
            Some(_) => Ok(Classification::Session { id: id.clone() }),
            None => Err(unknown_version(version)),
        },
        (None, None) => Ok(Classification::Sessionless(Revision::ASSUMED)),
        (None, Some(version)) => Err(Error::client(
            Code::SessionRequired,
            format!(
                "revision {} needs a session; initialize first and send its id",
                truncate_for_message(version)
            ),
        )),
    }
}

/// The session that a request without a message names: the stream of a session, or its end. There is
/// neither without a session.
pub fn session_of(headers: &StandardHeaders) -> Result<&str> {
    let none = || {
        Error::client(
            Code::MethodNotAllowed,
            "without a session there is only POST",
        )
    };
    let id = headers.session.as_deref().ok_or_else(none)?;
    match headers.version.as_deref() {
        None => Ok(id),
        Some(version) => match Revision::parse(version).map(Revision::era) {
            Some(Era::Legacy) => Ok(id),
            Some(Era::Modern) => Err(none()),
            None => Err(unknown_version(version)),
        },
    }
}

/// Whether the version header alone makes a request modern: it names a modern revision, or one that
/// is unknown, outside any session.
fn names_modern(headers: &StandardHeaders) -> bool {
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

fn unknown_version(version: &str) -> Error {
    let supported: Vec<_> = Revision::supported().collect();
    let version = truncate_for_message(version);
    Error::client(
        Code::InvalidRequest,
        format!(
            "the revision `{version}` is not one of {}",
            supported.join(", ")
        ),
    )
}
