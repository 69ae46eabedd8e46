//! Contains panics, guarantees that each event stream ends with an outcome or an error, and
//! records the step in which an error occurred.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt};

use crate::{Error, Event, EventStream, Reply, Result, Step};

/// Awaits a reply. A panic, also a later one in its stream, becomes an internal error of this call;
/// an error that does not know its step gets `step`.
pub(crate) async fn guard_reply(
    step: Step,
    reply: impl Future<Output = Result<Reply>>,
) -> Result<Reply> {
    match AssertUnwindSafe(reply).catch_unwind().await {
        Ok(Ok(Reply::Stream(events))) => Ok(Reply::Stream(guard_events(step, events))),
        Ok(reply) => reply.map_err(|error| error.at(step)),
        Err(panic) => Err(panic_error(panic.as_ref()).at(step)),
    }
}

/// Ends after the first outcome or error, and never without one.
fn guard_events(step: Step, events: EventStream) -> EventStream {
    let events = AssertUnwindSafe(events).catch_unwind().map(move |event| {
        let event = event.unwrap_or_else(|panic| Err(panic_error(panic.as_ref())));
        event.map_err(|error| error.at(step))
    });
    let incomplete = async move {
        let message = "the source ended its reply before it was complete";
        Err(Error::internal(message).at(step))
    };
    let events = events.chain(stream::once(incomplete));
    events
        .scan(false, |ended, event| {
            let was_ended = std::mem::replace(ended, Event::is_last(&event));
            std::future::ready((!was_ended).then_some(event))
        })
        .boxed()
}

fn panic_error(panic: &(dyn Any + Send)) -> Error {
    let cause = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    Error::internal("the call failed inside the gateway").with_cause(format!("panic: {cause}"))
}
