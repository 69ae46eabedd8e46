//! A message that was not taken, and why.

use tidegate_core::{CorrelationId, Error, Step};
use tidegate_mcp::revision::error_response;
use tidegate_mcp::{Era, OutgoingMessage, Rejection, RequestId};

use crate::Admission;

/// A message that was not taken.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) era: Era,
    pub(crate) id: Option<RequestId>,
    pub(crate) error: Error,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::from((None, error))
    }
}

/// Before the era of a message is known, it is answered as the newest.
impl From<Rejection> for Refusal {
    fn from((id, error): Rejection) -> Self {
        Self {
            era: Era::Modern,
            id,
            error,
        }
    }
}

impl Refusal {
    /// Answers under this id, unless it has one already.
    pub(crate) fn answering(mut self, id: Option<RequestId>) -> Self {
        self.id = self.id.or(id);
        self
    }

    pub(crate) fn legacy((id, error): Rejection) -> Self {
        Self {
            era: Era::Legacy,
            id,
            error,
        }
    }

    /// The refusal as a message. Logged and counted here, once: it never reached the layer that does
    /// so for calls.
    pub(crate) fn to_message(&self, admission: &Admission) -> OutgoingMessage {
        let correlation = CorrelationId::fresh();
        note_refusal(admission, correlation, &self.error);
        error_response(self.era, self.id.as_ref(), &self.error, correlation)
    }
}

/// Logs and counts what was refused before a call was made of it.
pub(crate) fn note_refusal(admission: &Admission, correlation: CorrelationId, error: &Error) {
    // What no other step has claimed concerns the message itself.
    let step = error.step().unwrap_or(Step::Lift);
    admission.refused(step, error.code());
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let (code, error) = (error.code(), error.message());
    tracing::info!(%correlation, ?code, error, cause, "message refused");
}
