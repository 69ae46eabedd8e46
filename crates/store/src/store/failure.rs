//! The last failure of the database, for its state and to limit attempts to reopen it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::{Result, StoreError, StoreErrorKind};

/// Pause after a failed open, so that many calls do not cause many attempts.
const REOPEN_DELAY: Duration = Duration::from_secs(1);

/// How long a failed write counts as the current state if no other write is attempted.
const WRITE_FAILURE_LIFETIME: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    Read,
    Write,
}

#[derive(Default)]
pub(super) struct LastFailure(Mutex<Option<Failure>>);

struct Failure {
    at: Instant,
    /// A successful read does not clear a failed write.
    operation: OperationKind,
    error: Arc<StoreError>,
}

impl LastFailure {
    /// The failure that describes the current state, if any.
    pub(super) fn current(&self) -> Option<Arc<StoreError>> {
        let is_current = |failure: &&Failure| {
            failure.operation == OperationKind::Read
                || failure.at.elapsed() < WRITE_FAILURE_LIFETIME
        };
        let failure = self.lock();
        let current = failure.as_ref().filter(is_current);
        current.map(|failure| Arc::clone(&failure.error))
    }

    /// A failure so recent that the database should not be reopened yet. A replaced file is
    /// reopened immediately.
    pub(super) fn blocking_reopen(&self) -> Option<Arc<StoreError>> {
        let blocks = |failure: &&Failure| {
            failure.at.elapsed() < REOPEN_DELAY && failure.error.kind() != StoreErrorKind::Replaced
        };
        let failure = self.lock();
        let blocking = failure.as_ref().filter(blocks);
        blocking.map(|failure| Arc::clone(&failure.error))
    }

    /// Remembers a failure, or clears it after a success of the same kind.
    pub(super) fn record<T>(&self, result: Result<T>, operation: OperationKind) -> Result<T> {
        let mut failure = self.lock();
        match result {
            Ok(value) => {
                failure.take_if(|failure| {
                    operation == OperationKind::Write || failure.operation == OperationKind::Read
                });
                Ok(value)
            }
            Err(error) => {
                let error = Arc::new(error);
                let returned = StoreError::repeated(&error);
                *failure = Some(Failure {
                    at: Instant::now(),
                    operation,
                    error,
                });
                Err(returned)
            }
        }
    }

    pub(super) fn clear(&self) {
        self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Failure>> {
        self.0.lock()
    }
}
