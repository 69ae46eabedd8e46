//! Memories in SQLite.

mod rows;
mod write;

use std::sync::Arc;

use tidegate_core::BoxFuture;

use super::words::questions;
use super::{
    Draft, Entry, Kept, Memories, Owned, Owner, Place, Put, Quota, Scan, Search, Summary, Usage,
};
use crate::{Millis, Result, Store};
use rows::{EntryRow, OwnedRow, SummaryRow};
use write::Swept;

/// CROSS: the words come first. Left alone, SQLite goes through all entries of the owner and asks
/// the words about each. The rank is made from the words of all owners, so it is shown to nobody.
const SEARCH: &str = "SELECT e.namespace, e.key, e.value, e.tags, e.size, e.created, e.updated, \
    e.expires FROM memory_words CROSS JOIN memory_entries e ON e.id = memory_words.rowid \
    WHERE memory_words MATCH $1 AND e.source = $2 AND e.principal = $3 \
    AND (e.expires IS NULL OR e.expires > $4) AND ($5 IS NULL OR e.namespace = $5) \
    ORDER BY bm25(memory_words, 4.0, 1.0, 2.0), e.updated DESC, e.id LIMIT $6";

pub(super) struct SqliteMemories {
    store: Arc<Store>,
}

impl SqliteMemories {
    pub(super) fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
        }
    }

    async fn found(&self, owner: &Owner, question: &str, search: &Search) -> Result<Vec<Entry>> {
        let database = self.store.database().await?;
        let rows = sqlx::query_as::<_, EntryRow>(SEARCH)
            .bind(question)
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(Millis::now().0)
            .bind(search.namespace.as_deref())
            .bind(search.limit)
            .fetch_all(database.readers())
            .await;
        let rows = self.store.noted(rows)?;
        Ok(rows.into_iter().map(Entry::from).collect())
    }
}

impl Memories for SqliteMemories {
    fn put<'a>(
        &'a self,
        owner: &'a Owner,
        draft: &'a Draft,
        quota: Quota,
    ) -> BoxFuture<'a, Result<Put>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let done = write::put(&database, owner, draft, quota).await;
            self.store.wrote(&database, done)
        })
    }

    fn get<'a>(
        &'a self,
        owner: &'a Owner,
        place: &'a Place,
    ) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let row = sqlx::query_as::<_, EntryRow>(
                "SELECT namespace, key, value, tags, size, created, updated, expires \
                 FROM memory_entries \
                 WHERE source = $1 AND principal = $2 AND namespace = $3 AND key = $4 \
                 AND (expires IS NULL OR expires > $5)",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(&place.namespace)
            .bind(&place.key)
            .bind(Millis::now().0)
            .fetch_optional(database.readers())
            .await;
            Ok(self.store.noted(row)?.map(Entry::from))
        })
    }

    fn scan<'a>(&'a self, owner: &'a Owner, scan: &'a Scan) -> BoxFuture<'a, Result<Vec<Summary>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let after = scan.after.as_ref();
            let rows = sqlx::query_as::<_, SummaryRow>(
                "SELECT namespace, key, tags, size, updated, expires FROM memory_entries \
                 WHERE source = $1 AND principal = $2 AND (expires IS NULL OR expires > $3) \
                 AND (namespace, key) > ($4, $5) AND ($6 IS NULL OR namespace = $6) \
                 AND substr(key, 1, length($7)) = $7 \
                 ORDER BY namespace, key LIMIT $8",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(Millis::now().0)
            .bind(after.map_or("", |place| &place.namespace))
            .bind(after.map_or("", |place| &place.key))
            .bind(scan.namespace.as_deref())
            .bind(&scan.prefix)
            .bind(scan.limit)
            .fetch_all(database.readers())
            .await;
            let rows = self.store.noted(rows)?;
            Ok(rows.into_iter().map(Summary::from).collect())
        })
    }

    fn search<'a>(
        &'a self,
        owner: &'a Owner,
        search: &'a Search,
    ) -> BoxFuture<'a, Result<Vec<Entry>>> {
        Box::pin(async move {
            let Some([all, any]) = questions(&search.words) else {
                return Ok(Vec::new());
            };
            let found = self.found(owner, &all, search).await?;
            if found.is_empty() && any != all {
                return self.found(owner, &any, search).await;
            }
            Ok(found)
        })
    }

    fn delete<'a>(&'a self, owner: &'a Owner, place: &'a Place) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let done = write::delete(&database, owner, place).await;
            self.store.wrote(&database, done)
        })
    }

    fn clear<'a>(
        &'a self,
        owner: &'a Owner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let done = write::clear(&database, owner, namespace).await;
            self.store.wrote(&database, done)
        })
    }

    fn recent<'a>(&'a self, owner: &'a Owner, limit: u32) -> BoxFuture<'a, Result<Vec<Entry>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let rows = sqlx::query_as::<_, EntryRow>(
                "SELECT namespace, key, value, tags, size, created, updated, expires \
                 FROM memory_entries \
                 WHERE source = $1 AND principal = $2 AND (expires IS NULL OR expires > $3) \
                 ORDER BY updated DESC, id DESC LIMIT $4",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(Millis::now().0)
            .bind(limit)
            .fetch_all(database.readers())
            .await;
            let rows = self.store.noted(rows)?;
            Ok(rows.into_iter().map(Entry::from).collect())
        })
    }

    fn kept<'a>(
        &'a self,
        owner: &'a Owner,
        expiring_before: Millis,
        namespaces: u32,
    ) -> BoxFuture<'a, Result<Kept>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let now = Millis::now().0;
            let total = sqlx::query_as::<_, (i64, i64, i64)>(
                "SELECT count(*), coalesce(sum(size), 0), \
                 coalesce(sum(CASE WHEN expires < $4 THEN 1 ELSE 0 END), 0) FROM memory_entries \
                 WHERE source = $1 AND principal = $2 AND (expires IS NULL OR expires > $3)",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(now)
            .bind(expiring_before.0)
            .fetch_one(database.readers())
            .await;
            let (entries, bytes, expiring) = self.store.noted(total)?;
            let each = sqlx::query_as::<_, (String, i64, i64)>(
                "SELECT namespace, count(*), sum(size) FROM memory_entries \
                 WHERE source = $1 AND principal = $2 AND (expires IS NULL OR expires > $3) \
                 GROUP BY namespace ORDER BY namespace LIMIT $4",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(now)
            .bind(namespaces)
            .fetch_all(database.readers())
            .await;
            Ok(Kept {
                total: rows::usage((entries, bytes)),
                expiring: rows::count(expiring),
                namespaces: rows::namespaces(self.store.noted(each)?),
            })
        })
    }

    fn count<'a>(
        &'a self,
        owner: &'a Owner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let counted = sqlx::query_as::<_, (i64,)>(
                "SELECT count(*) FROM memory_entries WHERE source = $1 AND principal = $2 \
                 AND (expires IS NULL OR expires > $3) AND ($4 IS NULL OR namespace = $4)",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(Millis::now().0)
            .bind(namespace)
            .fetch_one(database.readers())
            .await;
            Ok(rows::count(self.store.noted(counted)?.0))
        })
    }

    fn total<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Usage>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let row = sqlx::query_as::<_, (i64, i64)>(
                "SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0) \
                 FROM memory_usage WHERE source = $1",
            )
            .bind(source)
            .fetch_one(database.readers())
            .await;
            Ok(rows::usage(self.store.noted(row)?))
        })
    }

    fn dump<'a>(&'a self, source: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<Owned>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let rows = sqlx::query_as::<_, OwnedRow>(
                "SELECT principal, namespace, key, value, tags, size, created, updated, expires \
                 FROM memory_entries WHERE source = $1 AND (expires IS NULL OR expires > $2) \
                 ORDER BY id LIMIT $3",
            )
            .bind(source)
            .bind(Millis::now().0)
            .bind(limit)
            .fetch_all(database.readers())
            .await;
            let rows = self.store.noted(rows)?;
            Ok(rows.into_iter().map(Owned::from).collect())
        })
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Option<Millis>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            match write::sweep(&database).await {
                Ok(Swept::Nothing(next)) => Ok(next),
                Ok(Swept::Some(next)) => self.store.wrote(&database, Ok(next)),
                Err(error) => self.store.wrote(&database, Err(error)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use sqlx::AssertSqlSafe;

    use super::*;

    /// The other way round a search of ten thousand entries takes a thousand times as long.
    #[tokio::test]
    async fn a_search_begins_with_the_words() {
        let folder = tempfile::TempDir::with_prefix("tidegate-store-").unwrap();
        let store = Store::in_folder(folder.path());
        let database = store.database().await.unwrap();
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {SEARCH}"));
        let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain)
            .fetch_all(database.readers())
            .await
            .unwrap();
        assert!(plan[0].3.contains("memory_words"), "{plan:?}");
    }
}
