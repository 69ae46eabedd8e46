//! What users were sent to do elsewhere. A server names each such errand, and later says that it is
//! done; its client knows it by a name of ours, so that no server can speak of another's.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Change, ChangeEvent, ChangeSender, Event, EventStream, Question, RawJson};
use tidegate_mcp::revision::client::rename_elicitation_ids;
use tidegate_mcp::revision::question::{elicitation_id, for_stateful_client};

use crate::session::Unasked;

/// Errands that are remembered.
const MOST: usize = 1_000;

/// The errands of one server's clients.
pub(crate) struct Elsewhere {
    /// The server's names, each with ours.
    names: Mutex<VecDeque<(String, String)>>,
    changes: ChangeSender,
}

impl Elsewhere {
    pub(crate) fn new(changes: ChangeSender) -> Arc<Self> {
        Arc::new(Self {
            names: Mutex::default(),
            changes,
        })
    }

    /// The same call, with errands under our names.
    pub(crate) fn rename(self: &Arc<Self>, events: EventStream) -> EventStream {
        let elsewhere = Arc::clone(self);
        let events = events.filter_map(move |event| {
            let event = match event {
                Ok(Event::Question(question)) => {
                    Some(Ok(Event::Question(elsewhere.question(question))))
                }
                Ok(Event::ElicitationComplete(theirs)) => elsewhere
                    .ours(&theirs)
                    .map(|ours| Ok(Event::ElicitationComplete(ours))),
                Err(error) => Some(Err(rename_elicitation_ids(error, |theirs| {
                    elsewhere.name(theirs)
                }))),
                event => Some(event),
            };
            std::future::ready(event)
        });
        events.boxed()
    }

    /// Tells of errands that are done, for as long as the link is open.
    pub(crate) fn hear(self: &Arc<Self>, mut unasked: Unasked) {
        let elsewhere = Arc::clone(self);
        tokio::spawn(async move {
            while let Some(news) = unasked.next().await {
                if let ChangeEvent::Change(Change::ElicitationComplete(theirs)) = news
                    && let Some(ours) = elsewhere.ours(&theirs)
                {
                    elsewhere
                        .changes
                        .send(Change::ElicitationComplete(ours.into()));
                }
            }
        });
    }

    fn question(&self, question: Question) -> Question {
        let Some(theirs) = elicitation_id(question.kind, &question.params) else {
            return question;
        };
        let (params, ours): (RawJson, _) = for_stateful_client(question.kind, &question.params);
        if let Some(ours) = ours {
            self.remember(theirs, ours);
        }
        question.with_params(params)
    }

    fn name(&self, theirs: &str) -> String {
        let ours = tidegate_mcp::revision::question::new_elicitation_id();
        self.remember(theirs.to_owned(), ours.clone());
        ours
    }

    fn remember(&self, theirs: String, ours: String) {
        let mut names = self.lock();
        if names.len() == MOST {
            names.pop_front();
        }
        names.push_back((theirs, ours));
    }

    fn ours(&self, theirs: &str) -> Option<String> {
        let names = self.lock();
        let (_, ours) = names.iter().rev().find(|(known, _)| known == theirs)?;
        Some(ours.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.names.lock()
    }
}
