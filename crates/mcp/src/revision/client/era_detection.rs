//! What a server's answers tell about the era it speaks.

use tidegate_core::{Code, RawJson};

use super::super::{Era, Revision};
use super::facts::{ServerFacts, discovered, versions};
use crate::{RpcError, codes};

/// What a server says of a request that it did not take as it was. No legacy server says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryHint {
    /// The headers do not say what the body says.
    Headers,
    /// The client cannot do what is needed.
    Capability,
    /// The revision is not spoken; these are.
    Revision { spoken: Vec<String> },
}

/// The retry_hint that an error is, if it is one.
pub fn retry_hint(error: &RpcError) -> Option<RetryHint> {
    let is = |code| error.code == codes::of(code).modern;
    if is(Code::UnsupportedRevision) {
        let data = error.data.as_ref().and_then(RawJson::object);
        let spoken = data.and_then(|data| versions(data.get("supported")?));
        let spoken = spoken.unwrap_or_default();
        return Some(RetryHint::Revision { spoken });
    }
    if is(Code::HeaderMismatch) {
        return Some(RetryHint::Headers);
    }
    is(Code::MissingCapability).then_some(RetryHint::Capability)
}

/// How a server speaks, by its answer to discover.
#[derive(Debug)]
pub enum EraVerdict {
    Modern(ServerFacts),
    /// It knows the question and did not take it as it was: it may take it another time.
    AskAgain,
    /// With sessions alone.
    Legacy,
    /// Only in revisions that we do not speak.
    Foreign {
        spoken: Vec<String>,
    },
}

/// What an answer to discover, asked in this revision, tells.
pub fn era_verdict(revision: Revision, answer: &Result<RawJson, RpcError>) -> EraVerdict {
    match answer {
        Ok(result) => match discovered(revision, result) {
            Some(facts) => EraVerdict::Modern(facts),
            // It answers everything, and so it understood nothing.
            None => EraVerdict::Legacy,
        },
        Err(error) => match retry_hint(error) {
            Some(RetryHint::Revision { spoken }) => by_revisions(spoken),
            Some(RetryHint::Headers | RetryHint::Capability) => EraVerdict::AskAgain,
            None => EraVerdict::Legacy,
        },
    }
}

fn by_revisions(spoken: Vec<String>) -> EraVerdict {
    let known = |era| {
        let mut known = spoken.iter().filter_map(|name| Revision::parse(name));
        known.any(|revision| revision.era() == era)
    };
    match () {
        () if spoken.is_empty() || known(Era::Modern) => EraVerdict::AskAgain,
        () if known(Era::Legacy) => EraVerdict::Legacy,
        () => EraVerdict::Foreign { spoken },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn judge(answer: Result<Value, (i64, Value)>) -> EraVerdict {
        let answer = answer.map(RawJson::from).map_err(|(code, data)| RpcError {
            code,
            message: String::new(),
            data: Some(data.into()),
        });
        era_verdict(Revision::NEWEST, &answer)
    }

    fn unsupported(supported: &Value) -> EraVerdict {
        judge(Err((-32022, json!({ "supported": supported }))))
    }

    #[test]
    fn who_answers_discover_is_modern_and_who_answers_anything_is_not() {
        let hello = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
        assert!(matches!(judge(Ok(hello)), EraVerdict::Modern(facts) if facts.features.tools));
        for other in [json!({}), json!({ "supportedVersions": "all" }), json!(7)] {
            assert!(matches!(judge(Ok(other)), EraVerdict::Legacy));
        }
        let legacy = json!({ "supportedVersions": ["2025-11-25"], "capabilities": {} });
        assert!(matches!(judge(Ok(legacy)), EraVerdict::Legacy));
    }

    #[test]
    fn an_error_that_only_the_modern_era_has_is_no_reason_to_go_back() {
        for code in [-32020, -32021] {
            assert!(matches!(
                judge(Err((code, json!({})))),
                EraVerdict::AskAgain
            ));
        }
        for code in [-32601, -32602, -32600, -32000, -32603, -32700, -32002, 7] {
            assert!(matches!(judge(Err((code, json!({})))), EraVerdict::Legacy));
        }
    }

    #[test]
    fn the_revisions_that_a_server_names_decide() {
        for supported in [
            json!(["2026-07-28"]),
            json!(["2025-11-25", "2026-07-28"]),
            json!(["2031-01-01", "2026-07-28"]),
            json!([]),
            json!(null),
        ] {
            assert!(matches!(unsupported(&supported), EraVerdict::AskAgain));
        }
        let legacy = json!(["2025-06-18", "2031-01-01"]);
        assert!(matches!(unsupported(&legacy), EraVerdict::Legacy));
        let foreign = unsupported(&json!(["2031-01-01"]));
        assert!(matches!(foreign, EraVerdict::Foreign { spoken } if spoken == ["2031-01-01"]));
    }
}
