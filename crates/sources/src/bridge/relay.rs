//! A request in place of the one that a tool got, and its reply as the tool's.

use std::sync::Arc;

use futures_util::StreamExt as _;
use tidegate_core::{
    Ask, Call, Error, Event, Index, Lookout, Object, Outcome, RawJson, Reply, Request, Result,
};

use crate::declare::fault;

/// What belongs to the client's request, whatever it asks: it goes with the one in its place.
const OF_THE_REQUEST: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// What a tool asks of the gateway for its caller.
pub(super) struct Inner<'a> {
    pub(super) ask: Ask,
    /// What the method takes, as JSON by name.
    pub(super) params: Vec<(&'a str, String)>,
}

/// Everything that a caller can use where it asks. Made off the threads that serve calls: with very
/// much to index it may take a while.
pub(super) async fn index_for(lookout: &Lookout, call: &Call) -> Result<Arc<Index>> {
    let (lookout, call) = (lookout.clone(), call.clone());
    let making = move || lookout.index(&call.scope, &call.audience());
    let made = tokio::task::spawn_blocking(making).await;
    made.unwrap_or_else(
        |cause| Err(Error::internal("the index could not be made").caused_by(cause)),
    )
}

/// Makes the request, and turns its result into that of a tool. An error is one the model should
/// see: it may know better.
pub(super) async fn relay(
    lookout: &Lookout,
    call: &Call,
    inner: Inner<'_>,
    turn: impl Fn(RawJson) -> RawJson + Send + 'static,
) -> Reply {
    match lookout.handle(request(call, inner)).await {
        Ok(Reply::Done(outcome)) => Reply::Done(turned(outcome, &turn)),
        Ok(Reply::Stream(events)) => {
            let events = events.map(move |event| match event {
                Ok(Event::Done(outcome)) => Ok(Event::Done(turned(outcome, &turn))),
                Err(error) => Ok(Event::Done(refused(&error))),
                other => other,
            });
            Reply::Stream(events.boxed())
        }
        Err(error) => Reply::Done(refused(&error)),
    }
}

fn request(call: &Call, inner: Inner<'_>) -> Request {
    let given = call.params.object().unwrap_or_default();
    let mut params = Object::default();
    for (name, value) in inner.params {
        params.set(name, value);
    }
    for name in OF_THE_REQUEST {
        if let Some(value) = given.get(name) {
            params.set(name, value.to_owned());
        }
    }
    Request {
        correlation: call.correlation,
        caller: Arc::clone(&call.caller),
        scope: call.scope.clone(),
        // On the wire it is still the call of a tool.
        label: call.label,
        terms: call.terms.clone(),
        ask: inner.ask,
        params: params.write(),
        continues: given.get("requestState").is_some() || given.get("inputResponses").is_some(),
        precondition: None,
    }
}

fn turned(outcome: Outcome, turn: &impl Fn(RawJson) -> RawJson) -> Outcome {
    match outcome {
        Outcome::Complete { result, .. } => Outcome::complete(turn(result)),
        Outcome::InputRequired(_) | Outcome::Asks { .. } | Outcome::Task(_) => outcome,
    }
}

fn refused(error: &Error) -> Outcome {
    Outcome::complete(fault(error.message()))
}
