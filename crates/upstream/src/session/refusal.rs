//! How a server refuses an HTTP request as a whole, without a JSON-RPC response.

use http::StatusCode;
use tidegate_core::Error;

use crate::error::source_failed;

/// How the error message of a server that requires credentials begins.
pub const CREDENTIALS_REQUIRED: &str = "the source requires credentials";

/// A server was reached and did not respond to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It requires credentials, or does not accept ours.
    Credentials(StatusCode),
    /// It does not know the session any more.
    SessionEnded,
    /// An error status without a JSON-RPC body.
    Status(StatusCode),
}

impl Refusal {
    /// The refusal that a status implies, independent of the body.
    pub(crate) fn from_status(status: StatusCode) -> Option<Self> {
        let credentials = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
        credentials.then_some(Self::Credentials(status))
    }

    pub(crate) fn error(self) -> Error {
        match self {
            Self::Credentials(status) => source_failed(&format!(
                "{CREDENTIALS_REQUIRED} (HTTP status {}); set `headers` in its configuration",
                status.as_u16()
            )),
            Self::SessionEnded => source_failed("the source ended the session; try again"),
            Self::Status(status) => source_failed(&format!(
                "the source refused the request (HTTP status {})",
                status.as_u16()
            )),
        }
    }
}
