//! The layer that retries failed calls where that is safe: calls that never reached the source, and
//! idempotent ones.

use std::time::Duration;

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
                match attempt(next, call.clone()).await {
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

async fn attempt(next: Next<'_>, call: Call) -> Result<Reply> {
    next.run(call).await?.wait_for_first_event().await
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
