//! An open way to a server, whatever it is made of.

mod ear;
mod http;
mod one_way;
mod pending;
pub(crate) mod sse;
pub(crate) mod stdio;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tidegate_core::{Code, Error, QuestionKind, RawJson, Result, Side};
use tidegate_mcp::revision::client::{Outbound, Said};
use tidegate_mcp::{Answer, RequestId};
use tokio::sync::mpsc;

pub(crate) use http::HttpLink;

/// What the server says without a call to say it on.
pub(crate) type Unasked = mpsc::Receiver<Said>;

/// What comes back for one request: what is said on the way, then the answer, and then the end.
/// Dropping it before tells the server that nobody waits.
pub(crate) type Talk = BoxStream<'static, Result<Heard>>;

/// One thing the server says in answer to a request.
#[derive(Debug)]
pub(crate) enum Heard {
    Said(Said),
    /// The server asks something of the client whose request this is.
    Question {
        id: RequestId,
        kind: QuestionKind,
        params: RawJson,
    },
    Answer(Answer),
}

/// A way to a server.
pub(crate) trait Link: Send + Sync + 'static {
    /// Sends a request. The headers are for links that have such.
    fn request(&self, outbound: Outbound, headers: Vec<(String, String)>) -> Talk;

    /// Sends what wants no answer.
    fn notify(&self, json: String) -> BoxFuture<'_, Result<()>>;

    /// Waits until the link is of no more use.
    fn closed(&self) -> BoxFuture<'_, ()>;

    /// Closes the link and waits until nothing is left of what it started.
    fn end(&self) -> BoxFuture<'_, ()>;
}

/// The server cannot be reached, or does not speak as it should.
pub(crate) fn unavailable(message: &str) -> Error {
    Error::new(Code::Unavailable, Side::Source, message)
}
