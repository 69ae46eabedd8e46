//! The meaning of a message, after lifting.

use tidegate_core::{ClientContext, LoggingLevel, Operation, RawJson};

use super::meta::RequestMeta;
use super::methods::{Method, MethodKind, may_be_extension};
use super::version::Revision;
use crate::message::ResponseBody;
use crate::request_id::RequestId;

/// The meaning of a message.
#[derive(Debug)]
pub enum Lifted {
    /// A request for the core.
    Request(LiftedRequest),
    /// Opens a session.
    Handshake {
        id: RequestId,
        handshake: HandshakeRequest,
    },
    /// Sets the log level of the session.
    SetLevel {
        id: RequestId,
        level: LoggingLevel,
    },
    Subscribe {
        id: RequestId,
        uri: String,
    },
    Unsubscribe {
        id: RequestId,
        uri: String,
    },
    /// The client cancels a request.
    Cancelled {
        id: RequestId,
    },
    /// The response to one of our questions.
    Response {
        id: RequestId,
        body: ResponseBody,
    },
    /// The client's roots changed.
    RootsChanged,
    /// A notification that may belong to an extension that the gateway does not know.
    Extension {
        method: String,
        params: RawJson,
        /// The client, if the notification describes it.
        client: Option<ClientContext>,
    },
    /// Nothing to do.
    Ignored,
}

impl Lifted {
    /// Malformed notifications are ignored, as the protocol requires.
    pub(super) fn from_notification(
        revision: Revision,
        method: &str,
        params: Option<&RawJson>,
    ) -> Self {
        let cancelled_id = || {
            let params = params?.object()?;
            RequestId::new(RawJson::copy_of(params.get("requestId")?))
        };
        match Method::from_client(method, revision, MethodKind::ClientNotification) {
            Some(Method::Cancelled) => match cancelled_id() {
                Some(id) => Self::Cancelled { id },
                None => Self::Ignored,
            },
            Some(Method::RootsChanged) => Self::RootsChanged,
            None if may_be_extension(method) => Self::Extension {
                method: method.to_owned(),
                params: params.cloned().unwrap_or_else(RawJson::empty_object),
                client: params.and_then(described_client),
            },
            _ => Self::Ignored,
        }
    }
}

/// The client that the `_meta` of a modern notification describes.
fn described_client(params: &RawJson) -> Option<ClientContext> {
    let members = params.object()?;
    let client = RequestMeta::parse(&members).ok()?.into_client().ok()?;
    Some(ClientContext {
        log_level: None,
        progress: None,
        ..client
    })
}

/// A request for the core.
#[derive(Debug)]
pub struct LiftedRequest {
    pub id: RequestId,
    pub method: Method,
    pub operation: Operation,
    /// The parameters as received.
    pub params: RawJson,
    pub client: ClientContext,
    /// Whether this continues a request that was answered with questions.
    pub is_continuation: bool,
}

/// The content of an `initialize` request.
#[derive(Clone, Debug)]
pub struct HandshakeRequest {
    /// The revision of the session: the requested one if it is supported, otherwise the newest
    /// legacy revision.
    pub revision: Revision,
    pub capabilities: RawJson,
    pub client_info: Option<RawJson>,
}
