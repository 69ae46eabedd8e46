//! Hears what a server says where all its words come one way, and hands each to whom it is for.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::RawJson;
use tidegate_mcp::revision::client::{Said, said, unasked_answer};
use tidegate_mcp::revision::question::question_kind;
use tidegate_mcp::{Inbound, Limits, Message, RequestId, decode};
use tokio::sync::mpsc;

use super::Heard;
use super::pending::Pending;

/// How deep a message of a server may nest, and how many one batch may hold.
const LIMITS: Limits = Limits {
    depth: 128,
    batch: 1024,
};

/// One server's words.
pub(crate) struct Ear {
    pub(crate) name: String,
    pub(crate) pending: Arc<Pending>,
    /// Where our own words go out.
    pub(crate) out: mpsc::Sender<String>,
    pub(crate) unasked: mpsc::Sender<Said>,
}

impl Ear {
    /// Takes one message, or a batch of them.
    pub(crate) async fn take(&self, text: Bytes) {
        match decode(text, LIMITS) {
            Ok(Inbound::One(message)) => self.hear(message).await,
            Ok(Inbound::Batch(messages)) => {
                for message in messages.into_iter().flatten() {
                    self.hear(message).await;
                }
            }
            Err((_, error)) => {
                let (source, error) = (&self.name, error.message());
                tracing::warn!(
                    source,
                    error,
                    "the source said something that is no message"
                );
            }
        }
    }

    async fn hear(&self, message: Message) {
        match message {
            Message::Response { id, answer } => {
                if !self.pending.answer(&id, answer).await {
                    tracing::debug!(source = self.name, "an answer that nobody waits for");
                }
            }
            Message::Notification { method, params } => {
                if let Some(said) = self.pending.say(said(&method, params.as_ref())) {
                    self.unasked.try_send(said).ok();
                }
            }
            Message::Request { id, method, params } => self.asked(id, &method, params),
        }
    }

    /// A question of the server: for the one request under way, or for nobody.
    fn asked(&self, id: RequestId, method: &str, params: Option<RawJson>) {
        let params = params.unwrap_or_else(RawJson::empty_object);
        let answer = unasked_answer(&id, method);
        let unheard = match question_kind(method) {
            Some(kind) => self
                .pending
                .ask(Heard::Question { id, kind, params })
                .is_some(),
            None => true,
        };
        if unheard {
            self.out.try_send(answer).ok();
        }
    }
}
