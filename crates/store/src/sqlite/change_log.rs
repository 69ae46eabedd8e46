//! The log of changes inside the database, through which processes see each other's writes.
//!
//! Every write adds rows to the table `changes`. `PRAGMA data_version` is a cheap check whether
//! another connection has written; only then is the table read.

use sqlx::SqliteConnection;

use super::Database;
use crate::events::{StoreChange, StoreEvent};

/// Rows per read. A reader that is further behind gets [`StoreEvent::Gap`].
const MAX_BATCH: i64 = 500;

/// Rows kept for processes that are behind, and how many new rows trigger pruning.
const RETAINED_ROWS: i64 = 10_000;
const PRUNE_INTERVAL: i64 = 1_000;

/// How far this process has read the log.
pub(crate) struct ChangeLog {
    data_version: i64,
    position: i64,
    pruned_at: i64,
}

/// seq, topic, source, principal, place, item
type ChangeRow = (i64, String, String, String, String, String);

impl ChangeLog {
    /// Starts at the end of the log.
    pub(crate) async fn open_at_end(connection: &mut SqliteConnection) -> sqlx::Result<Self> {
        let data_version = data_version(connection).await?;
        let position = last_position(connection).await?;
        Ok(Self {
            data_version,
            position,
            pruned_at: position,
        })
    }

    /// The events since the last call.
    pub(crate) async fn read_new(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<Vec<StoreEvent>> {
        let data_version = data_version(connection).await?;
        if data_version == self.data_version {
            return Ok(Vec::new());
        }
        self.data_version = data_version;
        let rows: Vec<ChangeRow> = sqlx::query_as(
            "SELECT seq, topic, source, principal, place, item FROM changes \
             WHERE seq > $1 ORDER BY seq LIMIT $2",
        )
        .bind(self.position)
        .bind(MAX_BATCH)
        .fetch_all(&mut *connection)
        .await?;
        let rows_missing = rows.first().is_some_and(|row| row.0 != self.position + 1);
        let too_many = i64::try_from(rows.len()).unwrap_or(MAX_BATCH) == MAX_BATCH;
        if rows_missing || too_many {
            self.position = last_position(connection).await?;
            return Ok(vec![StoreEvent::Gap, StoreEvent::Written]);
        }
        if let Some(row) = rows.last() {
            self.position = row.0;
        }
        let changes = rows.into_iter().map(|row| StoreEvent::Changed(change(row)));
        Ok(changes.chain([StoreEvent::Written]).collect())
    }

    pub(crate) fn needs_pruning(&self) -> bool {
        self.position - self.pruned_at >= PRUNE_INTERVAL
    }

    /// Deletes old rows.
    pub(crate) async fn prune(&mut self, database: &Database) -> sqlx::Result<()> {
        let mut transaction = database.begin_write().await?;
        sqlx::query("DELETE FROM changes WHERE seq <= $1")
            .bind(self.position - RETAINED_ROWS)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.pruned_at = self.position;
        Ok(())
    }
}

fn change((_, topic, source, principal, place, item): ChangeRow) -> StoreChange {
    StoreChange {
        topic,
        source,
        principal,
        item: (!place.is_empty()).then_some((place, item)),
    }
}

/// Changes whenever another connection commits.
async fn data_version(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    let query = sqlx::query_as::<_, (i64,)>("PRAGMA data_version");
    query.fetch_one(connection).await.map(|(version,)| version)
}

async fn last_position(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    let query = sqlx::query_as::<_, (i64,)>("SELECT coalesce(max(seq), 0) FROM changes");
    query.fetch_one(connection).await.map(|(seq,)| seq)
}
