//! Hears what a server says where all its words come one way, and hands each to whom it is for.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::{Change, RawJson};
use tidegate_mcp::revision::client::{
    ServerNotification, answer_without_client, parse_notification,
};
use tidegate_mcp::revision::question::{encode_rejection, question_kind};
use tidegate_mcp::{DecodeLimits, Inbound, Message, RequestId, decode, oversized_response_id};
use tokio::sync::mpsc;

use super::in_flight::Pending;
use super::invalid_messages::Junk;
use super::{Heard, too_large, unavailable};
use crate::session::notification_queue::NewsSender;

/// How deep a message of a server may nest, and how many one batch may hold.
const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 128,
    max_batch: 1024,
};

/// One server's words.
pub(crate) struct Ear {
    pending: Arc<Pending>,
    /// Where our own words go out.
    out: mpsc::Sender<String>,
    unasked: NewsSender,
    junk: Arc<Junk>,
}

impl Ear {
    pub(crate) fn new(
        pending: Arc<Pending>,
        out: mpsc::Sender<String>,
        unasked: NewsSender,
        junk: Arc<Junk>,
    ) -> Self {
        Self {
            pending,
            out,
            unasked,
            junk,
        }
    }

    /// Takes one message, or a batch of them.
    pub(crate) fn take(&self, text: &Bytes) {
        match decode(text.clone(), LIMITS) {
            Ok(Inbound::Single(message)) => self.hear(message),
            Ok(Inbound::Batch(messages)) => {
                for message in messages.into_iter().flatten() {
                    self.hear(message);
                }
            }
            Err(refused) => {
                self.junk.note(refused.1.message());
                match (encode_rejection(text, &refused), refused) {
                    (Some(answer), _) => drop(self.out.try_send(answer)),
                    // An answer that cannot be read is the only one that will come.
                    (None, (Some(id), error)) => {
                        let failed = unavailable("the source's answer cannot be read");
                        self.pending.answer(&id, Err(failed.with_cause(error)));
                    }
                    (None, (None, _)) => {}
                }
            }
        }
    }

    /// Takes what is left of a message that was too long. Whoever waits for it need not any more.
    pub(crate) fn miss(&self, head: &[u8], tail: &[u8]) {
        let answered = oversized_response_id(head, tail)
            .is_some_and(|id| self.pending.answer(&id, Err(too_large())));
        if !answered {
            self.junk.note("a message is larger than allowed");
        }
    }

    /// Nothing more will come.
    pub(crate) fn close(self) {
        self.pending.fail();
    }

    fn hear(&self, message: Message) {
        match message {
            Message::Response { id, body } => {
                if !self.pending.answer(&id, Ok(body)) {
                    self.junk.stray();
                }
            }
            Message::Notification { method, params } => {
                let said = self
                    .pending
                    .say(parse_notification(&method, params.as_ref()));
                match said {
                    Some(ServerNotification::Change(change)) => self.unasked.say(change),
                    Some(ServerNotification::ElicitationComplete(id)) => {
                        self.unasked.say(Change::ElicitationComplete(id.into()));
                    }
                    _ => {}
                }
            }
            Message::Request { id, method, params } => self.asked(id, &method, params),
        }
    }

    /// A question of the server: for the one request under way, or for nobody.
    fn asked(&self, id: RequestId, method: &str, params: Option<RawJson>) {
        let params = params.unwrap_or_else(RawJson::empty_object);
        let answer = answer_without_client(&id, method);
        let heard = question_kind(method)
            .is_some_and(|kind| self.pending.ask(Heard::Question { id, kind, params }));
        if !heard {
            self.out.try_send(answer).ok();
        }
    }
}
