//! One error type for the whole gateway: a code to branch on, a message for people, a cause for the
//! log, and the step in which it arose.
//!
//! Codes have no numbers here: `tidegate-mcp` maps each to its JSON-RPC number and HTTP status. The
//! table covers every step, so it also names failures of transports and sessions.

use std::fmt;

use crate::uri::malformation_of;
use crate::{RawJson, Step};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as a program may branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The bytes are not JSON.
    ParseError,
    /// The JSON is not a JSON-RPC message.
    InvalidRequest,
    /// The method does not exist in this revision.
    MethodNotFound,
    InvalidParams,
    /// The `_meta` of a modern request is missing or malformed.
    MalformedMeta,
    /// A header is missing, appears twice, or contradicts the body.
    HeaderMismatch,
    /// The client did not declare a capability that the request needs.
    MissingCapability,
    /// The gateway does not support this protocol revision.
    UnsupportedRevision,
    ResourceNotFound,
    /// The text is not a URI that any resource can have.
    MalformedUri,
    /// No tool, prompt or completion reference has this name.
    UnknownTarget,
    /// The credential is missing or wrong.
    Unauthenticated,
    Forbidden,
    /// The web page's origin is not allowed, or the host name is not ours.
    ForeignOrigin,
    Timeout,
    RateLimited,
    /// The client did not answer a question.
    Declined,
    /// The gateway is at a limit, or shutting down.
    Unavailable,
    /// The source cannot be reached. The call was not sent.
    SourceDown,
    /// The call was sent, and the source failed or its response was malformed.
    SourceFailed,
    TooLarge,
    /// The client took too long to send its message.
    TooSlow,
    /// The client does not accept the content type of the response.
    NotAcceptable,
    /// The content type of the body is not JSON.
    UnsupportedMedia,
    /// The session is unknown, ended, or belongs to another principal.
    SessionNotFound,
    /// The request needs a session but names no session.
    SessionRequired,
    /// Another connection reads this stream.
    StreamTaken,
    NoEndpoint,
    /// The endpoint does not support this HTTP method.
    MethodNotAllowed,
    /// The store cannot be read or written.
    Storage,
    Internal,
    /// An error response of a source, with its JSON-RPC code.
    Source(i64),
}

impl Code {
    /// The step that errors with this code arise in, for codes that belong to one step.
    fn step(self) -> Option<Step> {
        match self {
            Self::TooLarge
            | Self::TooSlow
            | Self::NotAcceptable
            | Self::UnsupportedMedia
            | Self::ForeignOrigin
            | Self::NoEndpoint
            | Self::MethodNotAllowed
            | Self::Unavailable => Some(Step::Accept),
            Self::Unauthenticated => Some(Step::Identify),
            Self::ParseError | Self::InvalidRequest => Some(Step::Decode),
            Self::MalformedMeta
            | Self::HeaderMismatch
            | Self::UnsupportedRevision
            | Self::SessionNotFound
            | Self::SessionRequired
            | Self::StreamTaken => Some(Step::Lift),
            Self::RateLimited | Self::Timeout => Some(Step::Govern),
            Self::MethodNotFound
            | Self::InvalidParams
            | Self::MissingCapability
            | Self::ResourceNotFound
            | Self::MalformedUri
            | Self::UnknownTarget
            | Self::Forbidden
            | Self::Declined
            | Self::SourceDown
            | Self::SourceFailed
            | Self::Storage
            | Self::Internal
            | Self::Source(_) => None,
        }
    }
}

/// Who caused an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOrigin {
    Client,
    Gateway,
    Source,
}

pub(crate) const NO_RESOURCE: &str = "no resource has this URI";

/// An error: what the client may see, and what only the log shows.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    code: Code,
    origin: ErrorOrigin,
    step: Option<Step>,
    message: String,
    data: Option<RawJson>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub fn new(code: Code, origin: ErrorOrigin, message: impl Into<String>) -> Self {
        Self::with_message(code, origin, truncate_to(message.into(), MAX_MESSAGE_CHARS))
    }

    /// An error response of a source, with the message that the source gave it, whole up to 64 KiB.
    pub fn source_response(code: Code, message: String) -> Self {
        let origin = match code {
            Code::ResourceNotFound => ErrorOrigin::Client,
            _ => ErrorOrigin::Source,
        };
        Self::with_message(
            code,
            origin,
            truncate_to_bytes(message, MAX_SOURCE_MESSAGE_BYTES),
        )
    }

    fn with_message(code: Code, origin: ErrorOrigin, message: String) -> Self {
        let inner = Inner {
            code,
            origin,
            step: code.step(),
            message,
            data: None,
            cause: None,
        };
        Self {
            inner: Box::new(inner),
        }
    }

    /// An error that the client caused.
    pub fn client(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, ErrorOrigin::Client, message)
    }

    /// A fault of the gateway. The client sees the message: it names no path, host or stack.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, ErrorOrigin::Gateway, message)
    }

    /// No resource has this URI, or can have it.
    pub fn resource_not_found(uri: &str) -> Self {
        let error = match malformation_of(uri) {
            None => Self::client(Code::ResourceNotFound, NO_RESOURCE),
            Some(malformation) => {
                Self::client(Code::MalformedUri, format!("{NO_RESOURCE}: {malformation}"))
            }
        };
        error.with_uri(uri)
    }

    /// The error for a resource that cannot be subscribed to.
    pub fn not_subscribable(uri: &str) -> Self {
        let message = "the resource does not exist or does not support subscriptions";
        Self::client(Code::InvalidParams, message).with_uri(uri)
    }

    /// Adds the URI as data for programs.
    #[must_use]
    pub fn with_uri(self, uri: &str) -> Self {
        self.with_data(serde_json::json!({ "uri": uri }))
    }

    /// Sets the data for programs. Ours are objects; a source may send any value.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<RawJson>) -> Self {
        self.inner.data = Some(data.into());
        self
    }

    /// Sets the cause, which the log shows and the client does not see.
    #[must_use]
    pub fn with_cause(
        mut self,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.inner.cause = Some(cause.into());
        self
    }

    /// Sets the step in which the error arose, unless it is known already.
    #[must_use]
    pub fn at(mut self, step: Step) -> Self {
        self.inner.step.get_or_insert(step);
        self
    }

    pub fn code(&self) -> Code {
        self.inner.code
    }

    pub fn origin(&self) -> ErrorOrigin {
        self.inner.origin
    }

    /// The step in which the error arose; `None` until it has passed a boundary between two steps.
    pub fn step(&self) -> Option<Step> {
        self.inner.step
    }

    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The beginning of the message, for a log line.
    pub fn short_message(&self) -> String {
        truncate_to(self.message().to_owned(), MAX_MESSAGE_CHARS)
    }

    pub fn data(&self) -> Option<&RawJson> {
        self.inner.data.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.cause.as_deref().map(|cause| cause as _)
    }
}

/// The beginning of a text from outside, short enough to be part of a message.
pub fn truncate_for_message(text: &str) -> String {
    truncate_to(text.to_owned(), 200)
}

const MAX_MESSAGE_CHARS: usize = 600;

const MAX_SOURCE_MESSAGE_BYTES: usize = 64 * 1024;

fn truncate_to(mut text: String, max_chars: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max_chars) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn truncate_to_bytes(mut text: String, max_bytes: usize) -> String {
    if text.len() > max_bytes {
        text.truncate(text.floor_char_boundary(max_bytes));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_kept() {
        let error = Error::internal("failed").at(Step::Serve).at(Step::Govern);
        assert_eq!(error.step(), Some(Step::Serve));
        let late = Error::client(Code::Timeout, "late").at(Step::Serve);
        assert_eq!(late.step(), Some(Step::Govern));
    }

    #[test]
    fn long_messages_are_truncated() {
        let error = Error::internal("é".repeat(MAX_MESSAGE_CHARS + 1));
        assert_eq!(error.message().chars().count(), MAX_MESSAGE_CHARS + 1);
        assert!(error.message().ends_with('…'));
    }

    #[test]
    fn messages_of_sources_are_whole_up_to_a_bound() {
        let message = "é".repeat(MAX_SOURCE_MESSAGE_BYTES / 2);
        let error = Error::source_response(Code::Source(1), message.clone());
        assert!(error.message() == message);
        let error = Error::source_response(Code::Source(1), format!("a{message}"));
        assert!(error.message().ends_with("é…"));
        assert_eq!(
            error.message().len(),
            MAX_SOURCE_MESSAGE_BYTES - 1 + '…'.len_utf8()
        );
    }
}
