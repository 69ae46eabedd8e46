//! One write transaction on the connection that writes.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection, SqlitePool};

/// A transaction that either ends with [`commit`](Self::commit) or [`rollback`](Self::rollback), or
/// takes its connection with it: whether SQLite has rolled back by itself depends on the error (a
/// full disk, for example), so a connection in an unknown state is never used again.
pub(crate) struct WriteTransaction {
    connection: PoolConnection<Sqlite>,
    has_ended: bool,
}

impl WriteTransaction {
    pub(super) async fn begin(writer: &SqlitePool) -> sqlx::Result<Self> {
        let mut transaction = Self {
            connection: writer.acquire().await?,
            has_ended: false,
        };
        transaction.execute("BEGIN IMMEDIATE").await?;
        Ok(transaction)
    }

    /// Makes the writes durable.
    pub(crate) async fn commit(self) -> sqlx::Result<()> {
        self.end("COMMIT").await
    }

    /// Undoes the writes.
    pub(crate) async fn rollback(self) -> sqlx::Result<()> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, statement: &'static str) -> sqlx::Result<()> {
        self.execute(statement).await?;
        self.has_ended = true;
        Ok(())
    }

    async fn execute(&mut self, statement: &'static str) -> sqlx::Result<()> {
        sqlx::query(statement)
            .execute(&mut *self.connection)
            .await
            .map(drop)
    }
}

impl Deref for WriteTransaction {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for WriteTransaction {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        if !self.has_ended {
            self.connection.close_on_drop();
        }
    }
}
