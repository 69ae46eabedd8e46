//! The first word of a server to a call. It may be that the server was asked wrongly, and did
//! nothing: then it is worth asking again.

use futures_util::stream::{self, StreamExt};
use tidegate_core::{Ask, Call};
use tidegate_mcp::Answer;
use tidegate_mcp::revision::client::{Complaint, complaint};

use crate::link::{Heard, Talk};

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
        Some(Ok(Heard::Answer(Answer::Error(error)))) => match complaint(error) {
            Some(Complaint::Headers) if matches!(call.ask, Ask::Tool { .. }) => Some(Again::List),
            Some(Complaint::Revision { .. }) => Some(Again::Link),
            Some(Complaint::Headers | Complaint::Capability) | None => None,
        },
        _ => None,
    };
    (stream::iter(first).chain(talk).boxed(), again)
}
