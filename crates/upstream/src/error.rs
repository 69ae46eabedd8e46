//! The errors of a remote source.

use tidegate_core::{Code, Error, ErrorOrigin};

/// The server closed the connection or violated the protocol. It may have executed the request.
pub(crate) fn source_failed(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}

/// The request never reached the server, so it is safe to retry.
pub(crate) fn source_unreachable(message: &str) -> Error {
    Error::new(Code::SourceDown, ErrorOrigin::Source, message)
}

pub(crate) fn response_too_large() -> Error {
    source_failed(
        "the source's response exceeds the size limit; raise `max_message_bytes` of the source",
    )
}
