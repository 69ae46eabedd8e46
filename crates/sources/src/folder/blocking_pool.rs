//! A limit on concurrent file reads on the runtime's blocking threads. Each read may hold a whole
//! file in memory.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};

const MAX_CONCURRENT_READS: usize = 16;

pub(super) struct BlockingPool(Arc<Semaphore>);

impl Default for BlockingPool {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_READS)))
    }
}

impl BlockingPool {
    /// Runs blocking work. It holds its permit until it ends, even if the caller stops waiting.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let work = move || {
            let result = work();
            drop(permit);
            result
        };
        spawn_blocking(work).await
    }
}
