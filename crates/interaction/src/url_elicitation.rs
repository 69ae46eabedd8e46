//! URL elicitations: the server sends the user to a page and later announces, by the id of the
//! elicitation, that the user is done there.
//!
//! Clients see our ids instead of the server's, so no server can announce the completion of
//! another server's elicitation, and a completion reaches only the client that was asked.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Change, ChangeSender, Event, EventStream, Question, random_bytes};
use tidegate_mcp::revision::question::{elicitation_id, with_elicitation_id};
use tidegate_mcp::revision::url_elicitation::rename_elicitation_ids;

/// Ids that are remembered for one server.
const MAX_ELICITATION_IDS: usize = 1_000;

/// The URL elicitations of one server.
pub struct UrlElicitations {
    ids: Mutex<VecDeque<IdPair>>,
    changes: ChangeSender,
}

struct IdPair {
    server_id: String,
    client_id: String,
}

impl UrlElicitations {
    pub fn new(changes: ChangeSender) -> Arc<Self> {
        Arc::new(Self {
            ids: Mutex::default(),
            changes,
        })
    }

    /// The same events with our ids in questions, completions and errors. A completion of an
    /// elicitation that no client was asked is dropped.
    pub fn translate(self: &Arc<Self>, events: EventStream) -> EventStream {
        let elicitations = Arc::clone(self);
        let events = events.filter_map(move |event| {
            let event = match event {
                Ok(Event::Question(question)) => Some(Ok(Event::Question(
                    elicitations.translate_question(question),
                ))),
                Ok(Event::ElicitationComplete(server_id)) => elicitations
                    .client_id(&server_id)
                    .map(|client_id| Ok(Event::ElicitationComplete(client_id))),
                Err(error) => Some(Err(rename_elicitation_ids(error, |server_id| {
                    elicitations.assign_client_id(server_id)
                }))),
                event => Some(event),
            };
            std::future::ready(event)
        });
        events.boxed()
    }

    /// Announces a completion that the server sent outside of any call.
    pub fn complete(&self, server_id: &str) {
        if let Some(client_id) = self.client_id(server_id) {
            self.changes
                .send(Change::ElicitationComplete(client_id.into()));
        }
    }

    fn translate_question(&self, question: Question) -> Question {
        let Some(server_id) = elicitation_id(question.kind, &question.params) else {
            return question;
        };
        let client_id = self.assign_client_id(&server_id);
        let params = with_elicitation_id(&question.params, &client_id);
        question.with_params(params)
    }

    fn assign_client_id(&self, server_id: &str) -> String {
        let client_id = generate_elicitation_id();
        let mut ids = self.lock();
        if ids.len() == MAX_ELICITATION_IDS {
            ids.pop_front();
        }
        ids.push_back(IdPair {
            server_id: server_id.to_owned(),
            client_id: client_id.clone(),
        });
        client_id
    }

    /// The client's most recent id for an id of the server.
    fn client_id(&self, server_id: &str) -> Option<String> {
        let ids = self.lock();
        let pair = ids.iter().rev().find(|pair| pair.server_id == server_id)?;
        Some(pair.client_id.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<IdPair>> {
        self.ids.lock()
    }
}

/// A new random elicitation id.
pub(crate) fn generate_elicitation_id() -> String {
    let bytes: [u8; 16] = random_bytes();
    let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("tidegate-{}", hex.collect::<String>())
}
