//! Read queries. Queries about one owner bind the source, the principal and the current time
//! first, as `$1` to `$3`.

use sqlx::Sqlite;
use sqlx::query::QueryAs;
use sqlx::sqlite::{SqliteArguments, SqliteRow};

use super::super::EntryOwner;
use crate::UnixMillis;

pub(super) type OwnerQuery<'q, R> = QueryAs<'q, Sqlite, R, SqliteArguments>;

/// A query about an owner's unexpired entries. Further parameters start at `$4`.
pub(super) fn owner_query<'q, R>(sql: &'static str, owner: &EntryOwner) -> OwnerQuery<'q, R>
where
    R: for<'r> sqlx::FromRow<'r, SqliteRow>,
{
    sqlx::query_as(sql)
        .bind(owner.source.clone())
        .bind(owner.principal.clone())
        .bind(UnixMillis::now().0)
}

/// The entries that [`owner_query`] selects.
macro_rules! owned_and_unexpired {
    () => {
        " source = $1 AND principal = $2 AND (expires IS NULL OR expires > $3) "
    };
}

macro_rules! entry_columns {
    () => {
        " namespace, key, value, tags, size, created, updated, expires "
    };
}

pub(super) const GET: &str = concat!(
    "SELECT",
    entry_columns!(),
    "FROM memory_entries WHERE",
    owned_and_unexpired!(),
    "AND namespace = $4 AND key = $5",
);

pub(super) const LIST: &str = concat!(
    "SELECT namespace, key, tags, size, updated, expires FROM memory_entries WHERE",
    owned_and_unexpired!(),
    "AND (namespace, key) > ($4, $5) AND ($6 IS NULL OR namespace = $6) \
     AND substr(key, 1, length($7)) = $7 ORDER BY namespace, key LIMIT $8",
);

pub(super) const RECENT: &str = concat!(
    "SELECT",
    entry_columns!(),
    "FROM memory_entries WHERE",
    owned_and_unexpired!(),
    "ORDER BY updated DESC, id DESC LIMIT $4",
);

/// CROSS JOIN makes SQLite start with the full-text index. Otherwise it visits every entry of the
/// owner and looks each up in the index. The rank is computed over all owners' words, so it must
/// not be shown.
pub(super) const SEARCH: &str = concat!(
    "SELECT e.namespace, e.key, e.value, e.tags, e.size, e.created, e.updated, e.expires \
     FROM memory_words CROSS JOIN memory_entries e ON e.id = memory_words.rowid WHERE",
    owned_and_unexpired!(),
    "AND memory_words MATCH $4 AND ($5 IS NULL OR e.namespace = $5) \
     ORDER BY bm25(memory_words, 4.0, 1.0, 2.0), e.updated DESC, e.id LIMIT $6",
);

pub(super) const USAGE: &str = concat!(
    "SELECT count(*), coalesce(sum(size), 0), \
     coalesce(sum(CASE WHEN expires < $4 THEN 1 ELSE 0 END), 0) FROM memory_entries WHERE",
    owned_and_unexpired!(),
);

pub(super) const USAGE_BY_NAMESPACE: &str = concat!(
    "SELECT namespace, count(*), sum(size) FROM memory_entries WHERE",
    owned_and_unexpired!(),
    "GROUP BY namespace ORDER BY namespace LIMIT $4",
);

pub(super) const COUNT: &str = concat!(
    "SELECT count(*) FROM memory_entries WHERE",
    owned_and_unexpired!(),
    "AND ($4 IS NULL OR namespace = $4)",
);

pub(super) const TOTAL_USAGE: &str = "SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0) \
    FROM memory_usage WHERE source = $1";

pub(super) const DUMP: &str = concat!(
    "SELECT principal,",
    entry_columns!(),
    "FROM memory_entries \
     WHERE source = $1 AND (expires IS NULL OR expires > $2) ORDER BY id LIMIT $3",
);
