//! One database for all who keep something in it. It is opened when it is first needed, and again
//! and again where that fails: a gateway serves the rest of its sources meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, Semaphore, broadcast, watch};

use crate::changes::{Listeners, Told};
use crate::open::Database;
use crate::{Kind, Result, StoreError};

/// The name of the file in the data folder.
const FILE: &str = "tidegate.db";

/// After a failure, so long nobody tries again: many calls must not become many attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// How long letting go of the file may take.
const LONGEST_CLOSE: Duration = Duration::from_secs(3);

/// How long a write that failed is held against the database, where none is tried again.
const REMEMBERED: Duration = Duration::from_secs(300);

/// Changes that one who is told of them may be behind.
const BACKLOG: usize = 1024;

/// The database of a data folder.
pub struct Store {
    file: PathBuf,
    database: Mutex<Option<Arc<Database>>>,
    /// One opens it for all.
    opening: Semaphore,
    closed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    /// Something was written by this process, or someone began to listen.
    pub(crate) stirred: Notify,
    pub(crate) told: broadcast::Sender<Told>,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) followed: watch::Sender<bool>,
}

/// How the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody has needed it yet.
    Closed,
    Open,
    /// It cannot be opened, or did not do what it was asked for last.
    Failing {
        open: bool,
        kind: Kind,
        /// For clients, too.
        message: &'static str,
    },
}

struct Failure {
    at: Instant,
    /// What can still be read says nothing of what can be written.
    of_write: bool,
    error: Arc<StoreError>,
}

impl Store {
    /// The database in this folder. Nothing is opened or made yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            file: folder.join(FILE),
            database: Mutex::default(),
            opening: Semaphore::new(1),
            closed: AtomicBool::new(false),
            failure: Mutex::default(),
            stirred: Notify::new(),
            told: broadcast::Sender::new(BACKLOG),
            listeners: Arc::default(),
            followed: watch::Sender::new(false),
        }
    }

    pub fn state(&self) -> State {
        let database = self.opened();
        let moved = database.as_ref().and_then(|one| one.in_place().err());
        let failing = |error: &StoreError| State::Failing {
            open: database.is_some(),
            kind: error.kind(),
            message: error.for_clients(),
        };
        if let Some(error) = moved {
            return failing(&error);
        }
        let failure = self.failure();
        let failure = failure
            .as_ref()
            .filter(|one| !one.of_write || one.at.elapsed() < REMEMBERED);
        match (failure, &database) {
            (Some(Failure { error, .. }), _) => failing(error),
            (None, Some(_)) => State::Open,
            (None, None) => State::Closed,
        }
    }

    /// Opens it, unless it is open or that failed a moment ago.
    pub async fn open(&self) -> Result<()> {
        self.database().await.map(drop)
    }

    /// Lets go of the file. What is asked of the store afterwards fails.
    pub async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        if let Some(database) = self.opened() {
            // What is still being read or written then is cut off, as by the end of the process.
            tokio::time::timeout(LONGEST_CLOSE, database.close())
                .await
                .ok();
        }
    }

    /// The database that lies in the folder now.
    pub(crate) async fn database(&self) -> Result<Arc<Database>> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(StoreError::new(Kind::Busy, &self.file, "it was closed"));
        }
        if let Some(database) = self.in_place() {
            return Ok(database);
        }
        // Never closed, so this is never an error.
        let _turn = self.opening.acquire().await;
        if let Some(database) = self.in_place() {
            return Ok(database);
        }
        if let Some(error) = self.failed_just_now() {
            return Err(StoreError::again(&error));
        }
        let opened = self.open_anew().await;
        let opened = self.remembered(opened, false)?;
        // Of what could not be written before, this one knows nothing.
        self.failure().take();
        Ok(opened)
    }

    async fn open_anew(&self) -> Result<Arc<Database>> {
        if let Some(old) = self.opened() {
            tracing::warn!(file = %self.file.display(), "the database was moved away or replaced; what lies there now is opened");
            // First: SQLite must not have both open, for they may share a log of writes.
            let closed = tokio::time::timeout(LONGEST_CLOSE, old.close()).await;
            closed
                .map_err(|_| StoreError::new(Kind::Busy, &self.file, "it is still being used"))?;
            self.slot().take();
            old.clear_away()?;
        }
        let opened = Arc::new(Database::open(&self.file).await?);
        *self.slot() = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn in_place(&self) -> Option<Arc<Database>> {
        self.opened().filter(|one| one.in_place().is_ok())
    }

    fn opened(&self) -> Option<Arc<Database>> {
        self.slot().clone()
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Database>>> {
        self.database.lock()
    }

    /// Says what the database's word means, and remembers how it is.
    pub(crate) fn noted<T>(&self, done: sqlx::Result<T>) -> Result<T> {
        let done = done.map_err(|error| StoreError::of_sql(&self.file, error));
        self.remembered(done, false)
    }

    /// The same of a write, which is done only where others can see it.
    pub(crate) fn noted_write<T>(&self, database: &Database, done: sqlx::Result<T>) -> Result<T> {
        let done = done.map_err(|error| StoreError::of_sql(&self.file, error));
        let done = done.and_then(|done| database.in_place().map(|()| done));
        self.remembered(done, true)
    }

    fn remembered<T>(&self, done: Result<T>, of_write: bool) -> Result<T> {
        let mut failure = self.failure();
        match done {
            Ok(done) => {
                failure.take_if(|failure| of_write || !failure.of_write);
                Ok(done)
            }
            Err(error) => {
                let error = Arc::new(error);
                let again = StoreError::again(&error);
                let at = Instant::now();
                *failure = Some(Failure {
                    at,
                    of_write,
                    error,
                });
                Err(again)
            }
        }
    }

    fn failed_just_now(&self) -> Option<Arc<StoreError>> {
        let failure = self.failure();
        // That it is gone is a reason to open what is there.
        let counts = |one: &&Failure| one.at.elapsed() < PAUSE && one.error.kind() != Kind::Gone;
        let lately = failure.as_ref().filter(counts);
        lately.map(|one| Arc::clone(&one.error))
    }

    fn failure(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failure.lock()
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;
    use tidegate_core::RawJson;

    use super::*;
    use crate::memory::{Draft, Owner, Place, Put, Quota, memories};

    fn draft(key: &str, value: &str) -> Draft {
        Draft {
            place: Place {
                namespace: "default".to_owned(),
                key: key.to_owned(),
            },
            value: RawJson::string(value),
            tags: Vec::new(),
            expires: None,
            times: None,
        }
    }

    const PLENTY: Quota = Quota {
        entries: u64::MAX,
        bytes: u64::MAX,
    };

    fn owner() -> Owner {
        Owner {
            source: "memory".to_owned(),
            principal: "ada".to_owned(),
        }
    }

    /// SQLite has a limit of its own that fails as a full disk does.
    #[tokio::test]
    async fn a_full_disk_is_told_and_got_over() {
        let folder = TempDir::with_prefix("tidegate-store-").unwrap();
        let store = Arc::new(Store::in_folder(folder.path()));
        let kept = memories(&store);
        kept.put(&owner(), &draft("first", "x"), PLENTY)
            .await
            .unwrap();
        let limit = async |sql: &'static str| {
            let mut writing = store.database().await.unwrap().write().await.unwrap();
            sqlx::query(sql).execute(&mut *writing).await.unwrap();
        };
        limit("PRAGMA max_page_count = 40").await;
        let large = draft("large", &"x".repeat(1 << 20));
        let error = kept.put(&owner(), &large, PLENTY).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Full, "{error}");
        assert!(error.to_string().contains("no room is left"), "{error}");
        assert!(matches!(
            store.state(),
            State::Failing {
                kind: Kind::Full,
                ..
            }
        ));
        let first = draft("first", "").place;
        assert!(
            kept.get(&owner(), &first).await.unwrap().is_some(),
            "reading goes on"
        );
        limit("PRAGMA max_page_count = 4000000").await;
        assert_eq!(
            kept.put(&owner(), &large, PLENTY).await.unwrap(),
            Put::Added
        );
        assert_eq!(store.state(), State::Open);
    }

    #[tokio::test]
    async fn a_file_that_is_held_is_told() {
        let folder = TempDir::with_prefix("tidegate-store-").unwrap();
        let stores = [(); 2].map(|()| Arc::new(Store::in_folder(folder.path())));
        let held = stores[0].database().await.unwrap().write().await.unwrap();
        // Opening needs no turn among the writers.
        stores[1].open().await.unwrap();
        let kept = memories(&stores[1]);
        let error = kept
            .put(&owner(), &draft("k", "x"), PLENTY)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), Kind::Locked, "{error}");
        drop(held);
        while kept.put(&owner(), &draft("k", "x"), PLENTY).await.is_err() {}
        assert_eq!(stores[1].state(), State::Open);
    }
}
