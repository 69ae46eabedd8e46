//! The layer that ends what takes too long.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Event, EventStream, Layer, Next, Reply, Result,
};
use tokio::time::{Instant, timeout_at};

/// Bounds the time of a call: between two signs of life, and in all.
pub struct Deadline {
    pub call_timeout: Duration,
    pub max_call_duration: Duration,
}

impl Layer for Deadline {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        if call.is_listen() {
            return next.run(call);
        }
        Box::pin(async move {
            let end = Instant::now() + self.max_call_duration;
            let first = (Instant::now() + self.call_timeout).min(end);
            match timeout_at(first, next.run(call)).await {
                Ok(Ok(Reply::Stream(events))) => {
                    Ok(Reply::Stream(bounded(events, self.call_timeout, end)))
                }
                Ok(reply) => reply,
                Err(_) => Err(too_late()),
            }
        })
    }
}

fn bounded(events: EventStream, between: Duration, end: Instant) -> EventStream {
    stream::unfold(Some((events, false)), move |state| async move {
        let (mut events, asked) = state?;
        // Someone who is asked something needs time to think.
        let next = if asked {
            end
        } else {
            (Instant::now() + between).min(end)
        };
        match timeout_at(next, events.next()).await {
            Ok(None) => None,
            Ok(Some(event @ (Ok(Event::Done(_)) | Err(_)))) => Some((event, None)),
            Ok(Some(event)) => {
                let asked = matches!(event, Ok(Event::Question(_)));
                Some((event, Some((events, asked))))
            }
            Err(_) => Some((Err(too_late()), None)),
        }
    })
    .boxed()
}

fn too_late() -> Error {
    Error::new(
        Code::Timeout,
        ErrorOrigin::Source,
        "the call took longer than it may and was ended",
    )
}
