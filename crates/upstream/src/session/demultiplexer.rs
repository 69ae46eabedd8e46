//! Routes every message of a server to the request it belongs to, for all transports.
//!
//! Sends nothing itself: a reply that the server must get is returned to the caller, which owns the
//! transport.

use std::time::Duration;

use bytes::Bytes;
use tidegate_core::{Change, ExtensionNotification, GaugeValue, RawJson, Result};
use tidegate_mcp::revision::client::{
    ServerNotification, answer_without_client, parse_notification,
};
use tidegate_mcp::revision::question::{encode_answer, encode_rejection, question_kind};
use tidegate_mcp::{
    DecodeLimits, Inbound, Message, Rejection, RequestId, ResponseBody, decode,
    decode_error_without_id, oversized_response_id,
};

use super::ServerMessage;
use super::in_flight::{Asked, InFlight};
use super::invalid_messages::InvalidMessages;
use super::notification_queue::NotificationSender;
use crate::error::{response_too_large, source_failed};

/// How deep a message of a server may nest, and how many messages a batch may have.
const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 128,
    max_batch: 1024,
};

/// Where a message arrived, which determines the requests it can belong to.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessageOrigin {
    /// On the only stream of the connection (stdio and the SSE transport). Responses are matched
    /// by id.
    Duplex,
    /// On the session's own stream of an HTTP server, which has no responses.
    SessionStream,
    /// In the HTTP response to one request.
    ResponseTo { request: u64, is_error_status: bool },
}

/// What the caller must do with a message.
#[derive(Debug)]
pub(super) enum Routed {
    /// Deliver it to the request in whose HTTP response it arrived.
    ToRequest(Result<ServerMessage>),
    /// Send this reply to the server.
    Reply(String),
    /// Call [`Demultiplexer::answer_held`] after this time.
    Held(RequestId, Duration),
}

/// The demultiplexer of one connection.
pub(super) struct Demultiplexer {
    pub(super) in_flight: InFlight,
    notifications: NotificationSender,
    invalid: InvalidMessages,
}

impl Demultiplexer {
    /// The demultiplexer of a new connection, whose calls are from one principal unless `is_shared`.
    pub(super) fn new(source: &str, is_shared: bool, notifications: NotificationSender) -> Self {
        Self {
            in_flight: InFlight::new(is_shared),
            notifications,
            invalid: InvalidMessages::new(source),
        }
    }

    /// Routes one message, or a batch of them.
    pub(super) fn receive(&self, bytes: &Bytes, origin: MessageOrigin) -> Vec<Routed> {
        match decode(bytes.clone(), LIMITS) {
            Ok(Inbound::Single(message)) => self.route(message, origin).into_iter().collect(),
            Ok(Inbound::Batch(messages)) => {
                let messages = messages.into_iter().flatten();
                messages
                    .filter_map(|message| self.route(message, origin))
                    .collect()
            }
            Err(rejection) => {
                let routed = self.route_undecodable(bytes, rejection, origin);
                routed.into_iter().collect()
            }
        }
    }

    /// Fails the request whose response exceeded the size limit.
    pub(super) fn receive_oversized(&self, head: &[u8], tail: &[u8]) {
        let id = oversized_response_id(head, tail);
        let is_matched =
            id.is_some_and(|id| self.in_flight.complete(&id, Err(response_too_large())));
        if !is_matched {
            self.invalid
                .record_invalid("the message exceeds the size limit");
        }
    }

    /// Messages may have been missed, so anything may have changed.
    pub(super) fn missed_messages(&self) {
        self.notifications.missed();
    }

    pub(super) fn gauges(&self) -> [GaugeValue; 2] {
        self.invalid.gauges()
    }

    fn route(&self, message: Message, origin: MessageOrigin) -> Option<Routed> {
        match message {
            Message::Response { id, body } => self.route_response(&id, body, origin),
            Message::Notification { method, params } => {
                self.route_notification(parse_notification(&method, params.as_ref()), origin)
            }
            Message::Request { id, method, params } => {
                self.route_question(id, &method, params, origin)
            }
        }
    }

    fn route_response(
        &self,
        id: &RequestId,
        body: ResponseBody,
        origin: MessageOrigin,
    ) -> Option<Routed> {
        if let MessageOrigin::ResponseTo {
            request,
            is_error_status,
        } = origin
        {
            // An error response is for this request, even if the server sent another id.
            let is_own = id.key() == request.to_string()
                || is_error_status && matches!(body, ResponseBody::Error(_));
            if is_own {
                let response = ServerMessage::Response(body);
                return Some(Routed::ToRequest(Ok(response)));
            }
        } else if matches!(origin, MessageOrigin::Duplex) && self.in_flight.complete(id, Ok(body)) {
            return None;
        }
        self.invalid.record_unexpected_response();
        None
    }

    fn route_notification(
        &self,
        notification: ServerNotification,
        origin: MessageOrigin,
    ) -> Option<Routed> {
        if let MessageOrigin::ResponseTo { request, .. } = origin {
            let is_foreign = matches!(
                &notification,
                ServerNotification::Progress { token, .. } if *token != request.to_string()
            );
            let message = ServerMessage::Notification(notification);
            return (!is_foreign).then_some(Routed::ToRequest(Ok(message)));
        }
        match self.in_flight.notify(notification) {
            Some(ServerNotification::Change(change)) => self.notifications.push(change),
            Some(ServerNotification::ElicitationComplete(id)) => {
                let change = Change::ElicitationComplete(id.into());
                self.notifications.push(change);
            }
            Some(ServerNotification::Extension { method, params, .. }) => {
                let notification = ExtensionNotification {
                    client: None,
                    method,
                    params,
                };
                self.notifications
                    .push(Change::Extension(notification.into()));
            }
            Some(ServerNotification::Log { level, params }) => {
                self.notifications.push_log(level, params);
            }
            _ => {}
        }
        None
    }

    /// A question outside of an HTTP response is not linked to a request: [`InFlight::ask`] finds
    /// the call it can belong to. A question without such a call is held or refused.
    fn route_question(
        &self,
        id: RequestId,
        method: &str,
        params: Option<RawJson>,
        origin: MessageOrigin,
    ) -> Option<Routed> {
        let params = params.unwrap_or_else(RawJson::empty_object);
        let refusal = answer_without_client(&id, method);
        let Some(kind) = question_kind(method) else {
            return Some(Routed::Reply(refusal));
        };
        let held_id = id.clone();
        let question = ServerMessage::Question { id, kind, params };
        match origin {
            MessageOrigin::ResponseTo { .. } => Some(Routed::ToRequest(Ok(question))),
            MessageOrigin::Duplex | MessageOrigin::SessionStream => {
                match self.in_flight.ask(question) {
                    Asked::Delivered => None,
                    Asked::Held(duration) => Some(Routed::Held(held_id, duration)),
                    Asked::Refused => Some(Routed::Reply(refusal)),
                }
            }
        }
    }

    /// The reply to a held question that no call has got in time.
    pub(super) fn answer_held(&self, id: &RequestId) -> Option<String> {
        let answer = self.in_flight.answer_held(id)?;
        Some(encode_answer(id, answer))
    }

    fn route_undecodable(
        &self,
        bytes: &Bytes,
        rejection: Rejection,
        origin: MessageOrigin,
    ) -> Option<Routed> {
        // An error without an id in an HTTP response is about that request.
        let error_without_id = match origin {
            MessageOrigin::Duplex => None,
            MessageOrigin::SessionStream | MessageOrigin::ResponseTo { .. } => {
                decode_error_without_id(bytes.clone(), LIMITS)
            }
        };
        if let Some(error) = error_without_id {
            let is_response = matches!(origin, MessageOrigin::ResponseTo { .. });
            let response = ServerMessage::Response(ResponseBody::Error(error));
            return is_response.then_some(Routed::ToRequest(Ok(response)));
        }
        self.invalid.record_invalid(rejection.1.message());
        if let Some(reply) = encode_rejection(bytes, &rejection) {
            return Some(Routed::Reply(reply));
        }
        // An unreadable response fails the request: no other response will arrive.
        let (Some(id), error) = rejection else {
            return None;
        };
        let failed = source_failed("the source's response cannot be read").with_cause(error);
        match origin {
            MessageOrigin::Duplex => {
                self.in_flight.complete(&id, Err(failed));
                None
            }
            MessageOrigin::ResponseTo { request, .. } if id.key() == request.to_string() => {
                Some(Routed::ToRequest(Err(failed)))
            }
            MessageOrigin::SessionStream | MessageOrigin::ResponseTo { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
