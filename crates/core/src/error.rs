//! One error for the whole gateway: a code to branch on, words for the person, a cause for the log.
//!
//! A code has no number here. The wire's table of codes gives each its numbers and its status.

use std::fmt;

use crate::RawJson;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as a caller may branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The bytes are not JSON.
    ParseError,
    /// JSON, but not a message.
    InvalidRequest,
    /// No such method, or not in this revision.
    MethodNotFound,
    /// The parameters of the method are wrong.
    InvalidParams,
    /// What a stateless request must say about itself is missing or malformed.
    MalformedMeta,
    /// A header contradicts the body, is missing, or stands twice.
    HeaderMismatch,
    /// The request needs something its client did not declare.
    MissingCapability,
    /// A revision this gateway does not speak.
    UnsupportedRevision,
    /// No resource has this URI.
    ResourceNotFound,
    /// No tool, prompt or reference has this name.
    UnknownTarget,
    /// No credential, or a wrong one.
    Unauthenticated,
    /// The caller may not do this.
    Forbidden,
    /// A web page that is not allowed, or a host name that is not ours.
    ForeignOrigin,
    /// The call took longer than it may.
    Timeout,
    /// Too many calls from this caller.
    RateLimited,
    /// The client was asked something and did not answer.
    Declined,
    /// The gateway cannot take this now.
    Unavailable,
    /// The source cannot be asked now. It was not.
    SourceDown,
    /// The source was asked, and broke off, or said nothing that can be understood.
    SourceFailed,
    /// The message is larger than allowed.
    TooLarge,
    /// The client took too long to send its message.
    TooSlow,
    /// The client does not accept what would be answered.
    NotAcceptable,
    /// The body is not JSON by its own header.
    UnsupportedMedia,
    /// The session is unknown, ended, or someone else's.
    SessionNotFound,
    /// This needs a session and none is named.
    SessionRequired,
    /// The stream is being read already.
    StreamTaken,
    /// No such endpoint.
    NoEndpoint,
    /// The endpoint does not take this HTTP method.
    MethodNotAllowed,
    /// What is kept cannot be read or written.
    Storage,
    /// A fault of ours.
    Internal,
    /// What a source answered, with its own number.
    Source(i64),
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOrigin {
    Client,
    Gateway,
    Source,
}

pub(crate) const NO_RESOURCE: &str = "no resource has this URI";

/// An error: what the client may see, and what only the log does.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    code: Code,
    side: ErrorOrigin,
    message: String,
    data: Option<RawJson>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub fn new(code: Code, side: ErrorOrigin, message: impl Into<String>) -> Self {
        let inner = Inner {
            code,
            side,
            message: truncate_to(message.into(), LONGEST_MESSAGE),
            data: None,
            cause: None,
        };
        Self {
            inner: Box::new(inner),
        }
    }

    /// The client did something wrong.
    pub fn client(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, ErrorOrigin::Client, message)
    }

    /// We did. The message is what the client sees: it names no path, host or stack.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, ErrorOrigin::Gateway, message)
    }

    /// No resource has this URI.
    pub fn resource_not_found(uri: &str) -> Self {
        Self::client(Code::ResourceNotFound, NO_RESOURCE).with_uri(uri)
    }

    /// Names the URI this is about, for programs.
    #[must_use]
    pub fn with_uri(self, uri: &str) -> Self {
        self.with_data(serde_json::json!({ "uri": uri }))
    }

    /// ElementFacts a program may read, beside the words. Must be an object.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<RawJson>) -> Self {
        self.inner.data = Some(data.into());
        self
    }

    /// What the log should say and the client should not.
    #[must_use]
    pub fn with_cause(
        mut self,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.inner.cause = Some(cause.into());
        self
    }

    pub fn code(&self) -> Code {
        self.inner.code
    }

    pub fn origin(&self) -> ErrorOrigin {
        self.inner.side
    }

    pub fn message(&self) -> &str {
        &self.inner.message
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

/// A client's own word in a message, cut so that a message stays a message.
pub fn truncate_for_message(text: &str) -> String {
    truncate_to(text.to_owned(), 200)
}

/// A message is for people: longer than this it only costs memory.
const LONGEST_MESSAGE: usize = 600;

fn truncate_to(mut text: String, longest: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(longest) {
        text.truncate(at);
        text.push('…');
    }
    text
}
