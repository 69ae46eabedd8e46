//! Suggestions for what is being typed.

use std::collections::BTreeMap;

use serde_json::json;
use tidegate_core::{BoxFuture, Call, Caller, Code, Error, Outcome, Result};

use super::member;

/// What the protocol lets a completion hold.
const MOST_VALUES: usize = 100;

/// Gives every value that begins with what was typed, in the order in which they are shown.
pub(crate) type Completer<S> = for<'a> fn(&'a S, Typed<'a>) -> BoxFuture<'a, Result<Vec<String>>>;

/// What has been typed so far, and into what.
pub(crate) struct Typed<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) value: String,
    /// The arguments that are there already.
    pub(crate) others: BTreeMap<String, String>,
}

/// The name of the argument that a call is about.
pub(crate) fn argument(call: &Call) -> Result<String> {
    let params = call.params.object().unwrap_or_default();
    member(&params, "argument").string("name").ok_or_else(|| {
        let message = "`argument` must be an object with `name` and `value`";
        Error::client(Code::InvalidParams, message)
    })
}

pub(super) async fn complete<S>(
    state: &S,
    call: &Call,
    completer: Option<Completer<S>>,
) -> Result<Outcome> {
    let values = match completer {
        None => Vec::new(),
        Some(completer) => completer(state, typed(call)).await?,
    };
    Ok(suggested(&values))
}

/// The answer with these values, or as many of them as it may hold.
pub(crate) fn suggested(values: &[String]) -> Outcome {
    let shown = &values[..values.len().min(MOST_VALUES)];
    let completion = json!({
        "values": shown,
        "total": values.len(),
        "hasMore": values.len() > shown.len(),
    });
    Outcome::complete(json!({ "completion": completion }).into())
}

pub(crate) fn typed(call: &Call) -> Typed<'_> {
    let params = call.params.object().unwrap_or_default();
    let context = member(&params, "context");
    let others = context.get("arguments");
    let others = others.and_then(|text| serde_json::from_str(text).ok());
    Typed {
        caller: &call.caller,
        value: member(&params, "argument")
            .string("value")
            .unwrap_or_default(),
        others: others.unwrap_or_default(),
    }
}
