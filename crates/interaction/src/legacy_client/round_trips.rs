//! Multi round trips on behalf of a legacy client: questions in an `input_required` result are sent
//! to the client on the stream of its call, and the request is continued with the answers until the
//! source completes it.
//!
//! Must not know: the wire. A question is an event, and a continuation is a request like the first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::StreamExt;
use tidegate_core::{
    Code, Error, ErrorOrigin, Event, EventStream, Gateway, Outcome, PendingAnswer, Question,
    QuestionKind, RawJson, Reply, Request, Result, unfold_events,
};
use tidegate_mcp::revision::multi_round_trip::{
    InputRequired, continuation_params, encode_outcome, parse_input_required,
};
use tidegate_mcp::revision::question::{
    cancelled_elicitation, is_url_elicitation, with_elicitation_id,
};

use crate::url_elicitation::generate_elicitation_id;

/// Round trips of one call. A source that needs more is assumed never to complete.
const MAX_ROUND_TRIPS: u32 = 10;

/// The delay before the first continuation without answers; it doubles with each round trip.
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// The events of a call, from its first request to its last continuation. `answer_timeout` limits how long
/// the client may take to answer the questions of one round trip.
pub fn run_round_trips(
    gateway: Arc<Gateway>,
    request: Request,
    answer_timeout: Duration,
) -> EventStream {
    let call = RoundTrips {
        gateway,
        request: request.continuation(request.params.clone()),
        state: RoundTripState::Send(Box::new(request)),
        count: 0,
        answer_timeout,
        url_elicitations: VecDeque::new(),
    };
    unfold_events(call, |mut call| async {
        let event = call.next().await;
        (event, call)
    })
}

/// One call in progress.
struct RoundTrips {
    gateway: Arc<Gateway>,
    /// The request as the client sent it.
    request: Request,
    state: RoundTripState,
    /// Round trips so far.
    count: u32,
    answer_timeout: Duration,
    /// Ids of the URL elicitations that the client was asked, to be announced as complete.
    url_elicitations: VecDeque<String>,
}

enum RoundTripState {
    Send(Box<Request>),
    Forward(EventStream),
    Ask(Questions),
    /// The call is done. Completed URL elicitations are announced first.
    Finish(Outcome),
    Ended,
}

/// The questions of one round trip.
struct Questions {
    unsent: VecDeque<Question>,
    sent: Vec<SentQuestion>,
    /// Returned to the source with the answers.
    request_state: Option<RawJson>,
}

struct SentQuestion {
    /// The key of the question in `inputRequests`.
    key: String,
    kind: QuestionKind,
    answer: PendingAnswer,
}

impl RoundTrips {
    async fn next(&mut self) -> Result<Event> {
        loop {
            self.state = match std::mem::replace(&mut self.state, RoundTripState::Ended) {
                RoundTripState::Send(request) => match self.gateway.handle(*request).await? {
                    Reply::Done(outcome) => self.after(outcome)?,
                    Reply::Stream(events) => RoundTripState::Forward(events),
                },
                RoundTripState::Forward(mut events) => match events.next().await {
                    Some(Ok(Event::Done(outcome))) => self.after(outcome)?,
                    Some(event) => {
                        self.state = RoundTripState::Forward(events);
                        return event;
                    }
                    None => RoundTripState::Ended,
                },
                RoundTripState::Ask(mut questions) => match questions.unsent.pop_front() {
                    Some(question) => {
                        self.state = RoundTripState::Ask(questions);
                        return Ok(Event::Question(question));
                    }
                    None => {
                        let timeout = self.answer_timeout;
                        let next =
                            continuation(&self.request, self.count, timeout, questions).await?;
                        RoundTripState::Send(Box::new(next))
                    }
                },
                RoundTripState::Finish(outcome) => match self.url_elicitations.pop_front() {
                    Some(id) => {
                        self.state = RoundTripState::Finish(outcome);
                        return Ok(Event::ElicitationComplete(id));
                    }
                    None => return Ok(Event::Done(outcome)),
                },
                RoundTripState::Ended => {
                    return Err(Error::internal(
                        "the source ended the call without a result",
                    ));
                }
            };
        }
    }

    /// The state after an outcome: the end, or questions.
    fn after(&mut self, outcome: Outcome) -> Result<RoundTripState> {
        let outcome = encode_outcome(outcome);
        let Outcome::InputRequired(result) = outcome else {
            return Ok(RoundTripState::Finish(outcome));
        };
        self.count += 1;
        if self.count > MAX_ROUND_TRIPS {
            return Err(source_failed(&format!(
                "the source still requires input after {MAX_ROUND_TRIPS} round trips"
            )));
        }
        let InputRequired {
            questions,
            request_state,
        } = parse_input_required(&result)
            .ok_or_else(|| source_failed("the source sent a malformed `input_required` result"))?;
        let mut round = Questions {
            unsent: VecDeque::new(),
            sent: Vec::new(),
            request_state,
        };
        for asked in questions {
            let mut params = asked.params;
            // Legacy clients expect an id on URL elicitations; modern servers do not send one.
            if is_url_elicitation(asked.kind, &params) {
                let id = generate_elicitation_id();
                params = with_elicitation_id(&params, &id);
                self.url_elicitations.push_back(id);
            }
            let (question, answer) = Question::new(asked.kind, params);
            round.unsent.push_back(question);
            round.sent.push(SentQuestion {
                key: asked.key,
                kind: asked.kind,
                answer,
            });
        }
        Ok(RoundTripState::Ask(round))
    }
}

/// The request with the client's answers, once all of them have arrived.
async fn continuation(
    request: &Request,
    round_trips: u32,
    answer_timeout: Duration,
    questions: Questions,
) -> Result<Request> {
    let Questions {
        sent,
        request_state,
        ..
    } = questions;
    if sent.is_empty() {
        tokio::time::sleep(FIRST_DELAY * 2_u32.pow(round_trips.min(8))).await;
    }
    let answers = join_all(sent.into_iter().map(answer));
    let answers = tokio::time::timeout(answer_timeout, answers).await;
    let answers = answers.map_err(|_| declined("the client did not answer in time"))?;
    let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
    let params = continuation_params(&request.params, &answers, request_state.as_ref());
    Ok(request.continuation(params))
}

/// The client's answer under the key of its question. An elicitation that the client declines is
/// answered as cancelled; the other kinds have no such answer, so the call fails.
async fn answer(question: SentQuestion) -> Result<(String, RawJson)> {
    let SentQuestion { key, kind, answer } = question;
    match (answer.wait().await, kind) {
        (Ok(answer), _) => Ok((key, answer)),
        (Err(_), QuestionKind::Elicit) => Ok((key, cancelled_elicitation())),
        (Err(error), QuestionKind::Sample | QuestionKind::Roots) => {
            Err(declined(&format!("the client declined: {}", error.message)))
        }
    }
}

fn declined(message: &str) -> Error {
    Error::client(Code::Declined, message)
}

fn source_failed(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}
