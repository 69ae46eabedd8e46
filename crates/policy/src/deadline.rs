//! The layer that ends calls that take too long.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Event, EventStream, Layer, Next, Reply, Result,
};
use tokio::time::{Instant, timeout_at};

/// Limits the time between two events of a call, and its total time. Change streams have no deadline.
#[derive(Clone, Copy)]
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
            let first_event = (Instant::now() + self.call_timeout).min(end);
            match timeout_at(first_event, next.run(call)).await {
                Ok(Ok(Reply::Stream(events))) => Ok(Reply::Stream(self.limit(events, end))),
                Ok(reply) => reply,
                Err(_) => Err(self.timed_out(end)),
            }
        })
    }
}

impl Deadline {
    fn limit(self, events: EventStream, end: Instant) -> EventStream {
        let state = Some((events, false));
        stream::unfold(state, move |state| async move {
            let (mut events, has_question) = state?;
            // A client may take longer than a server to answer a question, so only the total timeout
            // applies.
            let next_event = match has_question {
                true => end,
                false => (Instant::now() + self.call_timeout).min(end),
            };
            match timeout_at(next_event, events.next()).await {
                Ok(None) => None,
                Ok(Some(event)) if Event::is_last(&event) => Some((event, None)),
                Ok(Some(event)) => {
                    let has_question = matches!(event, Ok(Event::Question(_)));
                    Some((event, Some((events, has_question))))
                }
                Err(_) if has_question => Some((Err(self.not_answered()), None)),
                Err(_) => Some((Err(self.timed_out(end)), None)),
            }
        })
        .boxed()
    }

    /// The silence of a client is no failure of the source.
    fn not_answered(self) -> Error {
        let seconds = self.max_call_duration.as_secs_f64();
        let message = format!(
            "the call timed out: the client did not answer the source's question within {seconds} s \
             (`max_call_duration`)"
        );
        Error::new(Code::Timeout, ErrorOrigin::Client, message)
    }

    fn timed_out(self, end: Instant) -> Error {
        let message = if Instant::now() < end {
            let seconds = self.call_timeout.as_secs_f64();
            format!(
                "the call timed out: no response or progress for {seconds} s (`call_timeout`); raise it in `limits` or at the source"
            )
        } else {
            let seconds = self.max_call_duration.as_secs_f64();
            format!(
                "the call timed out: not complete after {seconds} s (`max_call_duration`); raise it in `limits` or at the source"
            )
        };
        Error::new(Code::Timeout, ErrorOrigin::Source, message)
    }
}

#[cfg(test)]
mod tests;
