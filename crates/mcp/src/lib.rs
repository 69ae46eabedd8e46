//! MCP on the wire: bytes become messages, messages of any revision become the core's requests,
//! and replies become messages again.
//!
//! Read in the order of the path: [`decode`] (envelope), [`revision::frame`] (which revision),
//! [`revision::lift`], and [`Lowering`] on the way back. [`sse`] and [`lines`] are the two framings.
//!
//! No I/O; knows no sources, no roles and no sockets. Revisions are named and compared in the
//! folder `revision` and nowhere else.

pub mod codes;
mod depth;
mod envelope;
mod id;
pub mod lines;
mod oversized;
pub mod revision;
pub mod sse;

pub use envelope::{
    Answer, Inbound, Limits, Message, Rejection, RpcError, batch_refused, decode,
    decode_error_without_id, decode_one,
};
pub use id::RequestId;
pub use oversized::answered_id;
pub use revision::{Era, Lifted, Lowering, OutgoingMessage, Revision};

/// A JSON text without line breaks. Legal JSON has none inside strings, so nothing is lost.
pub fn single_line(json: &str) -> std::borrow::Cow<'_, str> {
    if json.contains(['\n', '\r']) {
        json.replace(['\n', '\r'], " ").into()
    } else {
        json.into()
    }
}
