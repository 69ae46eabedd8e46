//! Carries one call to a server and what it says back.

mod repair;
pub(crate) mod retry_once;
mod task;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tidegate_core::{
    Call, Error, Event, EventStream, Operation, Outcome, PendingAnswer, Question, Result,
    Withdrawal,
};
use tidegate_mcp::revision::client::{ServerNotification, parse_error, parse_outcome};
use tidegate_mcp::revision::question::encode_answer;
use tidegate_mcp::revision::tasks::declares_tasks;
use tidegate_mcp::{Era, RequestId, ResponseBody, Revision};
use tokio::time::timeout;

use crate::session::connect::Open;
use crate::session::{Heard, Talk};

/// How long a server may take to take the answer to its question.
const ANSWERING: Duration = Duration::from_secs(5);

/// Questions of one request that may still be withdrawn.
const MOST_ASKED: usize = 64;

/// What a talk means to the one who called. The link stays open until its end.
pub(crate) fn events(talk: Talk, open: &Arc<Open>, call: &Call) -> EventStream {
    let uri = match &call.operation {
        Operation::Resource { uri } => Some(uri.clone()),
        _ => None,
    };
    let tasks = open.facts.features.tasks && declares_tasks(&call.client.capabilities);
    let events = words(talk, open, uri, tasks);
    let events = repair::for_its_client(events, call, open.facts.revision.era());
    match (&call.operation, open.facts.revision.era()) {
        (Operation::Tool { .. }, Era::Legacy) => task::to_the_end(events, open),
        _ => events,
    }
}

/// The same, for one request of the call: of the reading of this URI, if it is one, and where `tasks`
/// says so of something that may go on after its answer.
pub(crate) fn words(talk: Talk, open: &Arc<Open>, uri: Option<String>, tasks: bool) -> EventStream {
    let (revision, open) = (open.facts.revision, Arc::clone(open));
    let mut asked = Asked::default();
    let events = talk.filter_map(move |heard| {
        let event = match heard {
            Ok(Heard::ServerNotification(ServerNotification::Cancelled(key))) => {
                asked.withdraw(&key).then_some(Ok(Event::QuestionWithdrawn))
            }
            Ok(Heard::ServerNotification(said)) => event(said).map(Ok),
            Ok(Heard::Question { id, kind, params }) => {
                let (question, pending) = Question::new(kind, params);
                let withdrawal = asked.note(&id, &pending);
                let link = Arc::clone(&open.link);
                open.unfinished.spawn(async move {
                    let answer = encode_answer(&id, pending.wait().await);
                    if !withdrawal.is_withdrawn() {
                        timeout(ANSWERING, link.notify(answer)).await.ok();
                    }
                });
                Some(Ok(Event::Question(question)))
            }
            Ok(Heard::Answer(answer)) => {
                Some(done(answer, revision, uri.as_deref(), tasks).map(Event::Done))
            }
            Ok(Heard::Refused(refusal)) => Some(Err(refusal.error())),
            Err(error) => Some(Err(error)),
        };
        std::future::ready(event)
    });
    events.boxed()
}

/// What a server has asked in one request, by its ids, oldest first.
#[derive(Default)]
struct Asked(VecDeque<(String, Withdrawal)>);

impl Asked {
    fn note(&mut self, id: &RequestId, pending: &PendingAnswer) -> Withdrawal {
        if self.0.len() == MOST_ASKED {
            self.0.pop_front();
        }
        let withdrawal = pending.withdrawal();
        self.0.push_back((id.key(), withdrawal.clone()));
        withdrawal
    }

    /// Whether this was asked here. It is not asked any more.
    fn withdraw(&mut self, key: &str) -> bool {
        let at = self.0.iter().position(|(known, _)| known == key);
        let asked = at.and_then(|at| self.0.remove(at));
        asked.is_some_and(|(_, withdrawal)| {
            withdrawal.withdraw();
            true
        })
    }
}

fn event(said: ServerNotification) -> Option<Event> {
    match said {
        ServerNotification::Progress { params, .. } => Some(Event::Progress(params)),
        ServerNotification::Log { level, params } => Some(Event::Log { level, params }),
        ServerNotification::ElicitationComplete(id) => Some(Event::ElicitationComplete(id)),
        ServerNotification::Change(_)
        | ServerNotification::Cancelled(_)
        | ServerNotification::Acknowledged { .. }
        | ServerNotification::Task { .. }
        | ServerNotification::Other => None,
    }
}

/// The end of a call; of a reading, if it was about a URI.
fn done(
    answer: ResponseBody,
    revision: Revision,
    uri: Option<&str>,
    tasks: bool,
) -> Result<Outcome, Error> {
    match answer {
        ResponseBody::Result(result) => parse_outcome(revision, &result, tasks),
        ResponseBody::Error(error) => Err(parse_error(uri, error)),
    }
}
