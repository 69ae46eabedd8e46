//! The table of error codes: the JSON-RPC number, HTTP status and label of every error.

use tidegate_core::{Code, Era};

/// Sent by a legacy server when the user must visit a URL first.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// Sent by a client whose user rejects a sampling request.
pub const USER_REJECTED: i64 = -1;

/// How an error code appears to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeSpec {
    /// The label in `data.kind`, logs and metrics.
    pub kind: &'static str,
    /// The JSON-RPC number for a client of the legacy era.
    pub legacy: i64,
    /// The JSON-RPC number for a client of the modern era.
    pub modern: i64,
    /// The HTTP status for a client of the legacy era.
    pub legacy_status: u16,
    /// The HTTP status for a client of the modern era.
    pub modern_status: u16,
    /// The description on the reference page.
    pub meaning: &'static str,
}

impl CodeSpec {
    pub fn number(&self, era: Era) -> i64 {
        match era {
            Era::Legacy => self.legacy,
            Era::Modern => self.modern,
        }
    }

    pub fn status(&self, era: Era) -> u16 {
        match era {
            Era::Legacy => self.legacy_status,
            Era::Modern => self.modern_status,
        }
    }
}

const fn spec(kind: &'static str, number: i64, status: u16, meaning: &'static str) -> CodeSpec {
    CodeSpec {
        kind,
        legacy: number,
        modern: number,
        legacy_status: status,
        modern_status: status,
        meaning,
    }
}

/// The specification of a code.
pub fn of(code: Code) -> CodeSpec {
    match code {
        Code::ParseError => spec(
            "parse_error",
            -32700,
            400,
            "The message is not valid JSON, or not UTF-8.",
        ),
        Code::InvalidRequest => spec(
            "invalid_request",
            -32600,
            400,
            "The message is valid JSON but not a valid JSON-RPC message for this endpoint.",
        ),
        Code::MethodNotFound => CodeSpec {
            legacy_status: 200,
            ..spec(
                "method_not_found",
                -32601,
                404,
                "The method does not exist in the client's protocol revision.",
            )
        },
        Code::InvalidParams => spec(
            "invalid_params",
            -32602,
            200,
            "The parameters of the method are invalid.",
        ),
        Code::MalformedMeta => spec(
            "malformed_meta",
            -32602,
            400,
            "The `_meta` of a request without a session lacks the protocol version or the client capabilities, or they are malformed.",
        ),
        Code::HeaderMismatch => spec(
            "header_mismatch",
            -32020,
            400,
            "A standard header is missing, appears twice, or does not match the body.",
        ),
        Code::MissingCapability => CodeSpec {
            legacy: -32603,
            legacy_status: 200,
            ..spec(
                "missing_capability",
                -32021,
                400,
                "The request requires a capability that the client did not declare.",
            )
        },
        Code::UnsupportedRevision => spec(
            "unsupported_revision",
            -32022,
            400,
            "The gateway does not support the requested protocol revision; `data.supported` lists the supported ones.",
        ),
        Code::ResourceNotFound => CodeSpec {
            legacy: -32002,
            ..spec(
                "resource_not_found",
                -32602,
                200,
                "No resource has the URI in `data.uri`.",
            )
        },
        Code::UnknownTarget => spec(
            "unknown_target",
            -32602,
            200,
            "No tool, prompt or completion reference has this name.",
        ),
        Code::Unauthenticated => spec(
            "unauthenticated",
            -31401,
            401,
            "The credential is missing or invalid.",
        ),
        Code::Forbidden => spec(
            "forbidden",
            -31403,
            200,
            "The caller is not allowed to do this.",
        ),
        Code::ForeignOrigin => spec(
            "foreign_origin",
            -31403,
            403,
            "The `Origin` of the request is not allowed, or its `Host` is not a name of the gateway.",
        ),
        Code::Timeout => spec("timeout", -31408, 200, "The call exceeded its timeout."),
        Code::RateLimited => spec(
            "rate_limited",
            -31429,
            429,
            "The caller exceeded its rate limit.",
        ),
        Code::Declined => spec(
            "declined",
            -32603,
            200,
            "The source asked the client a question, and the client declined or did not answer.",
        ),
        Code::Unavailable => spec(
            "unavailable",
            -31503,
            503,
            "The gateway is overloaded or shutting down; retry later.",
        ),
        Code::SourceDown => spec(
            "source_down",
            -31503,
            200,
            "The source is not connected or not accepting calls. The call was not sent; retry later.",
        ),
        Code::SourceFailed => spec(
            "source_failed",
            -31503,
            200,
            "The call was sent, but the source did not return a valid response. Whether it took effect is unknown.",
        ),
        Code::TooLarge => spec(
            "too_large",
            -32600,
            413,
            "The message exceeds the size limit.",
        ),
        Code::TooSlow => spec(
            "too_slow",
            -32600,
            408,
            "The client did not send the whole message in time.",
        ),
        Code::NotAcceptable => spec(
            "not_acceptable",
            -32600,
            406,
            "The client must accept both `application/json` and `text/event-stream`.",
        ),
        Code::UnsupportedMedia => spec(
            "unsupported_media",
            -32600,
            415,
            "The body must be uncompressed `application/json`.",
        ),
        Code::SessionNotFound => spec(
            "session_not_found",
            -32600,
            404,
            "The session is unknown, has ended, or belongs to another principal; initialize again.",
        ),
        Code::SessionRequired => spec(
            "session_required",
            -32600,
            400,
            "The request requires a session; initialize first and send its id.",
        ),
        Code::StreamTaken => spec(
            "stream_taken",
            -32600,
            409,
            "Another request is already reading this stream.",
        ),
        Code::NoEndpoint => spec("no_endpoint", -32600, 404, "The endpoint does not exist."),
        Code::MethodNotAllowed => spec(
            "method_not_allowed",
            -32600,
            405,
            "The endpoint does not support this HTTP method.",
        ),
        Code::Storage => spec(
            "storage",
            -32603,
            200,
            "The gateway could not read or write its storage; see the log for the cause.",
        ),
        Code::Internal => spec(
            "internal",
            -32603,
            200,
            "An internal error of the gateway; see the log for the cause.",
        ),
        Code::Source(number) => source(number),
    }
}

/// A source's own number, unless it has another meaning in the client's era or is reserved there.
fn source(number: i64) -> CodeSpec {
    const INTERNAL: i64 = -32603;
    let is_modern_only = (-32022..=-32020).contains(&number);
    let is_reserved = (-32099..=-32000).contains(&number) && number != -32021;
    let status = match number {
        -32021 => 400,
        -32601 => 404,
        _ => 200,
    };
    CodeSpec {
        legacy: if is_modern_only { INTERNAL } else { number },
        modern: if is_reserved { INTERNAL } else { number },
        legacy_status: 200,
        ..spec("source", number, status, "An error returned by the source.")
    }
}

/// Every code, in the order of the reference page.
pub const ALL: [Code; 31] = [
    Code::ParseError,
    Code::InvalidRequest,
    Code::MethodNotFound,
    Code::InvalidParams,
    Code::MalformedMeta,
    Code::HeaderMismatch,
    Code::MissingCapability,
    Code::UnsupportedRevision,
    Code::ResourceNotFound,
    Code::UnknownTarget,
    Code::Unauthenticated,
    Code::Forbidden,
    Code::ForeignOrigin,
    Code::Timeout,
    Code::RateLimited,
    Code::Declined,
    Code::Unavailable,
    Code::SourceDown,
    Code::SourceFailed,
    Code::TooLarge,
    Code::TooSlow,
    Code::NotAcceptable,
    Code::UnsupportedMedia,
    Code::SessionNotFound,
    Code::SessionRequired,
    Code::StreamTaken,
    Code::NoEndpoint,
    Code::MethodNotAllowed,
    Code::Storage,
    Code::Internal,
    Code::Source(0),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// X2: our own numbers are outside the reserved range, and inside it only defined ones are used.
    #[test]
    fn uses_no_reserved_numbers() {
        let defined = [
            -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022,
        ];
        for code in ALL
            .into_iter()
            .filter(|code| !matches!(code, Code::Source(_)))
        {
            let spec = of(code);
            for number in [spec.legacy, spec.modern] {
                let is_own = !(-32768..=-32000).contains(&number);
                let not_found = number == -32002 && number == spec.legacy;
                assert!(
                    is_own || not_found || defined.contains(&number),
                    "{code:?}: {number}"
                );
            }
        }
    }

    #[test]
    fn kinds_are_unique() {
        let kinds: std::collections::HashSet<_> =
            ALL.into_iter().map(|code| of(code).kind).collect();
        assert_eq!(kinds.len(), ALL.len());
    }
}
