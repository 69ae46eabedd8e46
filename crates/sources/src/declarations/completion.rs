//! Argument completion.

use std::collections::BTreeMap;

use serde_json::json;
use tidegate_core::{BoxFuture, Call, Caller, Code, Error, Outcome, Result};

use super::params::object_member;

/// The protocol's limit on the values of one completion.
const MAX_VALUES: usize = 100;

/// Returns all values that start with the typed text, in display order.
pub(crate) type Completer<S> =
    for<'a> fn(&'a S, CompletionInput<'a>) -> BoxFuture<'a, Result<Vec<String>>>;

/// The text typed so far, and its context.
pub(crate) struct CompletionInput<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) typed: String,
    /// The arguments that already have values.
    pub(crate) other_arguments: BTreeMap<String, String>,
}

/// The name of the argument to complete.
pub(crate) fn argument_name(call: &Call) -> Result<String> {
    let params = call.params.object().unwrap_or_default();
    let name = object_member(&params, "argument").string("name");
    name.ok_or_else(|| {
        let message = "`argument` must be an object with `name` and `value`";
        Error::client(Code::InvalidParams, message)
    })
}

pub(crate) fn input(call: &Call) -> CompletionInput<'_> {
    let params = call.params.object().unwrap_or_default();
    let argument = object_member(&params, "argument");
    let context = object_member(&params, "context");
    let other_arguments = context.get("arguments");
    let other_arguments = other_arguments.and_then(|text| serde_json::from_str(text).ok());
    CompletionInput {
        caller: &call.caller,
        typed: argument.string("value").unwrap_or_default(),
        other_arguments: other_arguments.unwrap_or_default(),
    }
}

pub(super) async fn complete<S>(
    state: &S,
    call: &Call,
    completer: Option<Completer<S>>,
) -> Result<Outcome> {
    let values = match completer {
        None => Vec::new(),
        Some(completer) => completer(state, input(call)).await?,
    };
    Ok(outcome(&values))
}

/// The result with as many of these values as it may hold.
pub(crate) fn outcome(values: &[String]) -> Outcome {
    let included = &values[..values.len().min(MAX_VALUES)];
    let completion = json!({
        "values": included,
        "total": values.len(),
        "hasMore": values.len() > included.len(),
    });
    Outcome::complete(json!({ "completion": completion }).into())
}
