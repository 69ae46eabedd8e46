//! Memories in SQLite.

mod rows;
mod write;

use std::sync::Arc;

use tidegate_core::BoxFuture;

use super::words::questions;
use super::{
    Draft, Entry, Memories, NamespaceUsage, Owned, Owner, Place, Put, Quota, Scan, Search, Summary,
    Usage,
};
use crate::{Millis, Result, Store};
use rows::{EntryRow, OwnedRow, SummaryRow, UsageRow};

/// Namespaces that a report counts one by one.
const MOST_NAMESPACES: i64 = 1_000;

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
        // The rank is made for the few best alone, and from the words of all owners: it is shown
        // to nobody.
        let rows = sqlx::query_as::<_, EntryRow>(
            "SELECT e.namespace, e.key, e.value, e.tags, e.size, e.created, e.updated, e.expires \
             FROM memory_words JOIN memory_entries e ON e.id = memory_words.rowid \
             WHERE memory_words MATCH $1 AND e.source = $2 AND e.principal = $3 \
             AND (e.expires IS NULL OR e.expires > $4) AND ($5 IS NULL OR e.namespace = $5) \
             ORDER BY bm25(memory_words, 4.0, 1.0, 2.0), e.updated DESC, e.id LIMIT $6",
        )
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
            let done = write::put(database, owner, draft, quota).await;
            self.store.wrote();
            self.store.noted(done)
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
            let done = write::delete(database, owner, place).await;
            self.store.wrote();
            self.store.noted(done)
        })
    }

    fn clear<'a>(
        &'a self,
        owner: &'a Owner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let done = write::clear(database, owner, namespace).await;
            self.store.wrote();
            self.store.noted(done)
        })
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Owner,
        expiring_before: Millis,
    ) -> BoxFuture<'a, Result<Vec<NamespaceUsage>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            let rows = sqlx::query_as::<_, UsageRow>(
                "SELECT namespace, count(*), sum(size), \
                 sum(CASE WHEN expires < $4 THEN 1 ELSE 0 END) FROM memory_entries \
                 WHERE source = $1 AND principal = $2 AND (expires IS NULL OR expires > $3) \
                 GROUP BY namespace ORDER BY namespace LIMIT $5",
            )
            .bind(&owner.source)
            .bind(&owner.principal)
            .bind(Millis::now().0)
            .bind(expiring_before.0)
            .bind(MOST_NAMESPACES)
            .fetch_all(database.readers())
            .await;
            let rows = self.store.noted(rows)?;
            Ok(rows.into_iter().map(NamespaceUsage::from).collect())
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
            let (swept, next) = self.store.noted(write::sweep(database).await)?;
            if swept {
                self.store.wrote();
            }
            Ok(next)
        })
    }
}
