//! How a server refuses an HTTP request as a whole, without a JSON-RPC response.

use http::StatusCode;
use tidegate_core::Error;

use crate::error::source_failed;

/// How the error message of a server that requires credentials begins.
pub const CREDENTIALS_REQUIRED: &str = "the source requires credentials";

/// How much of a response body is shown.
const MAX_SHOWN_CHARS: usize = 400;

/// A server was reached and did not respond to the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It requires credentials, or does not accept ours.
    Credentials,
    /// It does not know the session any more.
    SessionEnded,
    /// An error status without a JSON-RPC body, and the beginning of its text.
    Status(StatusCode, String),
}

impl Refusal {
    /// The refusal that a status implies, independent of the body.
    pub(crate) fn from_status(status: StatusCode) -> Option<Self> {
        (status == StatusCode::UNAUTHORIZED).then_some(Self::Credentials)
    }

    /// The refusal of a response with this body.
    pub(crate) fn with_body(status: StatusCode, body: &[u8]) -> Self {
        Self::Status(status, shown_text(body))
    }

    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Credentials => source_failed(&format!(
                "{CREDENTIALS_REQUIRED} (HTTP status 401); set `headers` in its configuration",
            )),
            Self::SessionEnded => source_failed("the source ended the session; try again"),
            Self::Status(status, text) => {
                let status = status.as_u16();
                let text = match text.as_str() {
                    "" => String::new(),
                    text => format!(": {text}"),
                };
                source_failed(&format!(
                    "the source refused the request (HTTP status {status}){text}"
                ))
            }
        }
    }
}

/// The beginning of a body on one line; empty if it is a web page or not text.
fn shown_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.starts_with('<') || text.chars().any(char::is_control) {
        return String::new();
    }
    if let Some((end, _)) = text.char_indices().nth(MAX_SHOWN_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_beginning_of_a_text_on_one_line() {
        assert_eq!(shown_text(b"not\n allowed\n"), "not allowed");
        assert_eq!(shown_text(b"<!doctype html><p>Forbidden"), "");
        assert_eq!(shown_text(b"\x00\x01"), "");
        let long = shown_text("é".repeat(2000).as_bytes());
        assert_eq!(long.chars().count(), MAX_SHOWN_CHARS + 1);
    }
}
