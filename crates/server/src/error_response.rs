//! Error responses to messages that are rejected before they become calls.

use tidegate_core::{CorrelationId, Error, Step};
use tidegate_mcp::revision::error_response;
use tidegate_mcp::{Era, OutgoingMessage, Rejection, RequestId};

use crate::Admission;

/// The response to a rejected message.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) era: Era,
    pub(crate) id: Option<RequestId>,
    pub(crate) error: Error,
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        Self::from((None, error))
    }
}

/// While the era of a message is unknown, its response uses the modern era.
impl From<Rejection> for ErrorResponse {
    fn from((id, error): Rejection) -> Self {
        Self {
            era: Era::Modern,
            id,
            error,
        }
    }
}

impl ErrorResponse {
    pub(crate) fn legacy((id, error): Rejection) -> Self {
        Self {
            era: Era::Legacy,
            id,
            error,
        }
    }

    /// Sets the request id, unless it is already set.
    pub(crate) fn with_id(mut self, id: Option<RequestId>) -> Self {
        self.id = self.id.or(id);
        self
    }

    /// Logs and counts the rejection, and encodes the response. Rejected messages never reach the
    /// layer that observes calls.
    pub(crate) fn to_message(&self, admission: &Admission) -> OutgoingMessage {
        let correlation_id = CorrelationId::generate();
        record_rejection(admission, correlation_id, &self.error);
        error_response(self.era, self.id.as_ref(), &self.error, correlation_id)
    }
}

/// Logs and counts a message that was rejected before it became a call.
pub(crate) fn record_rejection(
    admission: &Admission,
    correlation_id: CorrelationId,
    error: &Error,
) {
    // An error without a step concerns the content of the message.
    let step = error.step().unwrap_or(Step::Lift);
    admission.record_rejection(step, error.code());
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let (code, error) = (error.code(), error.message());
    tracing::info!(%correlation_id, ?code, error, cause, "message rejected");
}
