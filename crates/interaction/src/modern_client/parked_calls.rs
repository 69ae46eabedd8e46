//! The table of parked calls.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{
    Code, Declined, Error, EventStream, Principal, Question, QuestionKind, RawJson, Result, Seal,
};
use tidegate_mcp::codes;
use tidegate_mcp::revision::question::cancelled_elicitation;
use tokio::time::Instant;

use super::request_state::{ParkedCallId, RequestDigest, RequestState};
use crate::answers::check_input_response;

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
    call: ParkableCall,
    expires: Instant,
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

    /// Removes and returns a parked call if the answers are valid. Otherwise it stays parked, and
    /// the client can retry.
    pub(super) fn take(
        &self,
        id: ParkedCallId,
        answers: &[(String, RawJson)],
    ) -> Result<ParkableCall> {
        let mut by_id = self.lock();
        let parked = by_id.get(&id).ok_or_else(already_used)?;
        for (key, answer) in answers {
            if let Some(question) = parked.call.questions.get(key) {
                check_input_response(key, question.kind, answer)?;
            }
        }
        let parked = by_id.remove(&id).ok_or_else(already_used)?;
        Ok(parked.call)
    }

    /// Parks a call and returns its sealed state. `None` if the limit of parked calls is reached.
    pub(super) fn park(
        &self,
        call: ParkableCall,
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
        let id = ParkedCallId::generate();
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

    pub(super) fn seal_state(&self, state: RequestState, principal: &Principal) -> String {
        state.seal(&self.seal, principal, self.timeout)
    }

    pub(super) fn open_state(&self, token: &str, principal: &Principal) -> Result<RequestState> {
        RequestState::open(&self.seal, principal, token)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ParkedCallId, ParkedCall>> {
        self.by_id.lock()
    }
}

fn already_used() -> Error {
    Error::client(
        Code::InvalidParams,
        "`requestState` has been used, or its call has ended; send a new request",
    )
}

/// A call and its open questions, by their keys in `inputRequests`.
pub(super) struct ParkableCall {
    pub(super) events: EventStream,
    pub(super) questions: BTreeMap<String, Question>,
    /// Questions so far, answered ones included.
    question_count: usize,
}

impl ParkableCall {
    pub(super) fn new(events: EventStream) -> Self {
        Self {
            events,
            questions: BTreeMap::new(),
            question_count: 0,
        }
    }

    pub(super) fn add_question(&mut self, question: Question) {
        self.question_count += 1;
        let key = format!("k{}", self.question_count);
        self.questions.insert(key, question);
    }

    /// Answers open questions by their keys. Questions without an answer stay open.
    pub(super) fn answer(&mut self, answers: Vec<(String, RawJson)>) {
        for (key, answer) in answers {
            if let Some(question) = self.questions.remove(&key) {
                question.answer(Ok(answer));
            }
        }
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

#[cfg(test)]
mod tests {
    use futures_util::stream::{self, StreamExt};
    use tidegate_core::PendingAnswer;

    use super::*;

    fn parked_calls(timeout: Duration) -> Arc<ParkedCalls> {
        ParkedCalls::new(Arc::new(Seal::generate()), timeout)
    }

    fn asking(kind: QuestionKind) -> (ParkableCall, PendingAnswer) {
        let (question, pending) = Question::new(kind, RawJson::empty_object());
        let mut call = ParkableCall::new(stream::pending().boxed());
        call.add_question(question);
        (call, pending)
    }

    fn principal(name: &str) -> Principal {
        Principal::new(name)
    }

    /// Parks a call and returns its id.
    fn park(parked_calls: &ParkedCalls, call: ParkableCall) -> ParkedCallId {
        let ada = principal("ada");
        let token = parked_calls.park(call, &ada, RequestDigest::default());
        match parked_calls.open_state(&token.unwrap(), &ada) {
            Ok(RequestState::Parked(id, _)) => id,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_parked_call_is_taken_once() {
        let parked_calls = parked_calls(Duration::from_secs(60));
        let (call, pending) = asking(QuestionKind::Roots);
        let id = park(&parked_calls, call);
        let answer = RawJson::copy_of(r#"{"roots":[]}"#);
        let mut call = parked_calls.take(id, &[]).ok().unwrap();
        call.answer(vec![("k1".to_owned(), answer.clone())]);
        assert_eq!(pending.wait().await.unwrap(), answer);
        assert!(parked_calls.take(id, &[]).is_err());
    }

    #[tokio::test]
    async fn a_call_stays_parked_after_a_malformed_answer() {
        let parked_calls = parked_calls(Duration::from_secs(60));
        let (call, _pending) = asking(QuestionKind::Roots);
        let id = park(&parked_calls, call);
        let malformed = [("k1".to_owned(), RawJson::empty_object())];
        let error = parked_calls.take(id, &malformed).err().unwrap();
        assert!(error.message().contains("`roots` must be an array"));
        assert!(parked_calls.take(id, &[]).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn expired_calls_are_cancelled() {
        let parked_calls = parked_calls(Duration::from_secs(5));
        let (call, pending) = asking(QuestionKind::Elicit);
        park(&parked_calls, call);
        let answer = tokio::select! {
            answer = pending.wait() => answer,
            () = parked_calls.sweep() => unreachable!("sweep never returns"),
        };
        assert_eq!(answer.unwrap(), cancelled_elicitation());
        assert_eq!(parked_calls.count(), 0);
    }

    #[tokio::test]
    async fn limits_the_parked_calls_of_a_principal() {
        let parked_calls = parked_calls(Duration::from_secs(60));
        let park = |name| {
            let (call, _pending) = asking(QuestionKind::Roots);
            parked_calls.park(call, &principal(name), RequestDigest::default())
        };
        for _ in 0..MAX_PARKED_PER_PRINCIPAL {
            assert!(park("ada").is_some());
        }
        assert!(park("ada").is_none());
        assert!(park("bob").is_some());
    }
}
