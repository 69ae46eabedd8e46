//! Memory entries in SQLite.

mod query;
mod rows;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use sqlx::FromRow;
use sqlx::sqlite::SqliteRow;
use tidegate_core::BoxFuture;

use super::full_text::MatchExpressions;
use super::{
    EntryId, EntryOwner, EntryRange, EntrySummary, MemoryEntry, MemoryQuota, MemoryStore,
    MemoryUsage, NewEntry, OwnedEntry, PutOutcome, TextQuery, UsageDetails,
};
use crate::sqlite::Database;
use crate::{Result, Store, UnixMillis};
use query::{OwnerQuery, owner_query};
use rows::{EntryRow, OwnedRow, SummaryRow};
use write::ExpiryRun;

pub(super) struct SqliteMemoryStore {
    store: Arc<Store>,
}

impl SqliteMemoryStore {
    pub(super) fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
        }
    }

    async fn fetch_all<R>(&self, query: OwnerQuery<'_, R>) -> Result<Vec<R>>
    where
        R: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
    {
        let database = self.store.database().await?;
        let rows = query.fetch_all(database.readers()).await;
        self.store.finish_read(rows)
    }

    async fn fetch_one<R>(&self, query: OwnerQuery<'_, R>) -> Result<R>
    where
        R: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
    {
        let database = self.store.database().await?;
        let row = query.fetch_one(database.readers()).await;
        self.store.finish_read(row)
    }

    /// Runs a write and announces it.
    async fn write<T>(
        &self,
        write: impl AsyncFnOnce(Arc<Database>) -> sqlx::Result<T>,
    ) -> Result<T> {
        let database = self.store.database().await?;
        let result = write(Arc::clone(&database)).await;
        self.store.finish_write(&database, result)
    }

    async fn search_matching(
        &self,
        owner: &EntryOwner,
        expression: &str,
        query: &TextQuery,
    ) -> Result<Vec<MemoryEntry>> {
        let search = owner_query::<EntryRow>(query::SEARCH, owner)
            .bind(expression)
            .bind(query.namespace.as_deref())
            .bind(query.limit);
        let rows = self.fetch_all(search).await?;
        Ok(rows.into_iter().map(MemoryEntry::from).collect())
    }
}

impl MemoryStore for SqliteMemoryStore {
    fn put<'a>(
        &'a self,
        owner: &'a EntryOwner,
        entry: &'a NewEntry,
        quota: MemoryQuota,
    ) -> BoxFuture<'a, Result<PutOutcome>> {
        Box::pin(async move {
            self.write(async |database| write::put(&database, owner, entry, quota).await)
                .await
        })
    }

    fn get<'a>(
        &'a self,
        owner: &'a EntryOwner,
        id: &'a EntryId,
    ) -> BoxFuture<'a, Result<Option<MemoryEntry>>> {
        Box::pin(async move {
            let get = owner_query::<EntryRow>(query::GET, owner)
                .bind(&id.namespace)
                .bind(&id.key);
            let rows = self.fetch_all(get).await?;
            Ok(rows.into_iter().next().map(MemoryEntry::from))
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a EntryOwner,
        range: &'a EntryRange,
    ) -> BoxFuture<'a, Result<Vec<EntrySummary>>> {
        Box::pin(async move {
            let after = range.after.as_ref();
            let list = owner_query::<SummaryRow>(query::LIST, owner)
                .bind(after.map_or("", |id| &id.namespace))
                .bind(after.map_or("", |id| &id.key))
                .bind(range.namespace.as_deref())
                .bind(&range.key_prefix)
                .bind(range.limit);
            let rows = self.fetch_all(list).await?;
            Ok(rows.into_iter().map(EntrySummary::from).collect())
        })
    }

    fn search<'a>(
        &'a self,
        owner: &'a EntryOwner,
        query: &'a TextQuery,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        Box::pin(async move {
            let Some(expressions) = MatchExpressions::new(&query.text) else {
                return Ok(Vec::new());
            };
            let MatchExpressions {
                all_words,
                any_word,
            } = &expressions;
            let matches = self.search_matching(owner, all_words, query).await?;
            if matches.is_empty() && any_word != all_words {
                return self.search_matching(owner, any_word, query).await;
            }
            Ok(matches)
        })
    }

    fn delete<'a>(&'a self, owner: &'a EntryOwner, id: &'a EntryId) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            self.write(async |database| write::delete(&database, owner, id).await)
                .await
        })
    }

    fn clear<'a>(
        &'a self,
        owner: &'a EntryOwner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            self.write(async |database| write::clear(&database, owner, namespace).await)
                .await
        })
    }

    fn recent<'a>(
        &'a self,
        owner: &'a EntryOwner,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        Box::pin(async move {
            let recent = owner_query::<EntryRow>(query::RECENT, owner).bind(limit);
            let rows = self.fetch_all(recent).await?;
            Ok(rows.into_iter().map(MemoryEntry::from).collect())
        })
    }

    fn usage<'a>(
        &'a self,
        owner: &'a EntryOwner,
        expiring_before: UnixMillis,
        max_namespaces: u32,
    ) -> BoxFuture<'a, Result<UsageDetails>> {
        Box::pin(async move {
            let total = owner_query::<(i64, i64, i64)>(query::USAGE, owner);
            let total = self.fetch_one(total.bind(expiring_before.0)).await?;
            let (entries, bytes, expiring) = total;
            let namespaces = owner_query::<(String, i64, i64)>(query::USAGE_BY_NAMESPACE, owner);
            let namespaces = self.fetch_all(namespaces.bind(max_namespaces)).await?;
            Ok(UsageDetails {
                total: rows::usage((entries, bytes)),
                expiring: rows::unsigned(expiring),
                namespaces: rows::namespaces(namespaces),
            })
        })
    }

    fn count<'a>(
        &'a self,
        owner: &'a EntryOwner,
        namespace: Option<&'a str>,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let count = owner_query::<(i64,)>(query::COUNT, owner).bind(namespace);
            let (count,) = self.fetch_one(count).await?;
            Ok(rows::unsigned(count))
        })
    }

    fn total_usage<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<MemoryUsage>> {
        Box::pin(async move {
            let total = sqlx::query_as::<_, (i64, i64)>(query::TOTAL_USAGE).bind(source);
            Ok(rows::usage(self.fetch_one(total).await?))
        })
    }

    fn dump<'a>(&'a self, source: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<OwnedEntry>>> {
        Box::pin(async move {
            let dump = sqlx::query_as::<_, OwnedRow>(query::DUMP)
                .bind(source)
                .bind(UnixMillis::now().0)
                .bind(limit);
            let rows = self.fetch_all(dump).await?;
            Ok(rows.into_iter().map(OwnedEntry::from).collect())
        })
    }

    fn delete_expired(&self) -> BoxFuture<'_, Result<Option<UnixMillis>>> {
        Box::pin(async move {
            let database = self.store.database().await?;
            match write::delete_expired(&database).await {
                Ok(ExpiryRun::NothingExpired { next }) => Ok(next),
                Ok(ExpiryRun::Deleted { next }) => self.store.finish_write(&database, Ok(next)),
                Err(error) => self.store.finish_write(&database, Err(error)),
            }
        })
    }
}
