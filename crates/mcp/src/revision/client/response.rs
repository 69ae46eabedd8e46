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
/// numbers that servers use for an unknown resource become one code; message and data stay.
pub fn parse_error(uri: Option<&str>, error: RpcError) -> Error {
    let unknown_uri = uri.filter(|uri| is_unknown_resource(uri, &error));
    let code = match unknown_uri {
        Some(_) => Code::ResourceNotFound,
        None => Code::Source(error.code),
    };
    let data = match unknown_uri {
        Some(uri) => Some(with_uri(error.data, uri)),
        None => error.data,
    };
    let error = Error::source_response(code, error.message);
    match data {
        Some(data) => error.with_data(data),
        None => error,
    }
}

/// Whether an error says that the server has no resource with this URI. A text that only mentions
/// something that was not found, such as a file that the resource needs, does not say so.
fn is_unknown_resource(uri: &str, error: &RpcError) -> bool {
    let spec = codes::of(Code::ResourceNotFound);
    let data = error.data.as_ref().and_then(RawJson::object);
    let has_uri = data.is_some_and(|data| data.get("uri").is_some());
    error.code == spec.legacy
        || error.code == spec.modern && has_uri
        // Some servers use zero for every error.
        || [spec.modern, 0].contains(&error.code) && names_unknown_resource(uri, &error.message)
}

/// Recognizes the messages of the SDKs: `Resource {uri} not found`, `Resource not found: {uri}` and
/// `Unknown resource: {uri}`, with or without `MCP error {code}: ` before them.
fn names_unknown_resource(uri: &str, message: &str) -> bool {
    let message = match message.strip_prefix("MCP error ") {
        Some(numbered) => numbered.split_once(": ").map_or(numbered, |(_, text)| text),
        None => message,
    };
    let message = message.replace(uri, "{uri}").to_ascii_lowercase();
    [
        "resource {uri} not found",
        "resource not found: {uri}",
        "unknown resource: {uri}",
    ]
    .iter()
    .any(|known| message.starts_with(known))
}

/// The data of the error, with the URI as a member. Data that is not an object is kept as it is.
fn with_uri(data: Option<RawJson>, uri: &str) -> RawJson {
    let Some(data) = data else {
        return serde_json::json!({ "uri": uri }).into();
    };
    match data.object() {
        Some(mut members) if members.get("uri").is_none() => {
            members.set("uri", RawJson::string(uri).as_str().to_owned());
            members.write()
        }
        _ => data.clone(),
    }
}

fn source_failed(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}
