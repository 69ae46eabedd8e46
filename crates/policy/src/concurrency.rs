//! The layer that bounds how many calls a source has at once. The rest wait in order, and not for
//! ever.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Layer, Next, Reply, Result, truncate_for_message,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// Lets so many calls through at once.
pub struct Concurrency {
    at_once: Arc<Semaphore>,
    /// As many may wait.
    queue: Arc<Semaphore>,
    wait: Duration,
}

impl Concurrency {
    /// Calls at once, and how long one more may wait for its turn.
    pub fn new(max_concurrent_calls: usize, wait: Duration) -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(max_concurrent_calls)),
            queue: Arc::new(Semaphore::new(max_concurrent_calls)),
            wait,
        }
    }

    async fn turn(&self, source: &str) -> Result<OwnedSemaphorePermit> {
        match Arc::clone(&self.at_once).try_acquire_owned() {
            Ok(room) => return Ok(room),
            Err(TryAcquireError::Closed) => return Err(refused(source, "is closed")),
            Err(TryAcquireError::NoPermits) => {}
        }
        let Ok(_in_line) = self.queue.try_acquire() else {
            return Err(refused(source, "has as many calls waiting as it may"));
        };
        let room = Arc::clone(&self.at_once).acquire_owned();
        match tokio::time::timeout(self.wait, room).await {
            Ok(Ok(room)) => Ok(room),
            _ => Err(refused(source, "did not get to this call in time")),
        }
    }
}

impl Layer for Concurrency {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let room = self.turn(call.source.as_str()).await?;
            match next.run(call).await? {
                Reply::Stream(events) => {
                    let held = events.map(move |event| {
                        let _in_use = &room;
                        event
                    });
                    Ok(Reply::Stream(held.boxed()))
                }
                done @ Reply::Done(_) => Ok(done),
            }
        })
    }
}

fn refused(source: &str, why: &str) -> Error {
    let message = format!(
        "the source `{}` {why}; try again later",
        truncate_for_message(source)
    );
    Error::new(Code::SourceDown, ErrorOrigin::Gateway, message)
}
