//! Keeps a panic inside the call it happened in, and a promise inside every stream: one end.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt};

use crate::{Error, Event, EventStream, Reply, Result};

/// Awaits a reply; a panic on the way, or later in its stream, is an internal error of this call.
pub(crate) async fn reply(reply: impl Future<Output = Result<Reply>>) -> Result<Reply> {
    match AssertUnwindSafe(reply).catch_unwind().await {
        Ok(Ok(Reply::Stream(events))) => Ok(Reply::Stream(guarded(events))),
        Ok(reply) => reply,
        Err(panic) => Err(panicked(panic.as_ref())),
    }
}

/// Ends after the first outcome or error, and never without one.
fn guarded(events: EventStream) -> EventStream {
    let events = AssertUnwindSafe(events)
        .catch_unwind()
        .map(|event| event.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))));
    let unfinished = || {
        Err(Error::internal(
            "the source ended its answer before it was complete",
        ))
    };
    let with_an_end = events.chain(stream::once(async move { unfinished() }));
    with_an_end
        .scan(false, |ended, event| {
            let go_on = !*ended;
            *ended = matches!(event, Ok(Event::Done(_)) | Err(_));
            std::future::ready(go_on.then_some(event))
        })
        .boxed()
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let cause = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned());
    Error::internal("the call failed inside the gateway").with_cause(format!("panic: {cause}"))
}
