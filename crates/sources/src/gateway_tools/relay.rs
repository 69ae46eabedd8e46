//! Sends a request on behalf of a tool call, and converts its reply into the reply of the tool.

use std::sync::Arc;

use tidegate_core::extensions::is_app_only;
use tidegate_core::{
    Call, Code, Error, GatewayHandle, Object, Operation, Outcome, Precondition, RawJson, Reply,
    Request, Result, SearchIndex, SourceId, truncate_for_message,
};

use crate::declarations::{ToolError, error_result};

/// Params that belong to the client's request and are copied to the relayed one.
const COPIED_PARAMS: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// The request to send instead of the tool call.
pub(super) struct RelayedRequest<'a> {
    pub(super) operation: Operation,
    /// Params of the method: name and JSON text.
    pub(super) params: Vec<(&'a str, String)>,
}

/// The index of everything that the caller can use at this endpoint. Built on the blocking pool,
/// because a large index takes a while.
pub(super) async fn index_for(gateway: &GatewayHandle, call: &Call) -> Result<Arc<SearchIndex>> {
    let (gateway, call) = (gateway.clone(), call.clone());
    let build = move || gateway.index(&call.scope, &call.viewer());
    let index = tokio::task::spawn_blocking(build).await;
    index.unwrap_or_else(|cause| {
        Err(Error::internal("the search index could not be built").with_cause(cause))
    })
}

/// Rejects an unknown source id.
pub(super) fn check_source(index: &SearchIndex, source: Option<&str>) -> Result<(), ToolError> {
    match source {
        Some(source) if !index.sources().any(|id| id.as_str() == source) => {
            let known: Vec<_> = index.sources().map(SourceId::as_str).collect();
            let (source, known) = (truncate_for_message(source), known.join(", "));
            let message = format!("no source named `{source}`; available: {known}");
            Err(ToolError::reported(message))
        }
        _ => Ok(()),
    }
}

/// Sends the request and converts its result. Errors become tool results, so that the model can
/// react to them.
pub(super) async fn relay(
    gateway: &GatewayHandle,
    call: &Call,
    relayed: RelayedRequest<'_>,
    convert: impl Fn(RawJson) -> RawJson + Send + 'static,
) -> Result<Reply> {
    let operation = relayed.operation.clone();
    let reply = match build_request(call, relayed) {
        Ok(request) => gateway.handle(request).await,
        Err(error) => Err(error),
    };
    Reply::map_result(reply, move |outcome| match outcome {
        Ok(outcome) => Ok(convert_outcome(outcome, &convert)),
        Err(error) => Ok(error_outcome(&operation, &error)),
    })
}

/// The request, checked like a client's request.
fn build_request(call: &Call, relayed: RelayedRequest<'_>) -> Result<Request> {
    let given = call.params.object().unwrap_or_default();
    let mut params = Object::default();
    for (name, value) in relayed.params {
        params.set(name, value);
    }
    relayed.operation.check(&params)?;
    for name in COPIED_PARAMS {
        if let Some(value) = given.get(name) {
            params.set(name, value.to_owned());
        }
    }
    Ok(Request {
        correlation_id: call.correlation_id,
        caller: Arc::clone(&call.caller),
        scope: call.scope.clone(),
        // For logs and metrics this is still the tool call.
        label: call.label,
        client: call.client.clone(),
        operation: relayed.operation,
        params: params.write(),
        is_continuation: given.get("requestState").is_some()
            || given.get("inputResponses").is_some(),
        precondition: Some(Precondition::new(reject_app_only)),
    })
}

fn convert_outcome(outcome: Outcome, convert: &impl Fn(RawJson) -> RawJson) -> Outcome {
    match outcome {
        Outcome::Complete { result, .. } => Outcome::complete(convert(result)),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => outcome,
    }
}

/// A message for the model, which may have guessed the URI.
fn error_outcome(operation: &Operation, error: &Error) -> Outcome {
    let message = match operation {
        Operation::Resource { uri }
            if matches!(error.code(), Code::ResourceNotFound | Code::MalformedUri) =>
        {
            format!(
                "`{}`: {}; find resources with `gateway__list_resources` or `gateway__search`",
                truncate_for_message(uri),
                error.message()
            )
        }
        _ => error.message().to_owned(),
    };
    Outcome::complete(error_result(&message))
}

/// Tools that only apps call are not for models.
fn reject_app_only(definition: &RawJson) -> Result<()> {
    match is_app_only(definition) {
        true => Err(Error::client(
            Code::UnknownTarget,
            "only an app can call this tool",
        )),
        false => Ok(()),
    }
}
