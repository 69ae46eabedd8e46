//! The gateway's own requests on a connection, which no client made.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use tidegate_core::{Declined, RawJson, Result};
use tidegate_mcp::revision::client::OutboundRequest;
use tidegate_mcp::revision::question::encode_answer;
use tidegate_mcp::{RequestId, ResponseBody, RpcError};

use super::{Refusal, RequestChannel, ServerMessage};
use crate::error::source_failed;

/// The request ids of one connection.
#[derive(Default)]
pub(crate) struct RequestIds(AtomicU64);

impl RequestIds {
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The response of a reachable server to a request.
pub(super) enum RequestReply {
    Response(Result<RawJson, RpcError>),
    Refused(Refusal),
}

/// Sends a request of the gateway itself and waits for the response. Notifications are ignored, and
/// questions declined.
pub(crate) async fn send_request(
    channel: &dyn RequestChannel,
    request: OutboundRequest,
    headers: Vec<(String, String)>,
) -> Result<Result<RawJson, RpcError>> {
    match request_reply(channel, request, headers).await? {
        RequestReply::Response(response) => Ok(response),
        RequestReply::Refused(refusal) => Err(refusal.error()),
    }
}

pub(super) async fn request_reply(
    channel: &dyn RequestChannel,
    request: OutboundRequest,
    headers: Vec<(String, String)>,
) -> Result<RequestReply> {
    let mut messages = channel.request(request, headers);
    while let Some(message) = messages.next().await {
        match message? {
            ServerMessage::Response(ResponseBody::Result(result)) => {
                return Ok(RequestReply::Response(Ok(result)));
            }
            ServerMessage::Response(ResponseBody::Error(error)) => {
                return Ok(RequestReply::Response(Err(error)));
            }
            ServerMessage::Refused(refusal) => return Ok(RequestReply::Refused(refusal)),
            ServerMessage::Question { id, .. } => channel.send(no_client(&id), Vec::new()).await?,
            ServerMessage::Notification(_) => {}
        }
    }
    Err(source_failed("the source sent no response"))
}

/// The reply to a question during a request that no client made.
fn no_client(id: &RequestId) -> String {
    encode_answer(id, Err(Declined::no_client()))
}
