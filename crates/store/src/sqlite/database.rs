//! An open database: identified as ours, migrated, checked for damage, with its connection pools.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Sqlite, SqliteConnection, SqlitePool};

use super::error::{self, from_sqlx};
use super::file::{self, ExistingFile, FileIdentity};
use super::migrations::{self, DatabaseHeader};
use super::write_transaction::WriteTransaction;
use crate::{Result, StoreError, StoreErrorKind};

/// How long to wait for another process's lock, or for a free connection.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

const MAX_CONCURRENT_READS: u32 = 4;

/// Pause between attempts to open a locked file. Enabling the write-ahead log needs an exclusive
/// lock for a moment, and SQLite's busy timeout does not cover that.
const OPEN_RETRY_DELAY: Duration = Duration::from_millis(100);

pub(crate) struct Database {
    path: PathBuf,
    /// A single connection: SQLite allows one writer at a time.
    writer: SqlitePool,
    readers: SqlitePool,
    /// A single connection that polls for writes. It is always open, so that the write-ahead log stays
    /// when the writer's connection is replaced: the last connection to close deletes it.
    poller: SqlitePool,
    /// The files as they were when they were opened.
    opened: FileIdentity,
}

impl Database {
    /// Retries while another process holds the lock, up to a timeout.
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        let started = Instant::now();
        loop {
            match Self::try_open(path).await {
                Err(error)
                    if error.kind() == StoreErrorKind::Locked
                        && started.elapsed() < LOCK_TIMEOUT =>
                {
                    tokio::time::sleep(OPEN_RETRY_DELAY).await;
                }
                result => return result,
            }
        }
    }

    async fn try_open(path: &Path) -> Result<Self> {
        let failed = |error| from_sqlx(path, error);
        if file::inspect(path)? == ExistingFile::Sqlite {
            // Read-only: a file of another program must not be modified.
            let mut connection = read_options(path).connect().await.map_err(failed)?;
            let header = DatabaseHeader::read(&mut connection).await;
            connection.close().await.map_err(failed)?;
            header.map_err(failed)?.check(path)?;
        }
        file::create(path)?;
        let created = FileIdentity::of(path);
        let mut first = write_options(path).connect().await.map_err(failed)?;
        if !migrations::are_complete(&mut first).await.map_err(failed)? {
            migrations::run(&mut first, path).await?;
        }
        check_integrity(&mut first, path).await?;
        // Opened before the first connection closes.
        let poller = pool(1).connect_with(read_options(path)).await;
        let poller = poller.map_err(failed)?;
        open_wal(&poller).await.map_err(failed)?;
        let writer = pool(1).connect_lazy_with(write_options(path));
        let opened = FileIdentity::of(path);
        first.close().await.map_err(failed)?;
        if !opened.is_same_database(created) {
            return Err(replaced(path));
        }
        Ok(Self {
            path: path.to_owned(),
            writer,
            readers: pool(MAX_CONCURRENT_READS).connect_lazy_with(read_options(path)),
            poller,
            opened,
        })
    }

    /// Fails if the file was removed or replaced since it was opened. Writes would then be lost: a
    /// removed file lives on only for the processes that have it open.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        match FileIdentity::of(&self.path).is_unchanged_since(self.opened) {
            true => Ok(()),
            false => Err(replaced(&self.path)),
        }
    }

    /// After closing: removes this database's write-ahead log if another file has replaced it.
    /// SQLite would apply the log to that file.
    pub(crate) fn remove_stale_wal(&self) -> Result<()> {
        file::remove_stale_wal(&self.path, self.opened)
    }

    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// Begins a write transaction. It rolls back when dropped.
    pub(crate) async fn begin_write(&self) -> sqlx::Result<WriteTransaction> {
        WriteTransaction::begin(&self.writer).await
    }

    /// The connection that polls for writes. The holder must return it when [`Self::closing`]
    /// resolves.
    pub(crate) async fn poll_connection(&self) -> sqlx::Result<PoolConnection<Sqlite>> {
        self.poller.acquire().await
    }

    /// Waits until [`Self::close`] is called.
    pub(crate) async fn closing(&self) {
        self.poller.close_event().await;
    }

    /// Waits for all connections to be returned. The writer closes last: it deletes the write-ahead
    /// log.
    pub(crate) async fn close(&self) {
        // Only a connection that may write moves the write-ahead log into the database, so the writer is
        // the last to close, also if nothing was written.
        let writer = self.writer.acquire().await;
        self.poller.close().await;
        self.readers.close().await;
        drop(writer);
        self.writer.close().await;
    }
}

/// SQLite opens the write-ahead log with the first read.
async fn open_wal(pool: &SqlitePool) -> sqlx::Result<()> {
    let read = sqlx::query("SELECT count(*) FROM sqlite_schema");
    read.execute(pool).await.map(drop)
}

fn replaced(path: &Path) -> StoreError {
    let detail = "moved or replaced while it was in use";
    error::new(StoreErrorKind::Replaced, path, detail)
}

fn pool(connections: u32) -> PoolOptions<Sqlite> {
    // Connections to a local file do not go stale, so they are neither tested nor recycled.
    PoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(LOCK_TIMEOUT)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
}

/// A commit is on disk before it is acknowledged (`synchronous=FULL`), so it survives a crash or a
/// power failure.
fn write_options(path: &Path) -> SqliteConnectOptions {
    base_options(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // Deleted entries are overwritten, because users may delete secrets. The full-text index
        // and the write-ahead log keep traces for a while.
        .pragma("secure_delete", "ON")
        .pragma("journal_size_limit", "16777216")
}

fn read_options(path: &Path) -> SqliteConnectOptions {
    base_options(path).read_only(true)
}

fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(LOCK_TIMEOUT)
        .disable_statement_logging()
}

async fn check_integrity(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let check = sqlx::query_as::<_, (String,)>("PRAGMA quick_check(1)");
    let (verdict,) = check
        .fetch_one(connection)
        .await
        .map_err(|error| from_sqlx(path, error))?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(error::new(StoreErrorKind::Corrupt, path, "the file is damaged").with_cause(verdict))
}
