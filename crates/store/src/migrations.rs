//! The tables, as a list of steps. A file says how many of them it has taken.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::{Kind, Result, StoreError};

/// `Tide` in ASCII: marks a file as ours.
pub(crate) const APPLICATION_ID: i32 = 0x5469_6465;

/// Every step, in order. A step that has been shipped is never changed.
const STEPS: &[&str] = &[include_str!("../migrations/0001_memory.sql")];

/// How many steps there are.
pub(crate) fn newest() -> i32 {
    i32::try_from(STEPS.len()).unwrap_or(i32::MAX)
}

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    application: i32,
    version: i32,
    tables: i64,
}

impl Mark {
    pub(crate) async fn read(connection: &mut SqliteConnection) -> sqlx::Result<Self> {
        let sql = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) \
                   FROM pragma_application_id, pragma_user_version";
        let (application, version, tables) = sqlx::query_as(sql).fetch_one(connection).await?;
        Ok(Self {
            application,
            version,
            tables,
        })
    }

    /// Whether the file is one of ours, or empty, and no newer than this program.
    pub(crate) fn check(self, file: &Path) -> Result<()> {
        let is_empty = self.application == 0 && self.version == 0 && self.tables == 0;
        if self.application != APPLICATION_ID && !is_empty {
            let what = "this is not a Tidegate database";
            return Err(StoreError::new(Kind::Foreign, file, what));
        }
        if self.version > newest() {
            let what = format!(
                "a newer Tidegate has written it (format {}, this one knows {})",
                self.version,
                newest()
            );
            return Err(StoreError::new(Kind::Newer, file, what));
        }
        Ok(())
    }
}

/// Whether no step is missing. Needs no turn of its own among the writers.
pub(crate) async fn are_done(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    Ok(Mark::read(connection).await?.version == newest())
}

/// Takes the steps that are missing, all or none.
pub(crate) async fn migrate(connection: &mut SqliteConnection, file: &Path) -> Result<()> {
    let failed = |error| StoreError::of_sql(file, error);
    let begun = connection.begin_with("BEGIN IMMEDIATE").await;
    let mut transaction = begun.map_err(failed)?;
    // Again: another process may have been here since.
    let mark = Mark::read(&mut transaction).await.map_err(failed)?;
    mark.check(file)?;
    let taken = usize::try_from(mark.version).unwrap_or(0);
    if taken == STEPS.len() {
        return Ok(());
    }
    for step in &STEPS[taken..] {
        let done = sqlx::raw_sql(*step).execute(&mut *transaction).await;
        done.map_err(failed)?;
    }
    let marks = format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}",
        newest()
    );
    let marked = sqlx::raw_sql(AssertSqlSafe(marks));
    marked.execute(&mut *transaction).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}
