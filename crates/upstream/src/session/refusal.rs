//! How a server refuses an exchange as a whole, beside all that it may answer.

use http::StatusCode;
use tidegate_core::Error;

use super::unavailable;

/// How the words begin for a server that wants to know who asks.
pub const WANTS_CREDENTIALS: &str = "the source wants credentials";

/// A server was reached and did not answer the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It wants to know who asks, or does not want who asks.
    Credentials(StatusCode),
    /// It does not know the session any more.
    SessionEnded,
    /// A status, and no word that we understand.
    Status(StatusCode),
}

impl Refusal {
    /// The refusal that a status is by itself, whatever the body says.
    pub(crate) fn of(status: StatusCode) -> Option<Self> {
        let credentials = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
        credentials.then_some(Self::Credentials(status))
    }

    /// What the one who called is told.
    pub(crate) fn error(self) -> Error {
        match self {
            Self::Credentials(status) => unavailable(&format!(
                "{WANTS_CREDENTIALS} (HTTP status {}); give it some with `headers` in its \
                 configuration",
                status.as_u16()
            )),
            Self::SessionEnded => unavailable("the source has ended the session; try again"),
            Self::Status(status) => unavailable(&format!(
                "the source refused with HTTP status {}",
                status.as_u16()
            )),
        }
    }
}
