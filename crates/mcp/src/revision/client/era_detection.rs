//! Detects the era of a server from its response to `server/discover`.

use tidegate_core::{Code, Era, RawJson};

use super::super::version::Revision;
use super::server_facts::{ServerFacts, parse_discover_result, parse_versions};
use crate::codes;
use crate::message::RpcError;

/// Why a modern server rejected a request that may succeed in another form. Legacy servers do not
/// send these errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryHint {
    /// The headers do not match the body.
    Headers,
    /// The client lacks a required capability.
    Capability,
    /// The revision is not supported.
    Revision { supported: Vec<String> },
}

/// The hint that an error carries, if any.
pub fn retry_hint(error: &RpcError) -> Option<RetryHint> {
    let is = |code| error.code == codes::of(code).modern;
    if is(Code::UnsupportedRevision) {
        let data = error.data.as_ref().and_then(RawJson::object);
        let supported = data.and_then(|data| parse_versions(data.get("supported")?));
        let supported = supported.unwrap_or_default();
        return Some(RetryHint::Revision { supported });
    }
    if is(Code::HeaderMismatch) {
        return Some(RetryHint::Headers);
    }
    is(Code::MissingCapability).then_some(RetryHint::Capability)
}

/// The era of a server.
#[derive(Debug)]
pub enum EraVerdict {
    Modern(ServerFacts),
    /// The server is modern but rejected this request; another one may succeed.
    Retry,
    /// The server only supports sessions.
    Legacy,
    /// The server supports none of our revisions.
    Unsupported {
        versions: Vec<String>,
    },
}

/// The verdict on a response to `server/discover`, sent in this revision.
pub fn era_verdict(revision: Revision, response: &Result<RawJson, RpcError>) -> EraVerdict {
    match response {
        Ok(result) => match parse_discover_result(revision, result) {
            Some(facts) => EraVerdict::Modern(facts),
            // Some legacy servers answer every method with some result.
            None => EraVerdict::Legacy,
        },
        Err(error) => match retry_hint(error) {
            Some(RetryHint::Revision { supported }) => by_versions(supported),
            Some(RetryHint::Headers | RetryHint::Capability) => EraVerdict::Retry,
            None => EraVerdict::Legacy,
        },
    }
}

fn by_versions(versions: Vec<String>) -> EraVerdict {
    let supports = |era| {
        let mut known = versions.iter().filter_map(|name| Revision::parse(name));
        known.any(|revision| revision.era() == era)
    };
    if versions.is_empty() || supports(Era::Modern) {
        EraVerdict::Retry
    } else if supports(Era::Legacy) {
        EraVerdict::Legacy
    } else {
        EraVerdict::Unsupported { versions }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn verdict(response: Result<Value, (i64, Value)>) -> EraVerdict {
        let response = response
            .map(RawJson::from)
            .map_err(|(code, data)| RpcError {
                code,
                message: String::new(),
                data: Some(data.into()),
            });
        era_verdict(Revision::NEWEST, &response)
    }

    fn unsupported(supported: &Value) -> EraVerdict {
        verdict(Err((-32022, json!({ "supported": supported }))))
    }

    #[test]
    fn only_a_valid_discover_result_means_modern() {
        let discovered =
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
        assert!(
            matches!(verdict(Ok(discovered)), EraVerdict::Modern(facts) if facts.features.tools)
        );
        for other in [json!({}), json!({ "supportedVersions": "all" }), json!(7)] {
            assert!(matches!(verdict(Ok(other)), EraVerdict::Legacy));
        }
        let legacy = json!({ "supportedVersions": ["2025-11-25"], "capabilities": {} });
        assert!(matches!(verdict(Ok(legacy)), EraVerdict::Legacy));
    }

    #[test]
    fn modern_errors_mean_retry_and_other_errors_legacy() {
        for code in [-32020, -32021] {
            assert!(matches!(verdict(Err((code, json!({})))), EraVerdict::Retry));
        }
        for code in [-32601, -32602, -32600, -32000, -32603, -32700, -32002, 7] {
            assert!(matches!(
                verdict(Err((code, json!({})))),
                EraVerdict::Legacy
            ));
        }
    }

    #[test]
    fn the_supported_versions_decide() {
        for supported in [
            json!(["2026-07-28"]),
            json!(["2025-11-25", "2026-07-28"]),
            json!(["2031-01-01", "2026-07-28"]),
            json!([]),
            json!(null),
        ] {
            assert!(matches!(unsupported(&supported), EraVerdict::Retry));
        }
        let legacy = json!(["2025-06-18", "2031-01-01"]);
        assert!(matches!(unsupported(&legacy), EraVerdict::Legacy));
        let unknown = unsupported(&json!(["2031-01-01"]));
        assert!(
            matches!(unknown, EraVerdict::Unsupported { versions } if versions == ["2031-01-01"])
        );
    }
}
