//! Turns the messages of a server for one request into events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tidegate_core::{Event, EventStream, Outcome, PendingAnswer, Question, Result, Withdrawal};
use tidegate_mcp::revision::client::{
    ExpectedResult, ServerNotification, parse_error, parse_outcome,
};
use tidegate_mcp::revision::question::encode_answer;
use tidegate_mcp::{RequestId, ResponseBody, Revision};
use tokio::time::timeout;

use crate::session::{Connection, ResponseStream, ServerMessage};

/// How long a server may take to accept the answer to its question.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Questions of one request that may still be withdrawn.
const MAX_OPEN_QUESTIONS: usize = 64;

/// The events of one request of a call. `uri` is the resource it reads, if it reads one;
/// `expected` is what its result may be.
pub(super) fn request_events(
    messages: ResponseStream,
    connection: &Arc<Connection>,
    uri: Option<String>,
    expected: ExpectedResult,
) -> EventStream {
    let (revision, connection) = (connection.facts.revision, Arc::clone(connection));
    let mut questions = RequestQuestions::default();
    let events = messages.filter_map(move |message| {
        let event = match message {
            Ok(ServerMessage::Notification(ServerNotification::Cancelled(key))) => {
                let is_known = questions.withdraw(&key);
                is_known.then_some(Ok(Event::QuestionWithdrawn))
            }
            Ok(ServerMessage::Notification(notification)) => notification_event(notification),
            Ok(ServerMessage::Question { id, kind, params }) => {
                let (question, pending) = Question::new(kind, params);
                let withdrawal = questions.add(&id, &pending);
                let channel = Arc::clone(&connection.channel);
                connection.background_tasks.spawn(async move {
                    let answer = encode_answer(&id, pending.wait().await);
                    if !withdrawal.is_withdrawn() {
                        timeout(ANSWER_TIMEOUT, channel.send(answer, Vec::new()))
                            .await
                            .ok();
                    }
                });
                Some(Ok(Event::Question(question)))
            }
            Ok(ServerMessage::Response(response)) => {
                let outcome = response_outcome(response, revision, uri.as_deref(), expected);
                Some(outcome.map(Event::Done))
            }
            Ok(ServerMessage::Refused(refusal)) => Some(Err(refusal.error())),
            Err(error) => Some(Err(error)),
        };
        std::future::ready(event)
    });
    events.boxed()
}

/// The open questions of one request, by the server's ids, oldest first.
#[derive(Default)]
struct RequestQuestions(VecDeque<(String, Withdrawal)>);

impl RequestQuestions {
    fn add(&mut self, id: &RequestId, pending: &PendingAnswer) -> Withdrawal {
        if self.0.len() == MAX_OPEN_QUESTIONS {
            self.0.pop_front();
        }
        let withdrawal = pending.withdrawal();
        self.0.push_back((id.key(), withdrawal.clone()));
        withdrawal
    }

    /// Withdraws a question. False if it is not a question of this request.
    fn withdraw(&mut self, key: &str) -> bool {
        let position = self.0.iter().position(|(known, _)| known == key);
        let question = position.and_then(|position| self.0.remove(position));
        question.is_some_and(|(_, withdrawal)| {
            withdrawal.withdraw();
            true
        })
    }
}

fn notification_event(notification: ServerNotification) -> Option<Result<Event>> {
    match notification {
        ServerNotification::Progress { params, .. } => Some(Ok(Event::Progress(params))),
        ServerNotification::Log { level, params } => Some(Ok(Event::Log { level, params })),
        ServerNotification::ElicitationComplete(id) => Some(Ok(Event::ElicitationComplete(id))),
        ServerNotification::Extension { method, params, .. } => {
            Some(Ok(Event::Extension { method, params }))
        }
        ServerNotification::Change(_)
        | ServerNotification::Cancelled(_)
        | ServerNotification::Acknowledged { .. }
        | ServerNotification::Task { .. }
        | ServerNotification::Other => None,
    }
}

fn response_outcome(
    response: ResponseBody,
    revision: Revision,
    uri: Option<&str>,
    expected: ExpectedResult,
) -> Result<Outcome> {
    match response {
        ResponseBody::Result(result) => parse_outcome(revision, &result, expected),
        ResponseBody::Error(error) => Err(parse_error(uri, error)),
    }
}
