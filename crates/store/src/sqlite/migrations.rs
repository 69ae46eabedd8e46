//! The schema, as an ordered list of migrations. `user_version` counts the ones a file has.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use super::error::{self, NOT_OURS, from_sqlx};
use crate::{Result, StoreErrorKind};

/// `Tide` in ASCII: marks a file as a Tidegate database.
const APPLICATION_ID: i32 = 0x5469_6465;

/// In order. A migration that has been released never changes.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/0001_memory.sql")];

fn newest_version() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// The identification fields of a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DatabaseHeader {
    application_id: i32,
    version: i32,
    schema_objects: i64,
}

impl DatabaseHeader {
    pub(super) async fn read(connection: &mut SqliteConnection) -> sqlx::Result<Self> {
        let sql = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) \
                   FROM pragma_application_id, pragma_user_version";
        let row = sqlx::query_as(sql).fetch_one(connection).await?;
        let (application_id, version, schema_objects) = row;
        Ok(Self {
            application_id,
            version,
            schema_objects,
        })
    }

    /// Fails unless the file is empty or ours, and no newer than this program.
    pub(super) fn check(self, file: &Path) -> Result<()> {
        let is_empty = self.application_id == 0 && self.version == 0 && self.schema_objects == 0;
        if self.application_id != APPLICATION_ID && !is_empty {
            return Err(error::new(StoreErrorKind::Foreign, file, NOT_OURS));
        }
        if self.version > newest_version() {
            let detail = format!(
                "written by a newer Tidegate (format {}, this version supports {})",
                self.version,
                newest_version()
            );
            return Err(error::new(StoreErrorKind::NewerFormat, file, detail));
        }
        Ok(())
    }
}

/// Whether all migrations have run. Takes no write lock.
pub(super) async fn are_complete(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    Ok(DatabaseHeader::read(connection).await?.version == newest_version())
}

/// Runs the missing migrations in one transaction.
pub(super) async fn run(connection: &mut SqliteConnection, file: &Path) -> Result<()> {
    let failed = |error| from_sqlx(file, error);
    let begun = connection.begin_with("BEGIN IMMEDIATE").await;
    let mut transaction = begun.map_err(failed)?;
    // Read again under the write lock: another process may have migrated meanwhile.
    let header = DatabaseHeader::read(&mut transaction).await;
    let header = header.map_err(failed)?;
    header.check(file)?;
    let completed = usize::try_from(header.version).unwrap_or(0);
    if completed == MIGRATIONS.len() {
        return Ok(());
    }
    for migration in &MIGRATIONS[completed..] {
        let done = sqlx::raw_sql(*migration).execute(&mut *transaction).await;
        done.map_err(failed)?;
    }
    let set_header = format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}",
        newest_version()
    );
    let set_header = sqlx::raw_sql(AssertSqlSafe(set_header));
    let done = set_header.execute(&mut *transaction).await;
    done.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}
