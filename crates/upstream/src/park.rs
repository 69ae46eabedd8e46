//! Calls that wait for their client. A server with sessions asks in the middle of a call; a client
//! without them is answered with the question, and its next request goes on with the same call.
//!
//! Knows no link: a call is what happens in it, and a question can be answered.

mod answers;
mod state;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{
    Call, Code, Declined, Error, Event, EventStream, Outcome, Principal, Question, QuestionKind,
    RawJson, Result, Seal,
};
use tidegate_mcp::codes;
use tidegate_mcp::revision::client::url_elicitations;
use tidegate_mcp::revision::client_capabilities::capability_error;
use tidegate_mcp::revision::multi_round_trip::{RoundInput, input_required};
use tidegate_mcp::revision::question::cancelled;
use tokio::time::Instant;

use answers::{Elsewhere, declined, sent_elsewhere};
use state::{Digest, ParkId, State};

/// How long further questions are waited for once there is one.
const GATHER: Duration = Duration::from_millis(10);

/// Calls that may wait, of all clients and of one principal.
const MOST: usize = 1_000;
const MOST_OF_ONE: usize = 100;

/// How often it is looked whether someone has waited too long.
const LOOK: Duration = Duration::from_secs(1);

/// The calls that wait.
pub(crate) struct Lot {
    seal: Arc<Seal>,
    cache_lifetime: Duration,
    parked: Mutex<HashMap<ParkId, Parked>>,
}

/// One call that waits.
struct Parked {
    principal: Principal,
    call: Waiting,
    until: Instant,
}

/// A call with its questions, by the keys the client knows them by.
struct Waiting {
    events: EventStream,
    questions: BTreeMap<String, Question>,
    /// How many questions there were in all.
    asked: usize,
}

impl Lot {
    pub(crate) fn new(seal: Arc<Seal>, cache_lifetime: Duration) -> Arc<Self> {
        Arc::new(Self {
            seal,
            cache_lifetime,
            parked: Mutex::default(),
        })
    }

    /// How many calls wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// The same call for a client without a session: a question ends its request.
    pub(crate) fn watch(self: &Arc<Self>, events: EventStream, call: &Call) -> EventStream {
        let waiting = Waiting {
            events,
            questions: BTreeMap::new(),
            asked: 0,
        };
        self.go_on(waiting, call)
    }

    /// Goes on with a call that waits, with what the client brings; none if the call is to be made
    /// as if for the first time.
    pub(crate) fn resume(
        self: &Arc<Self>,
        call: &Call,
        brought: RoundInput,
    ) -> Result<Option<EventStream>> {
        let Some(token) = brought.state else {
            return Ok(None);
        };
        let state = State::open(&self.seal, &call.caller.principal, &token)?;
        let Some(id) = state.belongs_to(call)? else {
            return Ok(match sent_elsewhere(&brought.answers)? {
                Elsewhere::Went => None,
                Elsewhere::Declined => Some(declined(&call.operation)),
            });
        };
        let mut waiting = self.take(id, &brought.answers)?;
        for (key, answer) in brought.answers {
            if let Some(question) = waiting.questions.remove(&key) {
                question.answer(Ok(answer));
            }
        }
        Ok(Some(self.go_on(waiting, call)))
    }

    /// Takes a call that waits, if these can be the answers to its questions. Else it waits on.
    fn take(&self, id: ParkId, answers: &[(String, RawJson)]) -> Result<Waiting> {
        let mut parked = self.lock();
        let one = parked.get(&id).ok_or_else(|| {
            invalid("the request state has been used, or its call is over; start again")
        })?;
        for (key, answer) in answers {
            if let Some(question) = one.call.questions.get(key) {
                answers::check(key, question.kind, answer)?;
            }
        }
        let taken = parked.remove(&id).map(|parked| parked.call);
        taken.ok_or_else(|| invalid("the call is over; start again"))
    }

    fn go_on(self: &Arc<Self>, waiting: Waiting, call: &Call) -> EventStream {
        let round = Round {
            lot: Arc::clone(self),
            ready: (!waiting.questions.is_empty()).then(|| Instant::now() + GATHER),
            waiting,
            principal: call.caller.principal.clone(),
            capabilities: call.client.capabilities.clone(),
            digest: Digest::of(call),
        };
        stream::unfold(Some(round), |round| async { round?.next().await }).boxed()
    }

    /// Puts a call aside; gives what its client must bring back. None if there is no room.
    fn park(&self, waiting: Waiting, principal: &Principal, digest: Digest) -> Option<String> {
        let mut parked = self.lock();
        let of_one = parked
            .values()
            .filter(|one| one.principal == *principal)
            .count();
        if parked.len() >= MOST || of_one >= MOST_OF_ONE {
            return None;
        }
        let id = ParkId::fresh();
        let token = State::Parked(id, digest).seal(&self.seal, principal, self.cache_lifetime);
        parked.insert(
            id,
            Parked {
                principal: principal.clone(),
                call: waiting,
                until: Instant::now() + self.cache_lifetime,
            },
        );
        Some(token)
    }

    /// Ends what has waited too long, for as long as it is polled.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let now = Instant::now();
            self.end(|parked| parked.until <= now);
        }
    }

    /// Ends all: nobody can come back.
    pub(crate) fn end_all(&self) {
        self.end(|_| true);
    }

    fn end(&self, is_over: impl Fn(&Parked) -> bool) {
        let over: Vec<_> = self
            .lock()
            .extract_if(|_, parked| is_over(parked))
            .collect();
        for (_, parked) in over {
            parked.call.give_up();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ParkId, Parked>> {
        self.parked.lock()
    }
}

impl Waiting {
    /// Takes a question; gives nothing back if the client can be asked it.
    fn ask(&mut self, question: Question) {
        self.asked += 1;
        self.questions.insert(format!("k{}", self.asked), question);
    }

    /// The server hears that nobody will answer, and that nobody waits for the call.
    fn give_up(self) {
        for question in self.questions.into_values() {
            let answer = match question.kind {
                QuestionKind::Elicit => Ok(cancelled()),
                QuestionKind::Sample => Err(unanswered(codes::REFUSED_BY_USER)),
                QuestionKind::Roots => Err(unanswered(codes::of(Code::Internal).legacy)),
            };
            question.answer(answer);
        }
    }
}

fn unanswered(code: i64) -> Declined {
    Declined {
        code: Some(code),
        message: "the client did not answer in time".to_owned(),
    }
}

/// One request of a client without a session.
struct Round {
    lot: Arc<Lot>,
    waiting: Waiting,
    /// When the client is told what is asked.
    ready: Option<Instant>,
    principal: Principal,
    capabilities: RawJson,
    digest: Digest,
}

type Next = Option<(Result<Event>, Option<Round>)>;

impl Round {
    async fn next(mut self) -> Next {
        loop {
            let next = self.waiting.events.next();
            let event = match self.ready {
                None => next.await,
                Some(ready) => match tokio::time::timeout_at(ready, next).await {
                    Ok(event) => event,
                    Err(_) => return self.ask(),
                },
            };
            match event? {
                Ok(Event::Question(question)) => {
                    match capability_error(&self.capabilities, question.kind, &question.params) {
                        Some(declined) => question.answer(Err(declined)),
                        None => {
                            self.waiting.ask(question);
                            self.ready.get_or_insert(Instant::now() + GATHER);
                        }
                    }
                }
                Ok(Event::QuestionWithdrawn) => {
                    let questions = &mut self.waiting.questions;
                    questions.retain(|_, question| !question.is_withdrawn());
                    self.ready = self.ready.filter(|_| !questions.is_empty());
                }
                Err(error) => return self.failed(error),
                done @ Ok(Event::Done(_)) => return Some((done, None)),
                event => return Some((event, Some(self))),
            }
        }
    }

    /// Ends the request with the questions; without room for them, as if nobody could be asked.
    fn ask(mut self) -> Next {
        let questions = &self.waiting.questions;
        let asked: Vec<_> = questions
            .iter()
            .map(|(key, question)| (key.clone(), question.kind, question.params.clone()))
            .collect();
        let rest = Waiting {
            events: stream::empty().boxed(),
            questions: BTreeMap::new(),
            asked: 0,
        };
        let waiting = std::mem::replace(&mut self.waiting, rest);
        let Some(token) = self.lot.park(waiting, &self.principal, self.digest) else {
            let error = Error::client(
                Code::Declined,
                "the source asks something, and too many calls wait for an answer already",
            );
            return Some((Err(error), None));
        };
        let asked = asked
            .iter()
            .map(|(key, kind, params)| (key.as_str(), *kind, params));
        let result = input_required(asked, &token);
        Some((Ok(Event::Done(Outcome::InputRequired(result))), None))
    }

    /// A server may fail a call because the user must go elsewhere first. That is a question too.
    fn failed(self, error: Error) -> Next {
        let Some(questions) = url_elicitations(&error) else {
            return Some((Err(error), None));
        };
        let cannot = |params| capability_error(&self.capabilities, QuestionKind::Elicit, params);
        if questions.iter().any(|params| cannot(params).is_some()) {
            return Some((Err(needs_url()), None));
        }
        let state = State::Again(self.digest);
        let token = state.seal(&self.lot.seal, &self.principal, self.lot.cache_lifetime);
        let keys: Vec<_> = (1..=questions.len())
            .map(|number| format!("k{number}"))
            .collect();
        let asked = std::iter::zip(&keys, &questions)
            .map(|(key, params)| (key.as_str(), QuestionKind::Elicit, params));
        let result = input_required(asked, &token);
        Some((Ok(Event::Done(Outcome::InputRequired(result))), None))
    }
}

fn needs_url() -> Error {
    let needed = r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#;
    Error::client(
        Code::MissingCapability,
        "the source must send the user to a page first, which this client cannot do",
    )
    .with_data(RawJson::copy_of(needed))
}

fn invalid(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
