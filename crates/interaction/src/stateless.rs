//! The adapter for clients without sessions at servers with sessions. Such a server asks in the
//! middle of a call, when the client cannot be reached. The call is *parked*: its request ends with
//! an `input_required` result, and the client's retry, with the answers, resumes the same call.
//!
//! Must not know: connections. A call is a stream of events, some of which are questions.

mod active_request;
mod request_state;
mod url_required;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{
    Call, Code, Declined, Error, EventStream, Principal, Question, QuestionKind, RawJson, Result,
    Seal, truncate_for_message,
};
use tidegate_mcp::codes;
use tidegate_mcp::revision::multi_round_trip::retry_input;
use tidegate_mcp::revision::question::cancelled_elicitation;
use tokio::time::Instant;

use crate::answers;
use active_request::ActiveRequest;
use request_state::{ParkedCallId, RequestDigest, RequestState};

/// Parked calls of all clients, and of one principal.
const MAX_PARKED: usize = 1_000;
const MAX_PARKED_PER_PRINCIPAL: usize = 100;

/// How often expired calls are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The parked calls of one source.
pub struct ParkedCalls {
    seal: Arc<Seal>,
    timeout: Duration,
    by_id: Mutex<HashMap<ParkedCallId, ParkedCall>>,
}

struct ParkedCall {
    principal: Principal,
    call: SuspendableCall,
    expires: Instant,
}

/// A call and its open questions, by their keys in `inputRequests`.
struct SuspendableCall {
    events: EventStream,
    questions: BTreeMap<String, Question>,
    /// Questions so far, answered ones included.
    question_count: usize,
}

impl ParkedCalls {
    /// A call that is not resumed within `timeout` is cancelled.
    pub fn new(seal: Arc<Seal>, timeout: Duration) -> Arc<Self> {
        Arc::new(Self {
            seal,
            timeout,
            by_id: Mutex::default(),
        })
    }

    /// The number of parked calls.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// The events of a call for a client without a session: a question parks the call and ends the
    /// request.
    pub fn adapt(self: &Arc<Self>, events: EventStream, call: &Call) -> EventStream {
        let suspendable = SuspendableCall {
            events,
            questions: BTreeMap::new(),
            question_count: 0,
        };
        ActiveRequest::new(self, suspendable, call).into_events()
    }

    /// Resumes the parked call that this call is a retry of. `None` if there is none, because the
    /// call is new or has to be sent to the server again.
    pub fn resume(self: &Arc<Self>, call: &Call) -> Result<Option<EventStream>> {
        let input = retry_input(&call.params)?;
        let Some(token) = input.request_state else {
            return Ok(None);
        };
        let state = RequestState::open(&self.seal, &call.caller.principal, &token)?;
        let Some(id) = state.parked_call(call)? else {
            return url_required::resume(&call.operation, &input.answers);
        };
        let mut parked = self.take(id, &input.answers)?;
        for (key, answer) in input.answers {
            if let Some(question) = parked.questions.remove(&key) {
                question.answer(Ok(answer));
            }
        }
        Ok(Some(ActiveRequest::new(self, parked, call).into_events()))
    }

    /// Removes expired calls; never returns.
    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            let now = Instant::now();
            self.cancel_where(|parked| parked.expires <= now);
        }
    }

    /// Cancels all parked calls.
    pub fn cancel_all(&self) {
        self.cancel_where(|_| true);
    }

    fn cancel_where(&self, is_over: impl Fn(&ParkedCall) -> bool) {
        let cancelled: Vec<_> = self
            .lock()
            .extract_if(|_, parked| is_over(parked))
            .collect();
        for (_, parked) in cancelled {
            parked.call.cancel();
        }
    }

    /// Takes a parked call out if the answers are valid. Otherwise it stays parked, and the client
    /// can retry.
    fn take(&self, id: ParkedCallId, answers: &[(String, RawJson)]) -> Result<SuspendableCall> {
        let mut by_id = self.lock();
        let already_used = || {
            invalid_params(
                "`requestState` has been used, or its call has ended; send a new request",
            )
        };
        let parked = by_id.get(&id).ok_or_else(already_used)?;
        for (key, answer) in answers {
            if let Some(question) = parked.call.questions.get(key) {
                validate_answer(key, question.kind, answer)?;
            }
        }
        let parked = by_id.remove(&id).ok_or_else(already_used)?;
        Ok(parked.call)
    }

    /// Parks a call and returns its sealed state. `None` if the limit of parked calls is reached.
    fn park(
        &self,
        call: SuspendableCall,
        principal: &Principal,
        digest: RequestDigest,
    ) -> Option<String> {
        let mut by_id = self.lock();
        let of_principal = by_id
            .values()
            .filter(|parked| parked.principal == *principal)
            .count();
        if by_id.len() >= MAX_PARKED || of_principal >= MAX_PARKED_PER_PRINCIPAL {
            return None;
        }
        let id = ParkedCallId::random();
        by_id.insert(
            id,
            ParkedCall {
                principal: principal.clone(),
                call,
                expires: Instant::now() + self.timeout,
            },
        );
        Some(self.seal_state(RequestState::Parked(id, digest), principal))
    }

    fn seal_state(&self, state: RequestState, principal: &Principal) -> String {
        state.seal(&self.seal, principal, self.timeout)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ParkedCallId, ParkedCall>> {
        self.by_id.lock()
    }
}

impl SuspendableCall {
    fn add_question(&mut self, question: Question) {
        self.question_count += 1;
        let key = format!("k{}", self.question_count);
        self.questions.insert(key, question);
    }

    /// Declines the open questions. Dropping the events cancels the call at the server.
    fn cancel(self) {
        for question in self.questions.into_values() {
            let answer = match question.kind {
                QuestionKind::Elicit => Ok(cancelled_elicitation()),
                QuestionKind::Sample => Err(timed_out(codes::USER_REJECTED)),
                QuestionKind::Roots => Err(timed_out(codes::of(Code::Internal).legacy)),
            };
            question.answer(answer);
        }
    }
}

fn timed_out(code: i64) -> Declined {
    Declined {
        code: Some(code),
        message: "the client did not answer in time".to_owned(),
    }
}

fn validate_answer(key: &str, kind: QuestionKind, answer: &RawJson) -> Result<()> {
    answers::validate(kind, answer).map_err(|reason| {
        let key = truncate_for_message(key);
        invalid_params(&format!(
            "`inputResponses`: answer `{key}` is malformed: {reason}"
        ))
    })
}

fn invalid_params(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
