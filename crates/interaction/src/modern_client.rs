//! The adapter for modern clients of legacy servers. Such a server asks in the middle of a call, when
//! the client cannot be reached. The call is *parked*: its request ends with an `input_required`
//! result, and the client's continuation, with the answers, resumes the same call.
//!
//! Must not know: connections. A call is a stream of events, some of which are questions.

mod active_request;
mod parked_calls;
mod request_state;
mod url_required;

use std::sync::Arc;

use tidegate_core::{Call, EventStream, Result};
use tidegate_mcp::revision::multi_round_trip::parse_continuation;

use active_request::ActiveRequest;
use parked_calls::ParkableCall;

pub use parked_calls::ParkedCalls;

impl ParkedCalls {
    /// The events of a call for a modern client: a question parks the call and ends the
    /// request.
    pub fn adapt(self: &Arc<Self>, events: EventStream, call: &Call) -> EventStream {
        ActiveRequest::new(self, ParkableCall::new(events), call).into_events()
    }

    /// Resumes the parked call that this call continues. `None` if the call is new or has to be sent
    /// to the server again.
    pub fn resume(self: &Arc<Self>, call: &Call) -> Result<Option<EventStream>> {
        let input = parse_continuation(&call.params)?;
        let Some(token) = input.request_state else {
            return Ok(None);
        };
        let state = self.open_state(&token, &call.caller.principal)?;
        let Some(id) = state.parked_call(call)? else {
            return url_required::resume(&call.operation, &input.answers);
        };
        let mut parked = self.take(id, &input.answers)?;
        parked.answer(input.answers);
        Ok(Some(ActiveRequest::new(self, parked, call).into_events()))
    }
}
