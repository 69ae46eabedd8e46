//! A message on its way to a client.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use tidegate_core::Code;
use tidegate_mcp::OutgoingMessage;

use crate::shared_pool::SharedPermit;

/// Smaller messages are not counted as unread: their number is limited by the calls and streams that
/// they belong to.
pub(crate) const MIN_COUNTED_BYTES: usize = 16 * 1024;

/// A message that its client has not read yet. It counts as unread until it is dropped.
pub(crate) struct Outgoing {
    message: OutgoingMessage,
    _permit: Option<SharedPermit>,
}

/// The messages that answer one request: notifications and questions, then one response. Dropping
/// it cancels the call.
pub(crate) type OutgoingMessageStream = BoxStream<'static, Outgoing>;

impl Outgoing {
    pub(crate) fn new(message: OutgoingMessage, permit: Option<SharedPermit>) -> Self {
        Self {
            message,
            _permit: permit,
        }
    }

    pub(crate) fn message(&self) -> &OutgoingMessage {
        &self.message
    }

    pub(crate) fn json(&self) -> &str {
        self.message.json()
    }

    /// The code of an error response.
    pub(crate) fn code(&self) -> Option<Code> {
        match &self.message {
            OutgoingMessage::Response { code, .. } => *code,
            OutgoingMessage::Notification(_) | OutgoingMessage::Request(_) => None,
        }
    }

    pub(crate) fn is_response(&self) -> bool {
        matches!(self.message, OutgoingMessage::Response { .. })
    }

    /// Its JSON, without a copy.
    pub(crate) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

/// A message without a permit: a small one, or one whose number is limited otherwise.
impl From<OutgoingMessage> for Outgoing {
    fn from(message: OutgoingMessage) -> Self {
        Self::new(message, None)
    }
}

impl AsRef<[u8]> for Outgoing {
    fn as_ref(&self) -> &[u8] {
        self.json().as_bytes()
    }
}

/// The JSON of a message that is buffered too, without a copy.
pub(crate) fn shared_bytes(message: &Arc<Outgoing>) -> Bytes {
    struct Shared(Arc<Outgoing>);

    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            (*self.0).as_ref()
        }
    }

    Bytes::from_owner(Shared(Arc::clone(message)))
}
