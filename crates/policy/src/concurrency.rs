//! The layer that limits the concurrent calls of a source. Further calls wait in a bounded queue, for
//! a bounded time.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Layer, Next, Reply, Result, Step,
    truncate_for_message,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// Limits concurrent calls.
pub struct Concurrency {
    permits: Arc<Semaphore>,
    /// Places in the queue: as many as there are permits.
    queue: Arc<Semaphore>,
    queue_timeout: Duration,
}

impl Concurrency {
    /// Allows `max_concurrent_calls` at a time, and as many more to wait for up to `queue_timeout`.
    pub fn new(max_concurrent_calls: usize, queue_timeout: Duration) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(max_concurrent_calls)),
            queue: Arc::new(Semaphore::new(max_concurrent_calls)),
            queue_timeout,
        }
    }

    async fn acquire(&self, source: &str) -> Result<OwnedSemaphorePermit> {
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => return Ok(permit),
            Err(TryAcquireError::Closed) => return Err(overloaded(source, "is shutting down")),
            Err(TryAcquireError::NoPermits) => {}
        }
        let Ok(_place) = self.queue.try_acquire() else {
            return Err(overloaded(source, "is at its limit of concurrent calls"));
        };
        let permit = Arc::clone(&self.permits).acquire_owned();
        match tokio::time::timeout(self.queue_timeout, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => {
                let waited = format!("was busy for {} s", self.queue_timeout.as_secs_f64());
                Err(overloaded(source, &waited))
            }
        }
    }
}

impl Layer for Concurrency {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let permit = self.acquire(call.source.as_str()).await?;
            Ok(next.run(call).await?.hold(permit))
        })
    }
}

fn overloaded(source: &str, problem: &str) -> Error {
    let message = format!(
        "source `{}` {problem}; retry later",
        truncate_for_message(source)
    );
    Error::new(Code::SourceDown, ErrorOrigin::Gateway, message).at(Step::Govern)
}

#[cfg(test)]
mod tests;
