//! The layer that retries failed calls where that is safe: calls that never reached the source, and
//! idempotent ones.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{BoxFuture, Call, Code, Error, ErrorOrigin, Layer, Next, Reply, Result};

/// The delay before the first retry. Each further delay is `BACKOFF_FACTOR` times as long.
const FIRST_DELAY: Duration = Duration::from_millis(100);

const BACKOFF_FACTOR: u32 = 4;

/// Retries a call up to `max_retries` times.
pub struct Retry {
    pub max_retries: u32,
}

impl Layer for Retry {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let mut delay = FIRST_DELAY;
            for _ in 0..self.max_retries {
                match first_event(next.run(call.clone()).await).await {
                    Err(error) if is_retryable(&call, &error) => {
                        tokio::time::sleep(delay).await;
                        delay *= BACKOFF_FACTOR;
                    }
                    reply => return reply,
                }
            }
            next.run(call).await
        })
    }
}

/// Waits for the first event of a reply: a stream that starts with an error becomes that error.
async fn first_event(reply: Result<Reply>) -> Result<Reply> {
    let mut events = match reply? {
        Reply::Stream(events) => events,
        done @ Reply::Done(_) => return Ok(done),
    };
    match events.next().await {
        Some(Err(error)) => Err(error),
        Some(first) => Ok(Reply::Stream(stream::iter([first]).chain(events).boxed())),
        None => Ok(Reply::Stream(stream::empty().boxed())),
    }
}

/// `SourceDown` means that the source never got the call. After `SourceFailed` it may have.
fn is_retryable(call: &Call, error: &Error) -> bool {
    let from_source = error.origin() == ErrorOrigin::Source;
    match error.code() {
        Code::SourceDown => from_source,
        Code::SourceFailed => from_source && call.idempotent,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
