//! Reads beside the calls, so many at once: each may hold as much memory as a file may have.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};

const SEATS: usize = 16;

/// Where files are read.
pub(crate) struct Desk(Arc<Semaphore>);

impl Default for Desk {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(SEATS)))
    }
}

impl Desk {
    /// Does something that may take its time. It keeps its seat until it is done, also when nobody
    /// waits for it any more.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let seat = Arc::clone(&self.0).acquire_owned().await;
        let seated = move || {
            let done = work();
            drop(seat);
            done
        };
        spawn_blocking(seated).await
    }
}
