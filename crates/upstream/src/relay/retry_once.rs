//! Decides from the first message of a server whether a call is retried once: the server rejected
//! its encoding and did not execute it.

use futures_util::stream::{self, StreamExt};
use tidegate_core::{Call, Operation};
use tidegate_mcp::ResponseBody;
use tidegate_mcp::revision::client::{RetryHint, retry_hint};

use crate::session::{ResponseStream, ServerMessage};

/// What has to be reloaded before a call is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryAfter {
    /// The list of tools: the headers of the call were derived from an outdated definition.
    ReloadTools,
    /// The connection: the server does not support the revision of the handshake any more.
    Reconnect,
}

/// Waits for the first message. Returns the whole stream, and whether to retry the call.
pub(super) async fn retry_after_first_message(
    mut messages: ResponseStream,
    call: &Call,
) -> (ResponseStream, Option<RetryAfter>) {
    let first = messages.next().await;
    let retry = match &first {
        Some(Ok(ServerMessage::Response(ResponseBody::Error(error)))) => match retry_hint(error) {
            Some(RetryHint::Headers) if matches!(call.operation, Operation::Tool { .. }) => {
                Some(RetryAfter::ReloadTools)
            }
            Some(RetryHint::Revision { .. }) => Some(RetryAfter::Reconnect),
            Some(RetryHint::Headers | RetryHint::Capability) | None => None,
        },
        _ => None,
    };
    (stream::iter(first).chain(messages).boxed(), retry)
}
