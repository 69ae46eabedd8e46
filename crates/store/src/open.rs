//! Opens the file: looks whose it is, takes the steps that are missing, checks that it is whole.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{
    ConnectOptions as _, Connection as _, Sqlite, SqliteConnection, SqlitePool, Transaction,
};

use crate::folder::{self, Footprint, Found};
use crate::migrations::{self, Mark};
use crate::{Kind, Result, StoreError};

/// How long another process may hold the file before we give up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads that go on at once.
const READERS: u32 = 4;

/// Before an open that finds the file held is tried again: turning on the log of writes needs the
/// file for a moment alone, and SQLite does not wait for that by itself.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// The database, open.
pub(crate) struct Database {
    file: PathBuf,
    /// SQLite has one writer at a time, so has this process.
    writer: SqlitePool,
    readers: SqlitePool,
    /// The one who looks whether something was written.
    follower: SqlitePool,
    /// The file itself, and its log of writes, as they were opened.
    opened: Footprint,
}

impl Database {
    pub(crate) async fn open(file: &Path) -> Result<Self> {
        let begun = Instant::now();
        loop {
            match Self::open_once(file).await {
                Err(error) if error.kind() == Kind::Locked && begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(BETWEEN_ATTEMPTS).await;
                }
                opened => return opened,
            }
        }
    }

    async fn open_once(file: &Path) -> Result<Self> {
        let failed = |error| StoreError::of_sql(file, error);
        if folder::look(file)? == Found::Database {
            // Only read: a file of somebody else's is left as it is.
            let mut looking = reading(file).connect().await.map_err(failed)?;
            let mark = Mark::read(&mut looking).await;
            looking.close().await.map_err(failed)?;
            mark.map_err(failed)?.check(file)?;
        }
        folder::prepare(file)?;
        let prepared = Footprint::of(file);
        let mut first = writing(file).connect().await.map_err(failed)?;
        if !migrations::are_done(&mut first).await.map_err(failed)? {
            migrations::migrate(&mut first, file).await?;
        }
        check(&mut first, file).await?;
        // There before the first goes: the last to go would take the log of writes along.
        let writer = pool(1).connect_with(writing(file)).await.map_err(failed)?;
        let opened = Footprint::of(file);
        first.close().await.map_err(failed)?;
        if !opened.is_of_file(prepared) {
            return Err(gone(file));
        }
        Ok(Self {
            file: file.to_owned(),
            writer,
            readers: pool(READERS).connect_lazy_with(reading(file)),
            follower: pool(1).connect_lazy_with(reading(file)),
            opened,
        })
    }

    /// Whether what lies in the folder is still what was opened. If not, what is written goes
    /// nowhere: a file that was removed lives on for those who have it open, unseen by all others.
    pub(crate) fn in_place(&self) -> Result<()> {
        match Footprint::of(&self.file).continues(self.opened) {
            true => Ok(()),
            false => Err(gone(&self.file)),
        }
    }

    /// Once it is closed: removes its log of writes where another file lies beside it now. SQLite
    /// would take one for the other's.
    pub(crate) fn clear_away(&self) -> Result<()> {
        folder::clear_away(&self.file, self.opened)
    }

    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// A transaction that may write. Dropped, it has done nothing.
    pub(crate) async fn write(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        self.writer.begin_with("BEGIN IMMEDIATE").await
    }

    /// A connection to follow what is written with. Whoever has it gives it back when the database
    /// is closed.
    pub(crate) async fn apart(&self) -> sqlx::Result<PoolConnection<Sqlite>> {
        self.follower.acquire().await
    }

    /// Waits until it is being closed.
    pub(crate) async fn closing(&self) {
        self.follower.close_event().await;
    }

    /// Waits for all who use it. The writer is the last: it takes the log of writes along.
    pub(crate) async fn close(&self) {
        self.follower.close().await;
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn gone(file: &Path) -> StoreError {
    let what = "it was moved away or replaced while it was in use";
    StoreError::new(Kind::Gone, file, what)
}

fn pool(connections: u32) -> PoolOptions<Sqlite> {
    // A connection to a file does not go stale, so none is tested before it is used.
    PoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
}

/// Each commit is on the disk before it is acknowledged (`FULL`), so neither the end of the process
/// nor of the power takes it back.
fn writing(file: &Path) -> SqliteConnectOptions {
    of(file)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // What is deleted is overwritten: people forget things for a reason. The words of the
        // index and the log of writes hold it for a while longer.
        .pragma("secure_delete", "ON")
        .pragma("journal_size_limit", "16777216")
}

fn reading(file: &Path) -> SqliteConnectOptions {
    of(file).read_only(true)
}

fn of(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .busy_timeout(PATIENCE)
        .disable_statement_logging()
}

/// Whether the pages of the file fit together.
async fn check(connection: &mut SqliteConnection, file: &Path) -> Result<()> {
    let checked = sqlx::query_as::<_, (String,)>("PRAGMA quick_check(1)");
    let (verdict,) = checked
        .fetch_one(connection)
        .await
        .map_err(|error| StoreError::of_sql(file, error))?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(StoreError::new(Kind::Corrupt, file, "the file is damaged").with_cause(verdict))
}
