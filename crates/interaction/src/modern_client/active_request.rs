//! One request of a modern client, attached to its call until the call completes or is
//! parked.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    Call, Code, Error, Event, EventStream, Outcome, Principal, Question, RawJson, Result,
};
use tidegate_mcp::revision::multi_round_trip::encode_input_required;
use tidegate_mcp::revision::url_elicitation::url_elicitations;
use tokio::time::Instant;

use super::parked_calls::{ParkableCall, ParkedCalls};
use super::request_state::{RequestDigest, RequestState};
use super::url_required;
use crate::capabilities::capability_error;

/// How long to wait for further questions after the first, so that they reach the client together.
const GATHER_TIME: Duration = Duration::from_millis(10);

pub(super) struct ActiveRequest {
    parked_calls: Arc<ParkedCalls>,
    call: ParkableCall,
    /// When the call is parked, if it has open questions.
    park_at: Option<Instant>,
    principal: Principal,
    capabilities: RawJson,
    /// The request, for its digest: that is expensive, and needed only if the client must send it
    /// again.
    request: Call,
}

/// An event, and the request if more events follow.
type UnfoldedEvent = Option<(Result<Event>, Option<ActiveRequest>)>;

impl ActiveRequest {
    pub(super) fn new(
        parked_calls: &Arc<ParkedCalls>,
        parkable: ParkableCall,
        call: &Call,
    ) -> Self {
        Self {
            parked_calls: Arc::clone(parked_calls),
            park_at: (!parkable.questions.is_empty()).then(|| Instant::now() + GATHER_TIME),
            call: parkable,
            principal: call.caller.principal.clone(),
            capabilities: call.client.capabilities.clone(),
            request: call.clone(),
        }
    }

    pub(super) fn into_events(self) -> EventStream {
        stream::unfold(Some(self), |request| async { request?.next().await }).boxed()
    }

    async fn next(mut self) -> UnfoldedEvent {
        loop {
            let next = self.call.events.next();
            let event = match self.park_at {
                None => next.await,
                Some(park_at) => match tokio::time::timeout_at(park_at, next).await {
                    Ok(event) => event,
                    Err(_) => return self.park(),
                },
            };
            match event? {
                Ok(Event::Question(question)) => self.add_question(question),
                Ok(Event::QuestionWithdrawn) => {
                    let questions = &mut self.call.questions;
                    questions.retain(|_, question| !question.is_withdrawn());
                    self.park_at = self.park_at.filter(|_| !questions.is_empty());
                }
                Err(error) => return self.fail(error),
                done @ Ok(Event::Done(_)) => return Some((done, None)),
                event => return Some((event, Some(self))),
            }
        }
    }

    fn add_question(&mut self, question: Question) {
        match capability_error(&self.capabilities, question.kind, &question.params) {
            Some(declined) => question.answer(Err(declined)),
            None => {
                self.call.add_question(question);
                self.park_at.get_or_insert(Instant::now() + GATHER_TIME);
            }
        }
    }

    /// Parks the call and ends the request with its questions.
    fn park(self) -> UnfoldedEvent {
        let questions: Vec<_> = self
            .call
            .questions
            .iter()
            .map(|(key, question)| (key.clone(), question.kind, question.params.clone()))
            .collect();
        let digest = RequestDigest::of(&self.request);
        let token = self.parked_calls.park(self.call, &self.principal, digest);
        let Some(token) = token else {
            let message =
                "the source asked a question, but too many calls are parked already; retry later";
            return Some((Err(Error::client(Code::Declined, message)), None));
        };
        let questions = questions
            .iter()
            .map(|(key, kind, params)| (key.as_str(), *kind, params));
        let result = encode_input_required(questions, &token);
        Some((Ok(Event::Done(Outcome::InputRequired(result))), None))
    }

    /// Ends the request with an error; or with questions, if the call failed because the user must
    /// visit a URL first.
    fn fail(self, error: Error) -> UnfoldedEvent {
        let Some(elicitations) = url_elicitations(&error) else {
            return Some((Err(error), None));
        };
        let state = RequestState::UrlRequired(RequestDigest::of(&self.request));
        let token = self.parked_calls.seal_state(state, &self.principal);
        let result = url_required::ask(&elicitations, &self.capabilities, &token);
        Some((result.map(Event::Done), None))
    }
}
