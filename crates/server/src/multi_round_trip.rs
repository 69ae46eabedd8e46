//! A call of a client with a session, at a source that asks in its results: the client is asked on
//! the stream of its call, and the source is asked again with the answers, until it has enough.
//!
//! Knows no wire: a question is an event, and the next round is a request like the first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    Code, Error, ErrorOrigin, Event, EventStream, Gateway, Outcome, PendingAnswer, Question,
    QuestionKind, RawJson, Reply, Request, Result,
};
use tidegate_mcp::revision::multi_round_trip::{Round, next_round, round, worded};
use tidegate_mcp::revision::question::{cancelled, for_stateful_client};

/// A source that asks more often than this does not want an answer.
const MOST_ROUNDS: u32 = 10;

/// The wait before a source that only wants to be asked again is; each next is twice as long.
const AGAIN: Duration = Duration::from_millis(100);

/// All that happens in a call, from the first round to the last.
pub(crate) fn in_rounds(
    gateway: Arc<Gateway>,
    request: Request,
    patience: Duration,
) -> EventStream {
    let again = request.next_round(request.params.clone());
    let play = Play {
        gateway,
        request: again,
        now: Now::Operation(Box::new(request)),
        rounds: 0,
        patience,
        done_elsewhere: VecDeque::new(),
    };
    stream::unfold(Some(play), |play| async {
        let mut play = play?;
        let event = play.next().await;
        let ended = matches!(event, Ok(Event::Done(_)) | Err(_));
        Some((event, (!ended).then_some(play)))
    })
    .boxed()
}

/// One call under way.
struct Play {
    gateway: Arc<Gateway>,
    /// The call as the client made it.
    request: Request,
    now: Now,
    rounds: u32,
    /// How long the client may think about one round.
    patience: Duration,
    /// What the client was asked to do elsewhere, by the ids it was given.
    done_elsewhere: VecDeque<String>,
}

/// What comes next.
enum Now {
    Operation(Box<Request>),
    Hear(EventStream),
    Question(Asked),
    /// The call is over, but for what the client must hear first.
    End(Outcome),
    Over,
}

/// What the client is asked in one round.
struct Asked {
    /// Those that it has still to be sent.
    questions: VecDeque<Question>,
    waiting: Vec<Waiting>,
    /// What the source wants back.
    state: Option<RawJson>,
}

/// A question that is out.
struct Waiting {
    key: String,
    kind: QuestionKind,
    answer: PendingAnswer,
}

impl Play {
    async fn next(&mut self) -> Result<Event> {
        loop {
            self.now = match std::mem::replace(&mut self.now, Now::Over) {
                Now::Operation(request) => match self.gateway.handle(*request).await? {
                    Reply::Done(outcome) => self.after(outcome)?,
                    Reply::Stream(events) => Now::Hear(events),
                },
                Now::Hear(mut events) => match events.next().await {
                    Some(Ok(Event::Done(outcome))) => self.after(outcome)?,
                    Some(event) => {
                        self.now = Now::Hear(events);
                        return event;
                    }
                    None => Now::Over,
                },
                Now::Question(mut asked) => match asked.questions.pop_front() {
                    Some(question) => {
                        self.now = Now::Question(asked);
                        return Ok(Event::Question(question));
                    }
                    None => {
                        let request =
                            next_request(&self.request, self.rounds, self.patience, asked).await?;
                        Now::Operation(Box::new(request))
                    }
                },
                Now::End(outcome) => match self.done_elsewhere.pop_front() {
                    Some(id) => {
                        self.now = Now::End(outcome);
                        return Ok(Event::ElicitationComplete(id));
                    }
                    None => return Ok(Event::Done(outcome)),
                },
                Now::Over => return Err(Error::internal("the source ended without an answer")),
            };
        }
    }

    /// What follows a round: the end, or questions.
    fn after(&mut self, outcome: Outcome) -> Result<Now> {
        let outcome = worded(outcome);
        let Outcome::InputRequired(result) = outcome else {
            return Ok(Now::End(outcome));
        };
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            return Err(source_fault("the source asks again and again"));
        }
        let Round { questions, state } = round(&result)
            .ok_or_else(|| source_fault("the source asks for something that cannot be asked"))?;
        let mut asked = Asked {
            questions: VecDeque::new(),
            waiting: Vec::new(),
            state,
        };
        for (key, kind, params) in questions {
            let (params, elsewhere) = for_stateful_client(kind, &params);
            self.done_elsewhere.extend(elsewhere);
            let (question, answer) = Question::new(kind, params);
            asked.questions.push_back(question);
            asked.waiting.push(Waiting { key, kind, answer });
        }
        Ok(Now::Question(asked))
    }
}

/// The next round of a call, once the client has answered all there is to answer.
async fn next_request(
    request: &Request,
    rounds: u32,
    patience: Duration,
    asked: Asked,
) -> Result<Request> {
    let Asked { waiting, state, .. } = asked;
    if waiting.is_empty() {
        tokio::time::sleep(AGAIN * 2_u32.pow(rounds.min(8))).await;
    }
    let answers = join_all(waiting.into_iter().map(answered));
    let answers = tokio::time::timeout(patience, answers).await;
    let answers = answers.map_err(|_| declined("the client did not answer in time"))?;
    let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
    let params = next_round(&request.params, &answers, state.as_ref());
    Ok(request.next_round(params))
}

/// An answer under its key. A client can refuse the user's input in so many words; of the rest there
/// is no way to tell a source that it was refused.
async fn answered(waiting: Waiting) -> Result<(String, RawJson)> {
    let Waiting { key, kind, answer } = waiting;
    match (answer.wait().await, kind) {
        (Ok(answer), _) => Ok((key, answer)),
        (Err(_), QuestionKind::Elicit) => Ok((key, cancelled())),
        (Err(refused), QuestionKind::Sample | QuestionKind::Roots) => Err(declined(&format!(
            "the client refused: {}",
            refused.message
        ))),
    }
}

fn declined(message: &str) -> Error {
    Error::client(Code::Declined, message)
}

fn source_fault(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}
