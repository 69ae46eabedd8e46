//! A request in place of the one that a tool got, and its reply as the tool's.

use std::sync::Arc;

use tidegate_core::{
    Call, Code, Error, GatewayHandle, Object, Operation, Outcome, RawJson, Reply, Request, Result,
    SearchIndex, SourceId, truncate_for_message,
};

use crate::declare::{Stop, fault};

/// What belongs to the client's request, whatever it asks: it goes with the one in its place.
const OF_THE_REQUEST: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// What a tool asks of the gateway for its caller.
pub(super) struct Inner<'a> {
    pub(super) operation: Operation,
    /// What the method takes, as JSON by name.
    pub(super) params: Vec<(&'a str, String)>,
}

/// Everything that a caller can use where it asks. Made off the threads that serve calls: with very
/// much to index it may take a while.
pub(super) async fn index_for(
    gateway_handle: &GatewayHandle,
    call: &Call,
) -> Result<Arc<SearchIndex>> {
    let (gateway_handle, call) = (gateway_handle.clone(), call.clone());
    let making = move || gateway_handle.index(&call.scope, &call.viewer());
    let made = tokio::task::spawn_blocking(making).await;
    made.unwrap_or_else(|cause| {
        Err(Error::internal("the index could not be made").with_cause(cause))
    })
}

/// Refuses a source that is not there.
pub(super) fn check_source(index: &SearchIndex, wanted: Option<&str>) -> Result<(), Stop> {
    match wanted {
        Some(wanted) if !index.sources().any(|id| id.as_str() == wanted) => {
            let known: Vec<_> = index.sources().map(SourceId::as_str).collect();
            let (wanted, known) = (truncate_for_message(wanted), known.join(", "));
            let message = format!("there is no source `{wanted}`; there are {known}");
            Err(Stop::fault(message))
        }
        _ => Ok(()),
    }
}

/// Makes the request, and turns its result into that of a tool. An error is one the model should
/// see: it may know better.
pub(super) async fn relay(
    gateway_handle: &GatewayHandle,
    call: &Call,
    inner: Inner<'_>,
    turn: impl Fn(RawJson) -> RawJson + Send + 'static,
) -> Result<Reply> {
    let operation = inner.operation.clone();
    let answer = match request(call, inner) {
        Ok(request) => gateway_handle.handle(request).await,
        Err(error) => Err(error),
    };
    Reply::map_result(answer, move |outcome| match outcome {
        Ok(outcome) => Ok(turned(outcome, &turn)),
        Err(error) => Ok(refused(&operation, &error)),
    })
}

/// The request, if it is one that a client could have made itself.
fn request(call: &Call, inner: Inner<'_>) -> Result<Request> {
    let given = call.params.object().unwrap_or_default();
    let mut params = Object::default();
    for (name, value) in inner.params {
        params.set(name, value);
    }
    inner.operation.check(&params)?;
    for name in OF_THE_REQUEST {
        if let Some(value) = given.get(name) {
            params.set(name, value.to_owned());
        }
    }
    Ok(Request {
        correlation: call.correlation,
        caller: Arc::clone(&call.caller),
        scope: call.scope.clone(),
        // On the wire it is still the call of a tool.
        label: call.label,
        client: call.client.clone(),
        operation: inner.operation,
        params: params.write(),
        is_continuation: given.get("requestState").is_some()
            || given.get("inputResponses").is_some(),
        precondition: None,
    })
}

fn turned(outcome: Outcome, turn: &impl Fn(RawJson) -> RawJson) -> Outcome {
    match outcome {
        Outcome::Complete { result, .. } => Outcome::complete(turn(result)),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => outcome,
    }
}

/// An error in words for the model, which may never have seen the URI that was asked for.
fn refused(operation: &Operation, error: &Error) -> Outcome {
    let message = match operation {
        Operation::Resource { uri } if error.code() == Code::ResourceNotFound => format!(
            "`{}`: {}; find others with `gateway__list_resources` or `gateway__search`",
            truncate_for_message(uri),
            error.message()
        ),
        _ => error.message().to_owned(),
    };
    Outcome::complete(fault(&message))
}
