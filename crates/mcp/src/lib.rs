//! MCP on the wire: bytes become messages, messages of any revision become the core's requests,
//! and replies become messages again.
//!
//! Read in the order of a request: [`decode`] parses bytes, [`revision::classify`] decides which
//! exchange a message belongs to, [`revision::lift_modern`] and [`revision::lift_legacy`] turn it
//! into a request for the core, and [`Lowering`] turns the reply into messages. [`sse`] and
//! [`lines`] are the framings of HTTP and stdio.
//!
//! Does no I/O. Must not know: sources, roles and sockets. Only the module `revision` names or
//! compares revisions.

pub mod codes;
mod decode;
pub mod lines;
mod message;
mod nesting;
mod oversized_response;
mod request_id;
pub mod revision;
pub mod sse;

pub use decode::{DecodeLimits, batch_not_allowed, decode, decode_error_without_id, decode_single};
pub use lines::single_line;
pub use message::{Inbound, Message, Rejection, ResponseBody, RpcError};
pub use oversized_response::oversized_response_id;
pub use request_id::RequestId;
pub use revision::{Lifted, Lowering, OutgoingMessage, Revision};
pub use tidegate_core::Era;
