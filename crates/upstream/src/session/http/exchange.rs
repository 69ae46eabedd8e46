//! One request over HTTP and what comes back for it: on its own stream, on the rest of it that is
//! asked for later, and, where a session has such, on the stream that is no request's own.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use http::StatusCode;
use tidegate_core::{RawJson, Result};
use tidegate_mcp::revision::client::{
    OutboundRequest, ServerNotification, answer_without_client, parse_notification,
};
use tidegate_mcp::revision::question::question_kind;
use tidegate_mcp::{Message, ResponseBody};

use super::Shared;
use crate::session::{Heard, Refusal, Talk, unavailable};
use crate::transport::http::Response;
use crate::transport::http::body::{Reader, Spoken};

/// How often the rest of one answer is asked for.
const MOST_RESUMES: usize = 8;

/// What comes to a request on its own stream, and what comes to it on another. It ends with the
/// former.
pub(super) fn beside(own: Talk, other: Talk) -> Talk {
    stream::unfold((own, other), |(mut own, mut other)| async {
        let heard = tokio::select! {
            heard = own.next() => heard?,
            Some(heard) = other.next() => heard,
        };
        Some((heard, (own, other)))
    })
    .boxed()
}

/// Sends a request, and gives what the server says to it.
pub(super) async fn run(
    shared: Arc<Shared>,
    outbound: OutboundRequest,
    headers: Vec<(String, String)>,
) -> Talk {
    let mut unanswered = Unanswered {
        shared: Arc::clone(&shared),
        id: outbound.id,
        is_open: true,
    };
    let heard = match shared.post(outbound.json, headers).await {
        Ok(response) => match shared.refusal(response.status) {
            None => return talk(response, unanswered),
            Some(refusal) => Ok(Heard::Refused(refusal)),
        },
        Err(error) => Err(error),
    };
    unanswered.is_open = false;
    stream::iter([heard]).boxed()
}

/// What the server says in answer.
fn talk(response: Response, unanswered: Unanswered) -> Talk {
    let exchange = Exchange {
        status: response.status,
        reader: Reader::new(
            response,
            unanswered.shared.max_message_bytes,
            &unanswered.shared.junk,
        ),
        resumed: 0,
        unanswered,
    };
    stream::unfold(Some(exchange), |exchange| async {
        let mut exchange = exchange?;
        let heard = exchange.next().await;
        let ended = matches!(heard, Ok(Heard::Answer(_) | Heard::Refused(_)) | Err(_));
        exchange.unanswered.is_open = !ended;
        Some((heard, (!ended).then_some(exchange)))
    })
    .boxed()
}

/// One request and what has come of its answer.
struct Exchange {
    status: StatusCode,
    reader: Reader,
    resumed: usize,
    unanswered: Unanswered,
}

impl Exchange {
    /// The next thing that is for this request.
    async fn next(&mut self) -> Result<Heard> {
        loop {
            match self.reader.next().await {
                Some(Ok(Spoken::Error(error))) => {
                    return Ok(Heard::Answer(ResponseBody::Error(error)));
                }
                Some(Ok(Spoken::Unreadable(answer))) => {
                    self.unanswered.shared.post(answer, Vec::new()).await.ok();
                }
                Some(Ok(Spoken::Message(message))) => {
                    if let Some(heard) = self.hear(message).await {
                        return Ok(heard);
                    }
                }
                Some(Err(error)) => {
                    if !self.resume().await {
                        return Err(error);
                    }
                }
                None if self.resume().await => {}
                None if self.status.is_success() => {
                    return Err(unavailable(
                        "the source ended its answer before it was complete",
                    ));
                }
                None => return Ok(Heard::Refused(Refusal::Status(self.status))),
            }
        }
    }

    /// What a message means to this request; none if it is not for it.
    async fn hear(&self, message: Message) -> Option<Heard> {
        let Unanswered { shared, id, .. } = &self.unanswered;
        match message {
            Message::Response { id: named, body } => {
                // A body that is a refusal is about this request, whatever id some servers give it.
                let refusal = !self.status.is_success() && matches!(body, ResponseBody::Error(_));
                if refusal || named.key() == id.to_string() {
                    return Some(Heard::Answer(body));
                }
                shared.junk.stray();
                None
            }
            Message::Notification { method, params } => {
                match parse_notification(&method, params.as_ref()) {
                    // Progress of something else, or of nothing.
                    ServerNotification::Progress { token, .. } if token != id.to_string() => None,
                    said => Some(Heard::ServerNotification(said)),
                }
            }
            Message::Request { id, method, params } => match question_kind(&method) {
                Some(kind) => {
                    let params = params.unwrap_or_else(RawJson::empty_object);
                    Some(Heard::Question { id, kind, params })
                }
                None => {
                    let answer = answer_without_client(&id, &method);
                    shared.post(answer, Vec::new()).await.ok();
                    None
                }
            },
        }
    }

    /// Comes back for the rest of a stream that broke off, where the server said how.
    async fn resume(&mut self) -> bool {
        let Some(last) = self
            .reader
            .last_event
            .clone()
            .filter(|_| self.resumed < MOST_RESUMES)
        else {
            return false;
        };
        self.resumed += 1;
        tokio::time::sleep(self.reader.retry()).await;
        let shared = &self.unanswered.shared;
        match shared.resume(&last).await {
            Some(response) => {
                self.reader = Reader::new(response, shared.max_message_bytes, &shared.junk);
                self.reader.last_event = Some(last);
                true
            }
            None => false,
        }
    }
}

/// A request whose answer has not come. Dropped before it comes, the server is told; without a
/// session, closing the stream has told it.
struct Unanswered {
    shared: Arc<Shared>,
    id: u64,
    is_open: bool,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if self.is_open {
            self.shared.call_off(self.id);
        }
    }
}
