//! What a server answers, in the core's terms.

use std::time::Duration;

use tidegate_core::{CacheHint, CacheScope, Code, Error, Object, Outcome, RawJson, Result, Side};

use super::super::{Era, Method, Revision};
use crate::{RpcError, codes};

/// A result of a server. One without a type is complete; one of a type we do not know is no result.
pub fn outcome(revision: Revision, result: &RawJson) -> Result<Outcome> {
    let Some(members) = result.object() else {
        return Err(broken("the source's result is not an object"));
    };
    if revision.era() == Era::Legacy {
        return Ok(Outcome::Complete {
            result: result.clone(),
            hint: None,
        });
    }
    match members.string("resultType").as_deref() {
        None | Some("complete") => {
            let hint = hint(&members);
            Ok(Outcome::Complete {
                result: result.clone(),
                hint,
            })
        }
        Some("input_required") => Ok(Outcome::InputRequired(result.clone())),
        Some(_) => Err(broken(
            "the source's result is of a type that was not asked for",
        )),
    }
}

fn hint(result: &Object<'_>) -> Option<CacheHint> {
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

/// An error of a server. Not found is one thing in the core, whatever its number was.
pub fn failure(method: Method, uri: Option<&str>, error: RpcError) -> Error {
    let RpcError {
        code,
        message,
        data,
    } = error;
    let names_a_uri = data
        .as_ref()
        .and_then(RawJson::object)
        .is_some_and(|data| data.get("uri").is_some());
    let says_not_found = message.to_ascii_lowercase().contains("not found");
    let numbers = codes::of(Code::ResourceNotFound);
    let not_found =
        code == numbers.legacy || code == numbers.modern && (names_a_uri || says_not_found);
    match (method, uri) {
        (Method::ResourcesRead, Some(uri)) if not_found => Error::resource_not_found(uri),
        _ => {
            let error = Error::new(Code::Source(code), Side::Source, message);
            match data {
                Some(data) => error.with_data(data),
                None => error,
            }
        }
    }
}

fn broken(message: &str) -> Error {
    Error::new(Code::Internal, Side::Source, message)
}
