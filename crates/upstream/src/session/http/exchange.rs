//! One request over HTTP and the messages of its response, resumed where the server allows it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use http::StatusCode;
use tidegate_core::Result;
use tidegate_mcp::revision::client::OutboundRequest;

use super::HttpClient;
use crate::error::source_failed;
use crate::session::demultiplexer::{MessageOrigin, Routed};
use crate::session::{Refusal, ResponseStream, ServerMessage};
use crate::transport::http::Response;
use crate::transport::http::body::MessageReader;

/// How often one response is resumed.
const MAX_RESUMES: usize = 8;

/// The messages of a response, and messages for the same request that arrive on other streams.
/// Ends with the response.
pub(super) fn merge(response: ResponseStream, elsewhere: ResponseStream) -> ResponseStream {
    stream::unfold(
        (response, elsewhere),
        |(mut response, mut elsewhere)| async {
            let message = tokio::select! {
                message = response.next() => message?,
                Some(message) = elsewhere.next() => message,
            };
            Some((message, (response, elsewhere)))
        },
    )
    .boxed()
}

/// Sends a request and returns the messages of its response.
pub(super) async fn run(
    client: Arc<HttpClient>,
    request: OutboundRequest,
    headers: Vec<(String, String)>,
) -> ResponseStream {
    let mut guard = CancelGuard {
        client: Arc::clone(&client),
        request: request.id,
        is_armed: true,
    };
    let message = match client.post(request.json, headers).await {
        Ok(response) => match client.refusal(response.status) {
            None => return messages(response, guard),
            Some(refusal) => Ok(ServerMessage::Refused(refusal)),
        },
        Err(error) => Err(error),
    };
    guard.is_armed = false;
    stream::iter([message]).boxed()
}

fn messages(response: Response, guard: CancelGuard) -> ResponseStream {
    let exchange = Exchange {
        status: response.status,
        reader: guard.client.reader(response),
        routed: VecDeque::new(),
        resumes: 0,
        guard,
    };
    stream::unfold(Some(exchange), |exchange| async {
        let mut exchange = exchange?;
        let message = exchange.next().await;
        let is_last = matches!(
            message,
            Ok(ServerMessage::Response(_) | ServerMessage::Refused(_)) | Err(_)
        );
        exchange.guard.is_armed = !is_last;
        Some((message, (!is_last).then_some(exchange)))
    })
    .boxed()
}

/// One request and the part of its response that has arrived.
struct Exchange {
    status: StatusCode,
    reader: MessageReader,
    /// Messages that were received and not delivered yet.
    routed: VecDeque<Routed>,
    resumes: usize,
    guard: CancelGuard,
}

impl Exchange {
    /// The next message for this request.
    async fn next(&mut self) -> Result<ServerMessage> {
        loop {
            match self.routed.pop_front() {
                Some(Routed::ToRequest(message)) => return message,
                Some(Routed::Reply(reply)) => {
                    self.guard.client.post(reply, Vec::new()).await.ok();
                    continue;
                }
                // Only questions outside of a response are held.
                Some(Routed::Held(..)) | None => {}
            }
            match self.reader.next().await {
                Some(Ok(bytes)) => {
                    let origin = MessageOrigin::ResponseTo {
                        request: self.guard.request,
                        is_error_status: !self.status.is_success(),
                    };
                    let demultiplexer = &self.guard.client.demultiplexer;
                    self.routed.extend(demultiplexer.receive(&bytes, origin));
                }
                Some(Err(error)) => {
                    if !self.resume().await {
                        return Err(error);
                    }
                }
                None if self.resume().await => {}
                None if self.status.is_success() => {
                    return Err(source_failed(
                        "the source ended its response before it was complete",
                    ));
                }
                None => {
                    let refusal = Refusal::with_body(self.status, self.reader.beginning());
                    return Ok(ServerMessage::Refused(refusal));
                }
            }
        }
    }

    /// Resumes a stream that was interrupted, if its events had ids.
    async fn resume(&mut self) -> bool {
        let last_event_id = self.reader.last_event_id.clone();
        let Some(last_event_id) = last_event_id.filter(|_| self.resumes < MAX_RESUMES) else {
            return false;
        };
        self.resumes += 1;
        tokio::time::sleep(self.reader.retry_delay()).await;
        let client = &self.guard.client;
        let Some(response) = client.resume(&last_event_id).await else {
            return false;
        };
        self.reader = client.reader(response);
        self.reader.last_event_id = Some(last_event_id);
        true
    }
}

/// Cancels a request that is dropped before its response has arrived.
struct CancelGuard {
    client: Arc<HttpClient>,
    request: u64,
    is_armed: bool,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        if self.is_armed {
            self.client.cancel(self.request);
        }
    }
}
