//! The table of error codes: the only place where an error has a number, a status or a label.

use tidegate_core::Code;

use crate::Era;

/// What a server of one revision answers when the user must go to a page first.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// What a client answers by custom when its user does not want to.
pub const REFUSED_BY_USER: i64 = -1;

/// How a code looks outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// A name for programs: `data.kind`, logs and metrics.
    pub kind: &'static str,
    /// The JSON-RPC number for a client of the legacy era.
    pub legacy: i64,
    /// The JSON-RPC number for a client of the modern era.
    pub modern: i64,
    /// The HTTP status for a client of the legacy era.
    pub legacy_status: u16,
    /// The HTTP status for a client of the modern era.
    pub modern_status: u16,
    /// What it means, for the reference page.
    pub meaning: &'static str,
}

impl Row {
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

const fn row(kind: &'static str, number: i64, status: u16, meaning: &'static str) -> Row {
    Row {
        kind,
        legacy: number,
        modern: number,
        legacy_status: status,
        modern_status: status,
        meaning,
    }
}

/// Every code with its row.
pub fn of(code: Code) -> Row {
    match code {
        Code::ParseError => row(
            "parse_error",
            -32700,
            400,
            "The bytes are not JSON, or not UTF-8.",
        ),
        Code::InvalidRequest => row(
            "invalid_request",
            -32600,
            400,
            "JSON, but not a message this endpoint can take.",
        ),
        Code::MethodNotFound => Row {
            legacy_status: 200,
            ..row(
                "method_not_found",
                -32601,
                404,
                "No such method in the client's revision.",
            )
        },
        Code::InvalidParams => row(
            "invalid_params",
            -32602,
            200,
            "The parameters of the method are wrong.",
        ),
        Code::MalformedMeta => row(
            "malformed_meta",
            -32602,
            400,
            "A stateless request lacks its protocol version or client capabilities, or they are malformed.",
        ),
        Code::HeaderMismatch => row(
            "header_mismatch",
            -32020,
            400,
            "A standard header is missing, stands twice, or contradicts the body.",
        ),
        Code::MissingCapability => Row {
            legacy: -32603,
            legacy_status: 200,
            ..row(
                "missing_capability",
                -32021,
                400,
                "The request needs a capability its client did not declare.",
            )
        },
        Code::UnsupportedRevision => row(
            "unsupported_revision",
            -32022,
            400,
            "The gateway does not speak the protocol revision asked for; `data.supported` lists those it does.",
        ),
        Code::ResourceNotFound => Row {
            legacy: -32002,
            ..row(
                "resource_not_found",
                -32602,
                200,
                "No resource has this URI; it is in `data.uri`.",
            )
        },
        Code::UnknownTarget => row(
            "unknown_target",
            -32602,
            200,
            "No tool, prompt or reference has this name.",
        ),
        Code::Unauthenticated => row(
            "unauthenticated",
            -31401,
            401,
            "No credential, or a wrong one.",
        ),
        Code::Forbidden => row("forbidden", -31403, 200, "The caller may not do this."),
        Code::ForeignOrigin => row(
            "foreign_origin",
            -31403,
            403,
            "The request comes from a web page that is not allowed, or names a host that is not ours.",
        ),
        Code::Timeout => row("timeout", -31408, 200, "The call took longer than it may."),
        Code::RateLimited => row(
            "rate_limited",
            -31429,
            429,
            "Too many calls from this caller.",
        ),
        Code::Declined => row(
            "declined",
            -32603,
            200,
            "The source asked the client something first, and the client refused or did not answer.",
        ),
        Code::Unavailable => row(
            "unavailable",
            -31503,
            503,
            "The gateway cannot take this call now; try again later.",
        ),
        Code::SourceDown => row(
            "source_down",
            -31503,
            200,
            "The source cannot be asked now, and was not; try again later.",
        ),
        Code::SourceFailed => row(
            "source_failed",
            -31503,
            200,
            "The source was asked and did not answer properly. What it did is not known.",
        ),
        Code::TooLarge => row(
            "too_large",
            -32600,
            413,
            "The message is larger than allowed.",
        ),
        Code::TooSlow => row(
            "too_slow",
            -32600,
            408,
            "The client took too long to send its message.",
        ),
        Code::NotAcceptable => row(
            "not_acceptable",
            -32600,
            406,
            "The client must accept both `application/json` and `text/event-stream`.",
        ),
        Code::UnsupportedMedia => row(
            "unsupported_media",
            -32600,
            415,
            "The body must be `application/json`, uncompressed.",
        ),
        Code::SessionNotFound => row(
            "session_not_found",
            -32600,
            404,
            "The session is unknown, has ended, or belongs to someone else; initialize again.",
        ),
        Code::SessionRequired => row(
            "session_required",
            -32600,
            400,
            "This needs a session; initialize first and send its id.",
        ),
        Code::StreamTaken => row(
            "stream_taken",
            -32600,
            409,
            "The stream is being read already.",
        ),
        Code::NoEndpoint => row("no_endpoint", -32600, 404, "There is no such endpoint."),
        Code::MethodNotAllowed => row(
            "method_not_allowed",
            -32600,
            405,
            "The endpoint does not take this HTTP method.",
        ),
        Code::Storage => row(
            "storage",
            -32603,
            200,
            "What the gateway keeps cannot be read or written; the log has the cause.",
        ),
        Code::Internal => row(
            "internal",
            -32603,
            200,
            "A fault inside the gateway; the log has the cause.",
        ),
        Code::Source(number) => source(number),
    }
}

/// A source's own number, unless it means something else to this client, or nothing it may be sent.
fn source(number: i64) -> Row {
    const INTERNAL: i64 = -32603;
    let ours = (-32022..=-32020).contains(&number);
    let reserved = (-32099..=-32000).contains(&number) && number != -32021;
    let status = match number {
        -32021 => 400,
        -32601 => 404,
        _ => 200,
    };
    Row {
        legacy: if ours { INTERNAL } else { number },
        modern: if reserved { INTERNAL } else { number },
        legacy_status: 200,
        ..row("source", number, status, "What the source itself answered.")
    }
}

/// Every code once, in the order of the reference page.
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

    /// X2: our own numbers stay outside the reserved band, and no undefined one inside it is used.
    #[test]
    fn no_number_is_one_that_the_specification_reserves() {
        let defined = [
            -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022,
        ];
        for code in ALL
            .into_iter()
            .filter(|code| !matches!(code, Code::Source(_)))
        {
            let row = of(code);
            for number in [row.legacy, row.modern] {
                let ours = !(-32768..=-32000).contains(&number);
                let not_found = number == -32002 && number == row.legacy;
                assert!(
                    ours || not_found || defined.contains(&number),
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
