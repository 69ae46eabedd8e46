//! Writes. Each is one transaction that also adds its rows to the log of changes.

use sqlx::Sqlite;
use sqlx::query::QueryAs;
use sqlx::sqlite::{SqliteArguments, SqliteRow};

use super::super::full_text::searchable_text;
use super::super::{
    EntryId, EntryOwner, EntryTimestamps, MemoryQuota, MemoryUsage, NewEntry, PutOutcome, TOPIC,
};
use super::rows::{encode_tags, unsigned, usage};
use crate::UnixMillis;
use crate::sqlite::{Database, WriteTransaction};

/// Above this number, deletions are logged as a single change of everything.
const MAX_LOGGED_DELETIONS: usize = 200;

/// Expired entries deleted in one transaction, so that other writers get their turn.
const EXPIRY_BATCH: i64 = 500;

/// A query with the owner bound as `$1` and `$2`.
fn for_owner<'q, R>(
    sql: &'static str,
    owner: &'q EntryOwner,
) -> QueryAs<'q, Sqlite, R, SqliteArguments>
where
    R: for<'r> sqlx::FromRow<'r, SqliteRow>,
{
    sqlx::query_as(sql)
        .bind(&owner.source)
        .bind(&owner.principal)
}

pub(super) async fn put(
    database: &Database,
    owner: &EntryOwner,
    entry: &NewEntry,
    quota: MemoryQuota,
) -> sqlx::Result<PutOutcome> {
    let mut transaction = database.begin_write().await?;
    let now = UnixMillis::now();
    // Expired entries neither count towards the quota nor pass on their creation time.
    delete_expired_of(&mut transaction, owner, now).await?;
    let replaced_size = size_of(&mut transaction, owner, &entry.id).await?;
    let used = used_by(&mut transaction, owner).await?;
    let (entries, other_bytes) = match replaced_size {
        Some(size) => (used.entries, used.bytes.saturating_sub(size)),
        None => (used.entries + 1, used.bytes),
    };
    if entries > quota.entries {
        transaction.rollback().await?;
        return Ok(PutOutcome::TooManyEntries(used));
    }
    if other_bytes.saturating_add(entry.size()) > quota.bytes {
        transaction.rollback().await?;
        return Ok(PutOutcome::TooManyBytes(used));
    }
    let row = upsert(&mut transaction, owner, entry, now).await?;
    index_text(&mut transaction, row, entry).await?;
    log_change(&mut transaction, owner, &entry.id).await?;
    transaction.commit().await?;
    Ok(match replaced_size {
        Some(_) => PutOutcome::Replaced,
        None => PutOutcome::Added,
    })
}

/// Returns the row id.
async fn upsert(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
    entry: &NewEntry,
    now: UnixMillis,
) -> sqlx::Result<i64> {
    let (sql, timestamps) = match entry.timestamps {
        Some(timestamps) => (UPSERT_WITH_CREATED, timestamps),
        None => (
            UPSERT,
            EntryTimestamps {
                created: now,
                updated: now,
            },
        ),
    };
    let (row,): (i64,) = for_owner(sql, owner)
        .bind(&entry.id.namespace)
        .bind(&entry.id.key)
        .bind(entry.value.as_str())
        .bind(encode_tags(&entry.tags))
        .bind(i64::try_from(entry.size()).unwrap_or(i64::MAX))
        .bind(timestamps.created.0)
        .bind(timestamps.updated.0)
        .bind(entry.expires.map(|at| at.0))
        .fetch_one(&mut **transaction)
        .await?;
    Ok(row)
}

macro_rules! upsert {
    ($created:literal) => {
        concat!(
            "INSERT INTO memory_entries \
             (source, principal, namespace, key, value, tags, size, created, updated, expires) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (source, principal, namespace, key) DO UPDATE SET \
             value = excluded.value, tags = excluded.tags, size = excluded.size, ",
            $created,
            "updated = excluded.updated, expires = excluded.expires RETURNING id"
        )
    };
}

const UPSERT: &str = upsert!("");
const UPSERT_WITH_CREATED: &str = upsert!("created = excluded.created, ");

async fn index_text(
    transaction: &mut WriteTransaction,
    row: i64,
    entry: &NewEntry,
) -> sqlx::Result<()> {
    let old = sqlx::query("DELETE FROM memory_words WHERE rowid = $1").bind(row);
    old.execute(&mut **transaction).await?;
    sqlx::query("INSERT INTO memory_words (rowid, key, value, tags) VALUES ($1, $2, $3, $4)")
        .bind(row)
        .bind(&entry.id.key)
        .bind(searchable_text(entry.value.as_str()))
        .bind(entry.tags.join(" "))
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

pub(super) async fn delete(
    database: &Database,
    owner: &EntryOwner,
    id: &EntryId,
) -> sqlx::Result<bool> {
    let mut transaction = database.begin_write().await?;
    let sql = "DELETE FROM memory_entries \
               WHERE source = $1 AND principal = $2 AND namespace = $3 AND key = $4 \
               RETURNING expires IS NULL OR expires > $5";
    let row: Option<(bool,)> = for_owner(sql, owner)
        .bind(&id.namespace)
        .bind(&id.key)
        .bind(UnixMillis::now().0)
        .fetch_optional(&mut *transaction)
        .await?;
    if row.is_some() {
        log_change(&mut transaction, owner, id).await?;
    }
    transaction.commit().await?;
    Ok(row.is_some_and(|(was_unexpired,)| was_unexpired))
}

pub(super) async fn clear(
    database: &Database,
    owner: &EntryOwner,
    namespace: Option<&str>,
) -> sqlx::Result<u64> {
    let mut transaction = database.begin_write().await?;
    let sql = "DELETE FROM memory_entries \
               WHERE source = $1 AND principal = $2 AND ($3 IS NULL OR namespace = $3) \
               RETURNING namespace, key, expires IS NULL OR expires > $4";
    let rows: Vec<(String, String, bool)> = for_owner(sql, owner)
        .bind(namespace)
        .bind(UnixMillis::now().0)
        .fetch_all(&mut *transaction)
        .await?;
    let unexpired = rows.iter().filter(|(.., was_unexpired)| *was_unexpired);
    let cleared = unexpired.count();
    let ids = rows.into_iter();
    let ids = ids.map(|(namespace, key, _)| EntryId { namespace, key });
    log_changes(&mut transaction, owner, &ids.collect::<Vec<_>>()).await?;
    transaction.commit().await?;
    Ok(u64::try_from(cleared).unwrap_or(u64::MAX))
}

/// The result of deleting expired entries, with the time of the next expiry.
pub(super) enum ExpiryRun {
    NothingExpired { next: Option<UnixMillis> },
    Deleted { next: Option<UnixMillis> },
}

/// Deletes one batch of expired entries.
pub(super) async fn delete_expired(database: &Database) -> sqlx::Result<ExpiryRun> {
    let next = next_expiry(database).await?;
    if next.is_none_or(|next| next > UnixMillis::now()) {
        return Ok(ExpiryRun::NothingExpired { next });
    }
    let mut transaction = database.begin_write().await?;
    let rows: Vec<(String, String, String, String)> = sqlx::query_as(
        "DELETE FROM memory_entries WHERE id IN \
         (SELECT id FROM memory_entries WHERE expires <= $1 ORDER BY expires LIMIT $2) \
         RETURNING source, principal, namespace, key",
    )
    .bind(UnixMillis::now().0)
    .bind(EXPIRY_BATCH)
    .fetch_all(&mut *transaction)
    .await?;
    for (source, principal, namespace, key) in rows {
        let owner = EntryOwner { source, principal };
        log_change(&mut transaction, &owner, &EntryId { namespace, key }).await?;
    }
    transaction.commit().await?;
    let next = next_expiry(database).await?;
    Ok(ExpiryRun::Deleted { next })
}

async fn next_expiry(database: &Database) -> sqlx::Result<Option<UnixMillis>> {
    let query = sqlx::query_as::<_, (Option<i64>,)>(
        "SELECT min(expires) FROM memory_entries WHERE expires IS NOT NULL",
    );
    let (next,) = query.fetch_one(database.readers()).await?;
    Ok(next.map(UnixMillis))
}

async fn delete_expired_of(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
    now: UnixMillis,
) -> sqlx::Result<()> {
    let sql = "DELETE FROM memory_entries WHERE source = $1 AND principal = $2 AND expires <= $3 \
               RETURNING namespace, key";
    let rows: Vec<(String, String)> = for_owner(sql, owner)
        .bind(now.0)
        .fetch_all(&mut **transaction)
        .await?;
    let ids = rows.into_iter();
    let ids = ids.map(|(namespace, key)| EntryId { namespace, key });
    log_changes(transaction, owner, &ids.collect::<Vec<_>>()).await
}

async fn size_of(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
    id: &EntryId,
) -> sqlx::Result<Option<u64>> {
    let sql = "SELECT size FROM memory_entries \
               WHERE source = $1 AND principal = $2 AND namespace = $3 AND key = $4";
    let row: Option<(i64,)> = for_owner(sql, owner)
        .bind(&id.namespace)
        .bind(&id.key)
        .fetch_optional(&mut **transaction)
        .await?;
    Ok(row.map(|(size,)| unsigned(size)))
}

async fn used_by(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
) -> sqlx::Result<MemoryUsage> {
    let sql = "SELECT entries, bytes FROM memory_usage WHERE source = $1 AND principal = $2";
    let row: Option<(i64, i64)> = for_owner(sql, owner)
        .fetch_optional(&mut **transaction)
        .await?;
    Ok(row.map(usage).unwrap_or_default())
}

async fn log_changes(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
    ids: &[EntryId],
) -> sqlx::Result<()> {
    if ids.len() > MAX_LOGGED_DELETIONS {
        return insert_log_row(transaction, owner, "", "").await;
    }
    for id in ids {
        log_change(transaction, owner, id).await?;
    }
    Ok(())
}

async fn log_change(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
    id: &EntryId,
) -> sqlx::Result<()> {
    insert_log_row(transaction, owner, &id.namespace, &id.key).await
}

async fn insert_log_row(
    transaction: &mut WriteTransaction,
    owner: &EntryOwner,
    place: &str,
    item: &str,
) -> sqlx::Result<()> {
    let sql = "INSERT INTO changes (source, principal, topic, place, item) \
               VALUES ($1, $2, $3, $4, $5)";
    sqlx::query(sql)
        .bind(&owner.source)
        .bind(&owner.principal)
        .bind(TOPIC)
        .bind(place)
        .bind(item)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
