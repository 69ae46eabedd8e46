//! A message that was not taken, and why.

use tidegate_core::{CorrelationId, Error};
use tidegate_mcp::revision::refusal;
use tidegate_mcp::{Era, Frame, Refused, RequestId};

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
impl From<Refused> for Refusal {
    fn from((id, error): Refused) -> Self {
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

    pub(crate) fn legacy((id, error): Refused) -> Self {
        Self {
            era: Era::Legacy,
            id,
            error,
        }
    }

    /// The refusal as a message. Logged here, once: it never reached the layer that logs calls.
    pub(crate) fn frame(&self) -> Frame {
        let correlation = CorrelationId::fresh();
        log_refusal(correlation, &self.error);
        refusal(self.era, self.id.as_ref(), &self.error, correlation)
    }
}

/// Logs what was refused before a call was made of it.
pub(crate) fn log_refusal(correlation: CorrelationId, error: &Error) {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let (code, error) = (error.code(), error.message());
    tracing::info!(%correlation, ?code, error, cause, "message refused");
}
