//! An open way to a server, whatever it is made of.

pub(crate) mod connect;
pub(crate) mod demultiplexer;
pub(crate) mod duplex;
pub(crate) mod era_detection;
pub(crate) mod handshake;
mod http;
mod in_flight;
pub(crate) mod invalid_messages;
pub(crate) mod notification_queue;
mod refusal;
mod task_questions;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tidegate_core::{Code, Error, ErrorOrigin, GaugeValue, QuestionKind, RawJson, Result};
use tidegate_mcp::revision::client::{OutboundRequest, ServerNotification};
use tidegate_mcp::{RequestId, ResponseBody, Revision};

use crate::session::notification_queue::NewsReceiver;

pub(crate) use http::HttpLink;
pub(crate) use refusal::Refusal;
pub use refusal::WANTS_CREDENTIALS;

/// What the server says has changed, without a call to say it on.
pub(crate) type Unasked = NewsReceiver;

/// What comes back for one request: what is said on the way, then the answer or a refusal, and then
/// the end.
/// Dropping it before tells the server that nobody waits.
pub(crate) type Talk = BoxStream<'static, Result<Heard>>;

/// One thing the server says in answer to a request.
#[derive(Debug)]
pub(crate) enum Heard {
    ServerNotification(ServerNotification),
    /// The server asks something of the client whose request this is.
    Question {
        id: RequestId,
        kind: QuestionKind,
        params: RawJson,
    },
    Answer(ResponseBody),
    /// No answer will come.
    Refused(Refusal),
}

/// What a handshake has settled.
pub(crate) struct Session {
    pub(crate) revision: Revision,
    /// Whether the client that the session is for shows its folders.
    pub(crate) shows_folders: bool,
}

/// A way to a server.
pub(crate) trait Link: Send + Sync + 'static {
    /// Sends a request. The headers are for links that have such.
    fn request(&self, outbound: OutboundRequest, headers: Vec<(String, String)>) -> Talk;

    /// What the server asks about a task of its own when no request is there to ask it on.
    fn adopt(&self, task: &str) -> Talk;

    /// Sends what wants no answer.
    fn notify(&self, json: String) -> BoxFuture<'_, Result<()>>;

    /// From here on all belongs to the session that a handshake opened.
    fn enter(&self, session: Session);

    /// Hears what the server says on its session's own stream, where there is such, from when this
    /// is done.
    fn follow(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether the server asks where nothing tells which request it is about.
    fn asks_anywhere(&self) -> bool;

    /// What was odd about the server's words.
    fn gauges(&self) -> [GaugeValue; 2];

    /// Whether requests have headers, which repeat what they say.
    fn has_headers(&self) -> bool;

    /// Waits until the link is of no more use.
    fn closed(&self) -> BoxFuture<'_, ()>;

    /// Closes the link and waits until nothing is left of what it started.
    fn end(&self) -> BoxFuture<'_, ()>;
}

/// The server broke off, or does not speak as it should.
pub(crate) fn unavailable(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}

/// The server was not asked.
pub(crate) fn not_asked(message: &str) -> Error {
    Error::new(Code::SourceDown, ErrorOrigin::Source, message)
}

pub(crate) fn too_large() -> Error {
    unavailable("the source's answer is larger than allowed")
}
