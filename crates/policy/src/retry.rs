//! The layer that asks again where that is safe: what a source was never asked, and what does no
//! more when it is asked twice.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{BoxFuture, Call, Code, Error, ErrorOrigin, Layer, Next, Reply, Result};

/// The wait before the first further attempt; each next is four times as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// Asks again, so many times.
pub struct Retry {
    pub max_retries: u32,
}

impl Layer for Retry {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let mut wait = FIRST_WAIT;
            for _ in 0..self.max_retries {
                match begun(next.run(call.clone()).await).await {
                    Err(error) if may_repeat(&call, &error) => {
                        tokio::time::sleep(wait).await;
                        wait *= 4;
                    }
                    reply => return reply,
                }
            }
            next.run(call).await
        })
    }
}

/// Waits for the first sign of a reply: one that begins with an error is that error.
async fn begun(reply: Result<Reply>) -> Result<Reply> {
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

fn may_repeat(call: &Call, error: &Error) -> bool {
    let of_the_source = error.origin() == ErrorOrigin::Source;
    match error.code() {
        Code::SourceDown => of_the_source,
        Code::SourceFailed => of_the_source && call.idempotent,
        _ => false,
    }
}
