//! What a server answers, in the core's client.

use std::time::Duration;

use serde_json::value::RawValue;
use tidegate_core::{
    CacheHint, CacheScope, Code, Error, ErrorOrigin, Object, Outcome, RawJson, Result, bounded_list,
};

use super::super::{Era, Revision};
use crate::{RpcError, codes};

/// More pages than any user goes to.
const MOST_PAGES: usize = 64;

/// A result of a server. One without a type is complete; one of a type we do not know is no result,
/// and so is a task where it was not said that tasks are welcome.
pub fn outcome(revision: Revision, result: &RawJson, tasks: bool) -> Result<Outcome> {
    let not_an_object = || broken("the source's result is not an object");
    if revision.era() == Era::Legacy {
        // Whoever reads its members will see whether they are good.
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
            let hint = hint(&members);
            Ok(Outcome::Complete {
                result: result.clone(),
                hint,
            })
        }
        Some("input_required") => Ok(Outcome::InputRequired(result.clone())),
        Some("task") if tasks => Ok(Outcome::Task(result.clone())),
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

/// An error of a server, to the reading of this URI if it was one. Not found is one thing in the
/// core, whatever its number was.
pub fn failure(uri: Option<&str>, error: RpcError) -> Error {
    let RpcError {
        code,
        message,
        data,
    } = error;
    let names_a_uri = data
        .as_ref()
        .and_then(RawJson::object)
        .is_some_and(|data| data.get("uri").is_some());
    let words = message.to_ascii_lowercase();
    let says_not_found = words.contains("not found") || words.contains("unknown resource");
    let numbers = codes::of(Code::ResourceNotFound);
    // Zero is what some servers answer to everything.
    let not_found = code == numbers.legacy
        || code == numbers.modern && (names_a_uri || says_not_found)
        || code == 0 && says_not_found;
    match uri {
        Some(uri) if not_found => Error::resource_not_found(uri),
        _ => {
            let error = Error::new(Code::Source(code), ErrorOrigin::Source, message);
            match data {
                Some(data) => error.with_data(data),
                None => error,
            }
        }
    }
}

fn broken(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}

/// The pages that the user must go to before a call can be made, where that is why it failed.
pub fn url_elicitations(error: &Error) -> Option<Vec<RawJson>> {
    if error.code() != Code::Source(codes::URL_ELICITATION_REQUIRED) {
        return None;
    }
    let data = error.data()?.object()?;
    let pages: Vec<&RawValue> = bounded_list(data.get("elicitations")?, MOST_PAGES).ok()?;
    let pages: Vec<_> = pages
        .iter()
        .map(|page| RawJson::copy_of(page.get()))
        .filter(RawJson::is_object)
        .collect();
    (!pages.is_empty()).then_some(pages)
}

/// The same error with other names for what the user must do elsewhere.
pub fn rename_elicitation_ids(error: Error, rename: impl Fn(&str) -> String) -> Error {
    let Some(pages) = url_elicitations(&error) else {
        return error;
    };
    let renamed = pages.iter().map(|page| {
        let mut members = page.object().unwrap_or_default();
        if let Some(theirs) = members.string("elicitationId") {
            let ours = RawJson::string(&rename(&theirs)).as_str().to_owned();
            members.set("elicitationId", ours);
        }
        members.write().as_str().to_owned()
    });
    let renamed = renamed.collect::<Vec<_>>().join(",");
    let mut data = error.data().and_then(RawJson::object).unwrap_or_default();
    data.set("elicitations", format!("[{renamed}]"));
    let data = data.write();
    error.with_data(data)
}
