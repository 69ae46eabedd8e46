//! A session with a server over a transport: era detection, the handshake, and one demultiplexer
//! that routes each message of the server to its request.
//!
//! Must not know: catalogs, the pool, or who calls.

pub(crate) mod connect;
pub(crate) mod connection;
mod demultiplexer;
mod duplex;
pub(crate) mod era_affinity;
pub(crate) mod era_detection;
mod handshake;
mod http;
mod in_flight;
mod invalid_messages;
pub(crate) mod notification_queue;
pub(crate) mod own_requests;
mod refusal;
mod task_questions;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tidegate_core::{GaugeValue, QuestionKind, RawJson, Result};
use tidegate_mcp::revision::client::{OutboundRequest, ServerNotification};
use tidegate_mcp::{RequestId, ResponseBody, Revision};

pub(crate) use connection::Connection;
pub(crate) use notification_queue::{Notifications, QueuedNotification};
pub use refusal::CREDENTIALS_REQUIRED;
pub(crate) use refusal::Refusal;

/// What is declared to a server about the client of a connection.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredClient {
    pub(crate) capabilities: RawJson,
    /// The name and version of the client; `None` for those of the gateway.
    pub(crate) info: Option<RawJson>,
}

impl DeclaredClient {
    /// The gateway itself, which cannot be asked questions.
    pub(crate) fn gateway() -> Self {
        Self {
            capabilities: RawJson::empty_object(),
            info: None,
        }
    }
}

/// Everything the server sends for one request: notifications and questions, then a response or a
/// refusal, which is the last item. Dropping the stream earlier cancels the request.
pub(crate) type ResponseStream = BoxStream<'static, Result<ServerMessage>>;

/// One message of the server for one request.
#[derive(Debug)]
pub(crate) enum ServerMessage {
    Notification(ServerNotification),
    /// A request of the server to the client that made this request.
    Question {
        id: RequestId,
        kind: QuestionKind,
        params: RawJson,
    },
    Response(ResponseBody),
    /// No response will follow.
    Refused(Refusal),
}

/// The result of a legacy handshake.
pub(crate) struct NegotiatedSession {
    pub(crate) revision: Revision,
    /// Whether all calls are from one client that declared roots.
    pub(crate) declares_roots: bool,
}

/// Sends requests to a server and returns the messages for each.
pub(crate) trait RequestChannel: Send + Sync + 'static {
    /// Registers a request; it is sent when the stream is first polled. Transports without headers
    /// ignore `headers`.
    fn request(&self, request: OutboundRequest, headers: Vec<(String, String)>) -> ResponseStream;

    /// The questions of the server about one of its tasks that arrive outside of a request.
    fn task_questions(&self, task: &str) -> ResponseStream;

    /// Sends a notification or a response. Transports without headers ignore `headers`.
    fn send(&self, json: String, headers: Vec<(String, String)>) -> BoxFuture<'_, Result<()>>;

    /// Begins the session that a handshake negotiated.
    fn begin_session(&self, session: NegotiatedSession);

    /// Opens the session's own stream, where the transport has one. Done once no message is missed.
    fn open_session_stream(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether the server has sent a question that nothing links to a request.
    fn has_unlinked_questions(&self) -> bool;

    /// Whether the server does not know the roots of its client, because no call was there to ask. True
    /// once.
    fn take_unknown_roots(&self) -> bool;

    /// How many messages were invalid or unexpected.
    fn gauges(&self) -> [GaugeValue; 2];

    /// Whether requests have HTTP headers, which repeat parts of them.
    fn has_headers(&self) -> bool;

    /// Waits until the server has started, as far as its output shows.
    fn first_output(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Waits until the connection is closed by either side.
    fn closed(&self) -> BoxFuture<'_, ()>;

    /// Closes the connection and waits until everything it started has ended.
    fn close(&self) -> BoxFuture<'_, ()>;
}
