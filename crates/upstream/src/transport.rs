//! How messages travel to a server and back: HTTP, a child process over stdio, and the SSE transport
//! of 2024.
//!
//! Transfers bytes and splits them into messages. Must not know: what a message means, sessions,
//! or which request a message belongs to.

pub(crate) mod http;
mod outgoing;
pub(crate) mod sse;
pub(crate) mod stdio;

use bytes::Bytes;

pub(crate) use outgoing::{OutgoingLine, OutgoingMessages, outgoing_queue};

/// Receives the messages of a duplex transport, one by one.
pub(crate) trait MessageSink: Send + Sync + 'static {
    /// One message, or a batch of them.
    fn receive(&self, message: &Bytes);

    /// The first and last bytes of a message that exceeded the size limit.
    fn receive_oversized(&self, head: &[u8], tail: &[u8]);

    /// Whether a client waits for the response to one of the first `sent` requests.
    fn awaits_response(&self, sent: u64) -> bool;

    /// The server will send nothing more.
    fn end(&self);
}
