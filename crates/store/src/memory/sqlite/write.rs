//! What changes memories: each is one transaction, together with its lines in the log of changes.

use sqlx::{Sqlite, Transaction};

use super::super::words::words_of;
use super::super::{Draft, Owner, Place, Put, Quota, TOPIC, Usage};
use super::rows::{usage, write_tags};
use crate::Millis;
use crate::open::Database;

type Writing<'a> = Transaction<'a, Sqlite>;

/// More deletions at once are told as one.
const TOLD_ONE_BY_ONE: usize = 200;

/// Entries that are swept at once, so that other writers get their turn.
const SWEPT_AT_ONCE: i64 = 500;

pub(super) async fn put(
    database: &Database,
    owner: &Owner,
    draft: &Draft,
    quota: Quota,
) -> sqlx::Result<Put> {
    let mut writing = database.write().await?;
    let now = Millis::now();
    // What has expired takes no room and gives no age.
    forget_expired(&mut writing, owner, now).await?;
    let there = size_at(&mut writing, owner, &draft.place).await?;
    let used = used(&mut writing, owner).await?;
    let (entries, bytes) = match there {
        Some(size) => (used.entries, used.bytes.saturating_sub(size)),
        None => (used.entries + 1, used.bytes),
    };
    if entries > quota.entries {
        return Ok(Put::TooMany(used));
    }
    if bytes.saturating_add(draft.size()) > quota.bytes {
        return Ok(Put::TooLarge(used));
    }
    let id = upsert(&mut writing, owner, draft, now).await?;
    index(&mut writing, id, draft).await?;
    tell(&mut writing, owner, &draft.place).await?;
    writing.commit().await?;
    Ok(match there {
        Some(_) => Put::Replaced,
        None => Put::Added,
    })
}

async fn upsert(
    writing: &mut Writing<'_>,
    owner: &Owner,
    draft: &Draft,
    now: Millis,
) -> sqlx::Result<i64> {
    let (created, updated) = draft.times.unwrap_or((now, now));
    let sql = if draft.times.is_some() {
        UPSERT_WITH_TIMES
    } else {
        UPSERT
    };
    let (id,): (i64,) = sqlx::query_as(sql)
        .bind(&owner.source)
        .bind(&owner.principal)
        .bind(&draft.place.namespace)
        .bind(&draft.place.key)
        .bind(draft.value.as_str())
        .bind(write_tags(&draft.tags))
        .bind(i64::try_from(draft.size()).unwrap_or(i64::MAX))
        .bind(created.0)
        .bind(updated.0)
        .bind(draft.expires.map(|at| at.0))
        .fetch_one(&mut **writing)
        .await?;
    Ok(id)
}

const UPSERT: &str = "INSERT INTO memory_entries \
    (source, principal, namespace, key, value, tags, size, created, updated, expires) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
    ON CONFLICT (source, principal, namespace, key) DO UPDATE SET value = excluded.value, \
    tags = excluded.tags, size = excluded.size, updated = excluded.updated, \
    expires = excluded.expires RETURNING id";

const UPSERT_WITH_TIMES: &str = "INSERT INTO memory_entries \
    (source, principal, namespace, key, value, tags, size, created, updated, expires) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
    ON CONFLICT (source, principal, namespace, key) DO UPDATE SET value = excluded.value, \
    tags = excluded.tags, size = excluded.size, updated = excluded.updated, \
    created = excluded.created, expires = excluded.expires RETURNING id";

async fn index(writing: &mut Writing<'_>, id: i64, draft: &Draft) -> sqlx::Result<()> {
    let old = sqlx::query("DELETE FROM memory_words WHERE rowid = $1").bind(id);
    old.execute(&mut **writing).await?;
    sqlx::query("INSERT INTO memory_words (rowid, key, value, tags) VALUES ($1, $2, $3, $4)")
        .bind(id)
        .bind(&draft.place.key)
        .bind(words_of(draft.value.as_str()))
        .bind(draft.tags.join(" "))
        .execute(&mut **writing)
        .await?;
    Ok(())
}

pub(super) async fn delete(
    database: &Database,
    owner: &Owner,
    place: &Place,
) -> sqlx::Result<bool> {
    let mut writing = database.write().await?;
    let row: Option<(bool,)> = sqlx::query_as(
        "DELETE FROM memory_entries \
         WHERE source = $1 AND principal = $2 AND namespace = $3 AND key = $4 \
         RETURNING expires IS NULL OR expires > $5",
    )
    .bind(&owner.source)
    .bind(&owner.principal)
    .bind(&place.namespace)
    .bind(&place.key)
    .bind(Millis::now().0)
    .fetch_optional(&mut *writing)
    .await?;
    if row.is_some() {
        tell(&mut writing, owner, place).await?;
    }
    writing.commit().await?;
    Ok(row.is_some_and(|(was_there,)| was_there))
}

pub(super) async fn clear(
    database: &Database,
    owner: &Owner,
    namespace: Option<&str>,
) -> sqlx::Result<u64> {
    let mut writing = database.write().await?;
    let rows: Vec<(String, String, bool)> = sqlx::query_as(
        "DELETE FROM memory_entries \
         WHERE source = $1 AND principal = $2 AND ($3 IS NULL OR namespace = $3) \
         RETURNING namespace, key, expires IS NULL OR expires > $4",
    )
    .bind(&owner.source)
    .bind(&owner.principal)
    .bind(namespace)
    .bind(Millis::now().0)
    .fetch_all(&mut *writing)
    .await?;
    let cleared = rows.iter().filter(|(_, _, was_there)| *was_there).count();
    let places = rows.into_iter();
    let places = places.map(|(namespace, key, _)| Place { namespace, key });
    tell_all(&mut writing, owner, &places.collect::<Vec<_>>()).await?;
    writing.commit().await?;
    Ok(u64::try_from(cleared).unwrap_or(u64::MAX))
}

/// What was swept, and when something expires next.
pub(super) enum Swept {
    Nothing(Option<Millis>),
    Some(Option<Millis>),
}

/// Deletes what has expired.
pub(super) async fn sweep(database: &Database) -> sqlx::Result<Swept> {
    let next = next_expiry(database).await?;
    if next.is_none_or(|next| next > Millis::now()) {
        return Ok(Swept::Nothing(next));
    }
    let mut writing = database.write().await?;
    let rows: Vec<(String, String, String, String)> = sqlx::query_as(
        "DELETE FROM memory_entries WHERE id IN \
         (SELECT id FROM memory_entries WHERE expires <= $1 ORDER BY expires LIMIT $2) \
         RETURNING source, principal, namespace, key",
    )
    .bind(Millis::now().0)
    .bind(SWEPT_AT_ONCE)
    .fetch_all(&mut *writing)
    .await?;
    for (source, principal, namespace, key) in rows {
        let owner = Owner { source, principal };
        tell(&mut writing, &owner, &Place { namespace, key }).await?;
    }
    writing.commit().await?;
    Ok(Swept::Some(next_expiry(database).await?))
}

async fn next_expiry(database: &Database) -> sqlx::Result<Option<Millis>> {
    let asked = sqlx::query_as::<_, (Option<i64>,)>(
        "SELECT min(expires) FROM memory_entries WHERE expires IS NOT NULL",
    );
    let (next,) = asked.fetch_one(database.readers()).await?;
    Ok(next.map(Millis))
}

async fn forget_expired(writing: &mut Writing<'_>, owner: &Owner, now: Millis) -> sqlx::Result<()> {
    let rows: Vec<(String, String)> = sqlx::query_as(
        "DELETE FROM memory_entries WHERE source = $1 AND principal = $2 AND expires <= $3 \
         RETURNING namespace, key",
    )
    .bind(&owner.source)
    .bind(&owner.principal)
    .bind(now.0)
    .fetch_all(&mut **writing)
    .await?;
    let places = rows.into_iter();
    let places = places.map(|(namespace, key)| Place { namespace, key });
    tell_all(writing, owner, &places.collect::<Vec<_>>()).await
}

async fn size_at(
    writing: &mut Writing<'_>,
    owner: &Owner,
    place: &Place,
) -> sqlx::Result<Option<u64>> {
    let row: Option<(i64,)> = sqlx::query_as(
        "SELECT size FROM memory_entries \
         WHERE source = $1 AND principal = $2 AND namespace = $3 AND key = $4",
    )
    .bind(&owner.source)
    .bind(&owner.principal)
    .bind(&place.namespace)
    .bind(&place.key)
    .fetch_optional(&mut **writing)
    .await?;
    Ok(row.map(|(size,)| u64::try_from(size).unwrap_or(0)))
}

async fn used(writing: &mut Writing<'_>, owner: &Owner) -> sqlx::Result<Usage> {
    let row: Option<(i64, i64)> = sqlx::query_as(
        "SELECT entries, bytes FROM memory_usage WHERE source = $1 AND principal = $2",
    )
    .bind(&owner.source)
    .bind(&owner.principal)
    .fetch_optional(&mut **writing)
    .await?;
    Ok(row.map(usage).unwrap_or_default())
}

async fn tell_all(writing: &mut Writing<'_>, owner: &Owner, places: &[Place]) -> sqlx::Result<()> {
    if places.len() > TOLD_ONE_BY_ONE {
        return line(writing, owner, "", "").await;
    }
    for place in places {
        tell(writing, owner, place).await?;
    }
    Ok(())
}

async fn tell(writing: &mut Writing<'_>, owner: &Owner, place: &Place) -> sqlx::Result<()> {
    line(writing, owner, &place.namespace, &place.key).await
}

async fn line(
    writing: &mut Writing<'_>,
    owner: &Owner,
    place: &str,
    item: &str,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO changes (topic, source, principal, place, item) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(TOPIC)
    .bind(&owner.source)
    .bind(&owner.principal)
    .bind(place)
    .bind(item)
    .execute(&mut **writing)
    .await?;
    Ok(())
}
