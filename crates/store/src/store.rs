//! The database of a data folder. It is opened on first use, and reopened after a failure, so that
//! the gateway can serve its other sources meanwhile.

mod failure;
mod follow;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, Semaphore, watch};

use crate::events::EventSender;
use crate::sqlite::{Database, from_sqlx};
use crate::{Result, StoreError, StoreErrorKind};
use failure::{LastFailure, OperationKind};

/// The name of the database file in the data folder.
const FILE_NAME: &str = "tidegate.db";

/// How long to wait for running operations when closing.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// The database of a data folder. Cheap to create; see [`Store::run`] for change events.
pub struct Store {
    path: PathBuf,
    database: Mutex<Option<Arc<Database>>>,
    /// Serialises opening.
    opening: Semaphore,
    closed: AtomicBool,
    last_failure: LastFailure,
    /// Wakes the poller: this process wrote something, or frequent polling began.
    wake_poller: Notify,
    events: EventSender,
    following: watch::Sender<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// Not used yet.
    Closed,
    Open,
    /// It cannot be opened, or the last operation failed.
    Failing {
        open: bool,
        kind: StoreErrorKind,
        /// Safe to show to clients.
        message: &'static str,
    },
}

impl Store {
    /// The database in this folder. Opens and creates nothing yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            path: folder.join(FILE_NAME),
            database: Mutex::default(),
            opening: Semaphore::new(1),
            closed: AtomicBool::new(false),
            last_failure: LastFailure::default(),
            wake_poller: Notify::new(),
            events: EventSender::new(),
            following: watch::Sender::new(false),
        }
    }

    pub fn state(&self) -> StoreState {
        let database = self.current();
        let failing = |error: &StoreError| StoreState::Failing {
            open: database.is_some(),
            kind: error.kind(),
            message: error.public_message(),
        };
        if let Some(Err(error)) = database.as_ref().map(|database| database.check_in_place()) {
            return failing(&error);
        }
        match (self.last_failure.current(), &database) {
            (Some(error), _) => failing(&error),
            (None, Some(_)) => StoreState::Open,
            (None, None) => StoreState::Closed,
        }
    }

    /// Opens the database unless it is open. Fails immediately if opening has just failed.
    pub async fn open(&self) -> Result<()> {
        self.database().await.map(drop)
    }

    /// Closes the file. Later operations fail.
    pub async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        if let Some(database) = self.current() {
            // Operations that still run after the timeout are aborted when the process exits.
            let closed = tokio::time::timeout(CLOSE_TIMEOUT, database.close());
            closed.await.ok();
        }
    }

    /// The open database, after checking that its file is still in place.
    pub(crate) async fn database(&self) -> Result<Arc<Database>> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(self.error(StoreErrorKind::Busy, "closed for shutdown"));
        }
        if let Some(database) = self.current_in_place() {
            return Ok(database);
        }
        // The semaphore is never closed, so this cannot fail.
        let _permit = self.opening.acquire().await;
        if let Some(database) = self.current_in_place() {
            return Ok(database);
        }
        if let Some(error) = self.last_failure.blocking_reopen() {
            return Err(StoreError::repeated(&error));
        }
        let opened = self.reopen().await;
        let opened = self.last_failure.record(opened, OperationKind::Read)?;
        // A write failure of the previous file does not apply to this one.
        self.last_failure.clear();
        Ok(opened)
    }

    async fn reopen(&self) -> Result<Arc<Database>> {
        if let Some(previous) = self.current() {
            tracing::warn!(file = %self.path.display(), "database file was moved or replaced; reopening");
            // SQLite must not have both files open: they share the name of the write-ahead log.
            let closed = tokio::time::timeout(CLOSE_TIMEOUT, previous.close()).await;
            closed.map_err(|_| self.error(StoreErrorKind::Busy, "still in use"))?;
            self.slot().take();
            previous.remove_stale_wal()?;
        }
        let opened = Arc::new(Database::open(&self.path).await?);
        *self.slot() = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn current_in_place(&self) -> Option<Arc<Database>> {
        self.current()
            .filter(|database| database.check_in_place().is_ok())
    }

    fn current(&self) -> Option<Arc<Database>> {
        self.slot().clone()
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Database>>> {
        self.database.lock()
    }

    fn error(&self, kind: StoreErrorKind, detail: &str) -> StoreError {
        StoreError::new(kind, self.path.display(), detail)
    }

    /// Converts the result of a read, and records it for [`Store::state`].
    pub(crate) fn finish_read<T>(&self, result: sqlx::Result<T>) -> Result<T> {
        let result = result.map_err(|error| from_sqlx(&self.path, error));
        self.last_failure.record(result, OperationKind::Read)
    }

    /// Converts the result of a write, and announces it. A write to a file that is no longer in
    /// place is an error, because no other process will see it.
    pub(crate) fn finish_write<T>(
        &self,
        database: &Database,
        result: sqlx::Result<T>,
    ) -> Result<T> {
        self.wake_poller.notify_one();
        self.record_write(database, result)
    }

    fn record_write<T>(&self, database: &Database, result: sqlx::Result<T>) -> Result<T> {
        let result = result.map_err(|error| from_sqlx(&self.path, error));
        let result = result.and_then(|value| database.check_in_place().map(|()| value));
        self.last_failure.record(result, OperationKind::Write)
    }
}
