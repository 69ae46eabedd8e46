//! Step 4, lift: a message of one revision into a request of the core.

use tidegate_core::{ClientContext, Code, Error, RawJson, Result};

use super::lifted::Lifted;
use super::methods::{Method, MethodKind};
use super::standard_headers::StandardHeaders;
use super::version::Revision;
use super::{legacy, modern};
use crate::message::{Message, Rejection};
use crate::request_id::RequestId;

/// Lifts a message without a session. `headers` are the HTTP headers; stdio has none.
pub fn lift_modern(
    message: Message,
    headers: Option<&StandardHeaders>,
) -> Result<(Revision, Lifted), Rejection> {
    match message {
        Message::Request { id, method, params } => {
            let params = params.unwrap_or_else(RawJson::empty_object);
            match modern::lift_request(&id, &method, params, headers) {
                Ok(lifted) => Ok(lifted),
                Err(error) => Err((Some(id), error)),
            }
        }
        Message::Notification { method, params } => {
            let lifted = lift_notification(Revision::NEWEST, &method, params.as_ref());
            Ok((Revision::NEWEST, lifted))
        }
        // The error has no id, because the id of a response is one of our own ids.
        Message::Response { .. } => Err((
            None,
            Error::client(
                Code::InvalidRequest,
                "unexpected response: servers send no requests in this revision",
            ),
        )),
    }
}

/// Lifts a message of a session, or of a client that does not describe itself. `client` is the
/// client context of the session.
pub fn lift_legacy(
    message: Message,
    revision: Revision,
    client: ClientContext,
) -> Result<Lifted, Rejection> {
    match message {
        Message::Request { id, method, params } => {
            let params = params.unwrap_or_else(RawJson::empty_object);
            legacy::lift_request(&id, &method, params, revision, client)
                .map_err(|error| (Some(id), error))
        }
        Message::Notification { method, params } => {
            Ok(lift_notification(revision, &method, params.as_ref()))
        }
        Message::Response { id, body } => Ok(Lifted::Response { id, body }),
    }
}

/// Unknown and malformed notifications are ignored, as the protocol requires.
fn lift_notification(revision: Revision, method: &str, params: Option<&RawJson>) -> Lifted {
    let cancelled_id = || {
        let params = params?.object()?;
        RequestId::new(RawJson::copy_of(params.get("requestId")?))
    };
    match Method::from_client(method, revision, MethodKind::ClientNotification) {
        Some(Method::Cancelled) => match cancelled_id() {
            Some(id) => Lifted::Cancelled { id },
            None => Lifted::Ignored,
        },
        Some(Method::RootsChanged) => Lifted::RootsChanged,
        _ => Lifted::Ignored,
    }
}
