//! Waits for events, with a timeout that fails the test.
//!
//! Must not know: what is waited for.

use std::future::Future;
use std::time::Duration;

/// Longer than any operation takes on the slowest machine; reaching it is a failure.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Interval between checks of a condition that cannot be awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Awaits a future; panics if it does not complete in time.
pub async fn wait_for<T>(what: &str, future: impl Future<Output = T>) -> T {
    // Boxed: every level of async functions would hold a copy on the small stack of a test thread.
    wait_up_to(TIMEOUT, what, Box::pin(future)).await
}

/// Awaits a future that may take longer than other operations, such as a foreign test suite; panics
/// if it does not complete within `limit`.
pub async fn wait_up_to<T>(limit: Duration, what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(limit, future).await {
        Ok(value) => value,
        Err(_) => panic!("timed out after {} s: {what}", limit.as_secs()),
    }
}

/// Checks a condition repeatedly until it holds; panics if it does not in time.
pub async fn wait_until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    poll_for(what, async || condition().await.then_some(())).await;
}

/// Calls `attempt` repeatedly until it returns a value; panics if it does not in time.
pub async fn poll_for<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    wait_for(what, async {
        loop {
            match attempt().await {
                Some(value) => return value,
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    })
    .await
}
