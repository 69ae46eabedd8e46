//! Waiting for something to happen, never for a time to pass.
//!
//! Must not know: what is waited for.

use std::future::Future;
use std::time::Duration;

/// Longer than anything takes on the slowest machine: reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a condition is looked at that cannot be awaited.
const GLANCE: Duration = Duration::from_millis(5);

/// Awaits what must come; panics if it does not.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} seconds for {what}", PATIENCE.as_secs()),
    }
}

/// Looks again and again until a condition holds; panics if it never does.
pub async fn eventually<F>(what: &str, mut condition: impl FnMut() -> F)
where
    F: Future<Output = bool>,
{
    sooner_or_later(what, || {
        let condition = condition();
        async { condition.await.then_some(()) }
    })
    .await;
}

/// Tries again and again until something can be had; panics if it never can.
pub async fn sooner_or_later<T, F>(what: &str, mut attempt: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    soon(what, async {
        loop {
            match attempt().await {
                Some(value) => return value,
                None => tokio::time::sleep(GLANCE).await,
            }
        }
    })
    .await
}
