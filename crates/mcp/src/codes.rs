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
    /// The status that describes the error to HTTP clients that do not know JSON-RPC. In
    /// `data.httpStatus`, and the status itself where the configuration or the endpoint says so.
    pub mapped_status: u16,
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

/// Generates [`of`] and [`ALL`] from one row per code: its label, the number and the HTTP status in each
/// era, the mapped status, and its meaning.
macro_rules! codes {
    ($($code:ident, $kind:literal, modern $modern:literal $modern_status:literal,
       legacy $legacy:literal $legacy_status:literal, mapped $mapped_status:literal,
       $meaning:literal;)*) => {
        /// The specification of a code.
        pub fn of(code: Code) -> CodeSpec {
            match code {
                $(Code::$code => CodeSpec {
                    kind: $kind,
                    legacy: $legacy,
                    modern: $modern,
                    legacy_status: $legacy_status,
                    modern_status: $modern_status,
                    mapped_status: $mapped_status,
                    meaning: $meaning,
                },)*
                Code::Source(number) => source(number),
            }
        }

        /// Every code, in the order of the reference page.
        pub const ALL: [Code; 32] = [$(Code::$code,)* Code::Source(0)];
    };
}

codes! {
    ParseError,          "parse_error",          modern -32700 400, legacy -32700 400, mapped 400,
        "The message is not valid JSON, or not UTF-8.";
    InvalidRequest,      "invalid_request",      modern -32600 400, legacy -32600 400, mapped 400,
        "The message is valid JSON but not a valid JSON-RPC message for this endpoint.";
    MethodNotFound,      "method_not_found",     modern -32601 404, legacy -32601 200, mapped 404,
        "The method does not exist in the client's protocol revision.";
    InvalidParams,       "invalid_params",       modern -32602 200, legacy -32602 200, mapped 400,
        "The parameters of the method are invalid.";
    MalformedMeta,       "malformed_meta",       modern -32602 400, legacy -32602 400, mapped 400,
        "The `_meta` of a modern request lacks the protocol version or the client capabilities, or they are malformed.";
    HeaderMismatch,      "header_mismatch",      modern -32020 400, legacy -32020 400, mapped 400,
        "A standard header is missing, appears twice, or does not match the body.";
    MissingCapability,   "missing_capability",   modern -32021 400, legacy -32603 200, mapped 400,
        "The request requires a capability that the client did not declare.";
    UnsupportedRevision, "unsupported_revision", modern -32022 400, legacy -32022 400, mapped 400,
        "The gateway does not support the requested protocol revision; `data.supported` lists the supported ones.";
    ResourceNotFound,    "resource_not_found",   modern -32602 200, legacy -32002 200, mapped 404,
        "No resource has the URI in `data.uri`.";
    MalformedUri,        "malformed_uri",        modern -32602 200, legacy -32002 200, mapped 400,
        "The URI in `data.uri` is not a URI, or not complete; no resource can have it.";
    UnknownTarget,       "unknown_target",       modern -32602 200, legacy -32602 200, mapped 404,
        "No tool, prompt or completion reference has this name.";
    Unauthenticated,     "unauthenticated",      modern -31401 401, legacy -31401 401, mapped 401,
        "The credential is missing or invalid.";
    Forbidden,           "forbidden",            modern -31403 200, legacy -31403 200, mapped 403,
        "The caller is not allowed to do this.";
    ForeignOrigin,       "foreign_origin",       modern -31403 403, legacy -31403 403, mapped 403,
        "The `Origin` of the request is not allowed, or its `Host` is not a name of the gateway.";
    Timeout,             "timeout",              modern -31408 200, legacy -31408 200, mapped 504,
        "The call exceeded its timeout.";
    RateLimited,         "rate_limited",         modern -31429 429, legacy -31429 429, mapped 429,
        "The caller exceeded its rate limit.";
    Declined,            "declined",             modern -32603 200, legacy -32603 200, mapped 400,
        "The source asked the client a question, and the client declined or did not answer.";
    Unavailable,         "unavailable",          modern -31503 503, legacy -31503 503, mapped 503,
        "The gateway is overloaded or shutting down; retry later.";
    SourceDown,          "source_down",          modern -31503 200, legacy -31503 200, mapped 503,
        "The source is not connected or not accepting calls. The call was not sent; retry later.";
    SourceFailed,        "source_failed",        modern -31503 200, legacy -31503 200, mapped 500,
        "The call was sent, but the source did not return a valid response. Whether it took effect is unknown.";
    TooLarge,            "too_large",            modern -32600 413, legacy -32600 413, mapped 413,
        "The message exceeds the size limit.";
    TooSlow,             "too_slow",             modern -32600 408, legacy -32600 408, mapped 408,
        "The client did not send the whole message in time.";
    NotAcceptable,       "not_acceptable",       modern -32600 406, legacy -32600 406, mapped 406,
        "The client must accept both `application/json` and `text/event-stream`.";
    UnsupportedMedia,    "unsupported_media",    modern -32600 415, legacy -32600 415, mapped 415,
        "The body must be uncompressed `application/json`.";
    SessionNotFound,     "session_not_found",    modern -32600 404, legacy -32600 404, mapped 404,
        "The session is unknown, has ended, or belongs to another principal; initialize again.";
    SessionRequired,     "session_required",     modern -32600 400, legacy -32600 400, mapped 400,
        "The request requires a session; initialize first and send its id.";
    StreamTaken,         "stream_taken",         modern -32600 409, legacy -32600 409, mapped 409,
        "Another request is already reading this stream.";
    NoEndpoint,          "no_endpoint",          modern -32600 404, legacy -32600 404, mapped 404,
        "The endpoint does not exist.";
    MethodNotAllowed,    "method_not_allowed",   modern -32600 405, legacy -32600 405, mapped 405,
        "The endpoint does not support this HTTP method.";
    Storage,             "storage",              modern -32603 200, legacy -32603 200, mapped 500,
        "The gateway could not read or write its storage; see the log for the cause.";
    Internal,            "internal",             modern -32603 200, legacy -32603 200, mapped 500,
        "An internal error of the gateway; see the log for the cause.";
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
    let mapped_status = match number {
        -32602 | -32600 | -32021 => 400,
        -32601 => 404,
        _ => 500,
    };
    CodeSpec {
        kind: "source",
        legacy: if is_modern_only { INTERNAL } else { number },
        modern: if is_reserved { INTERNAL } else { number },
        legacy_status: 200,
        modern_status: status,
        mapped_status,
        meaning: "An error returned by the source.",
    }
}

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
