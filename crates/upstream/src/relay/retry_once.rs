//! The first word of a server to a call. It may be that the server was asked wrongly, and did
//! nothing: then it is worth asking again.

use futures_util::stream::{self, StreamExt};
use tidegate_core::{Call, Operation};
use tidegate_mcp::ResponseBody;
use tidegate_mcp::revision::client::{RetryHint, retry_hint};

use crate::session::{Heard, Talk};

/// What must be another before a call is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// The list of tools: the headers of the call were made from one that is old.
    List,
    /// The link: the server does not speak any more as it did when this one was opened.
    Link,
}

/// Waits for the first word; gives the talk as if nobody had listened, and whether it is worth
/// another one.
pub(crate) async fn first_word(mut talk: Talk, call: &Call) -> (Talk, Option<Again>) {
    let first = talk.next().await;
    let again = match &first {
        Some(Ok(Heard::Answer(ResponseBody::Error(error)))) => match retry_hint(error) {
            Some(RetryHint::Headers) if matches!(call.operation, Operation::Tool { .. }) => {
                Some(Again::List)
            }
            Some(RetryHint::Revision { .. }) => Some(Again::Link),
            Some(RetryHint::Headers | RetryHint::Capability) | None => None,
        },
        _ => None,
    };
    (stream::iter(first).chain(talk).boxed(), again)
}
