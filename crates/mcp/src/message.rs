//! JSON-RPC messages.

use bytestring::ByteString;
use tidegate_core::{Code, Error, RawJson, Result};

use crate::codes;
use crate::request_id::RequestId;

/// The content of one HTTP body or one line.
#[derive(Debug)]
pub enum Inbound {
    Single(Message),
    /// Only one revision has batches; the caller decides whether they are allowed. Each message is
    /// accepted or rejected separately.
    Batch(Vec<Result<Message, Rejection>>),
}

/// One JSON-RPC message.
#[derive(Debug)]
pub enum Message {
    Request {
        id: RequestId,
        method: ByteString,
        params: Option<RawJson>,
    },
    Notification {
        method: ByteString,
        params: Option<RawJson>,
    },
    /// The response to one of our requests.
    Response { id: RequestId, body: ResponseBody },
}

impl Message {
    /// The id of a request; `None` for messages that need no response.
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Request { id, .. } => Some(id),
            Self::Notification { .. } | Self::Response { .. } => None,
        }
    }
}

/// The result or the error of a response.
#[derive(Clone, Debug)]
pub enum ResponseBody {
    Result(RawJson),
    Error(RpcError),
}

/// An error of the peer, as received.
#[derive(Clone, Debug)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<RawJson>,
}

impl RpcError {
    /// Whether the peer does not know the method.
    pub fn is_unknown_method(&self) -> bool {
        self.code == codes::of(Code::MethodNotFound).legacy
    }
}

/// Why a message was rejected, and the id for the error response if it could be read.
pub type Rejection = (Option<RequestId>, Error);
