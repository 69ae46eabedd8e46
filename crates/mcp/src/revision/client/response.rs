//! Parses the results and errors of a server.

use std::time::Duration;

use tidegate_core::{
    CacheHint, CacheScope, Code, Era, Error, ErrorOrigin, Object, Outcome, RawJson, Result,
};

use super::super::version::Revision;
use crate::codes;
use crate::message::RpcError;

/// What the result of a request may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedResult {
    Complete,
    CompleteOrTask,
    /// The result of an extension that the gateway does not know, with any type.
    Extension,
}

/// Parses a result. A result without a type is complete. A result of an unexpected type is an error.
pub fn parse_outcome(
    revision: Revision,
    result: &RawJson,
    expected: ExpectedResult,
) -> Result<Outcome> {
    let not_an_object = || source_failed("the source's result is not an object");
    if revision.era() == Era::Legacy || expected == ExpectedResult::Extension {
        // Not parsed here: the members are validated where they are used.
        return match result.is_object() {
            true => Ok(Outcome::Complete {
                result: result.clone(),
                hint: None,
            }),
            false => Err(not_an_object()),
        };
    }
    let members = result.object().ok_or_else(not_an_object)?;
    match members.string("resultType").as_deref() {
        None | Some("complete") => {
            let hint = cache_hint(&members);
            Ok(Outcome::Complete {
                result: result.clone(),
                hint,
            })
        }
        Some("input_required") => Ok(Outcome::InputRequired(result.clone())),
        Some("task") if expected == ExpectedResult::CompleteOrTask => {
            Ok(Outcome::Task(result.clone()))
        }
        Some(_) => Err(source_failed(
            "the source returned a result of an unexpected type",
        )),
    }
}

fn cache_hint(result: &Object<'_>) -> Option<CacheHint> {
    let ttl = result.get("ttlMs")?.parse::<u64>().unwrap_or(0);
    let scope = match result.string("cacheScope").as_deref() {
        Some("public") => CacheScope::Public,
        _ => CacheScope::Private,
    };
    Some(CacheHint {
        ttl: Duration::from_millis(ttl),
        scope,
    })
}

/// Parses an error. `uri` is the URI of the resource if the request was a read. The various
/// numbers that servers use for "not found" become one error.
pub fn parse_error(uri: Option<&str>, error: RpcError) -> Error {
    let RpcError {
        code,
        message,
        data,
    } = error;
    let has_uri = data
        .as_ref()
        .and_then(RawJson::object)
        .is_some_and(|data| data.get("uri").is_some());
    let lowercase = message.to_ascii_lowercase();
    let mentions_not_found =
        lowercase.contains("not found") || lowercase.contains("unknown resource");
    let spec = codes::of(Code::ResourceNotFound);
    // Some servers use zero for every error.
    let is_not_found = code == spec.legacy
        || code == spec.modern && (has_uri || mentions_not_found)
        || code == 0 && mentions_not_found;
    match uri {
        Some(uri) if is_not_found => Error::resource_not_found(uri),
        _ => {
            let error = Error::new(Code::Source(code), ErrorOrigin::Source, message);
            match data {
                Some(data) => error.with_data(data),
                None => error,
            }
        }
    }
}

fn source_failed(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}
