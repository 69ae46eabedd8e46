//! The error by which a server of 2025-11-25 fails a call because the user must visit URLs first.

use serde_json::value::RawValue;
use tidegate_core::{Code, Error, RawJson, bounded_list};

use crate::codes;

/// Elicitations in one error.
const MAX_ELICITATIONS: usize = 64;

/// The params of the URL elicitations that an error requires; `None` for any other error.
pub fn url_elicitations(error: &Error) -> Option<Vec<RawJson>> {
    if error.code() != Code::Source(codes::URL_ELICITATION_REQUIRED) {
        return None;
    }
    let data = error.data()?.object()?;
    let elicitations = data.get("elicitations")?;
    let elicitations: Vec<&RawValue> = bounded_list(elicitations, MAX_ELICITATIONS).ok()?;
    let elicitations: Vec<_> = elicitations
        .iter()
        .map(|params| RawJson::copy_of(params.get()))
        .filter(RawJson::is_object)
        .collect();
    (!elicitations.is_empty()).then_some(elicitations)
}

/// The same error with other elicitation ids.
pub fn rename_elicitation_ids(error: Error, rename: impl Fn(&str) -> String) -> Error {
    let Some(elicitations) = url_elicitations(&error) else {
        return error;
    };
    let renamed = elicitations.iter().map(|params| {
        let mut members = params.object().unwrap_or_default();
        if let Some(id) = members.string("elicitationId") {
            let id = RawJson::string(&rename(&id)).as_str().to_owned();
            members.set("elicitationId", id);
        }
        members.write().as_str().to_owned()
    });
    let renamed = renamed.collect::<Vec<_>>().join(",");
    let mut data = error.data().and_then(RawJson::object).unwrap_or_default();
    data.set("elicitations", format!("[{renamed}]"));
    let data = data.write();
    error.with_data(data)
}
