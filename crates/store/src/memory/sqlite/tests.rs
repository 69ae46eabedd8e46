//! Behaviour that only shows inside SQLite: query plans, a full disk, a locked file.

use std::time::Duration;

use sqlx::AssertSqlSafe;
use tempfile::TempDir;
use tidegate_core::RawJson;

use super::super::memory_store;
use super::*;
use crate::{StoreErrorKind, StoreState};

/// Long enough for a busy machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

const UNLIMITED: MemoryQuota = MemoryQuota {
    entries: u64::MAX,
    bytes: u64::MAX,
};

fn temporary_folder() -> TempDir {
    TempDir::with_prefix("tidegate-store-").unwrap()
}

fn entry(key: &str, value: &str) -> NewEntry {
    NewEntry {
        id: EntryId {
            namespace: "default".to_owned(),
            key: key.to_owned(),
        },
        value: RawJson::string(value),
        tags: Vec::new(),
        expires: None,
        timestamps: None,
    }
}

fn owner() -> EntryOwner {
    EntryOwner {
        source: "memory".to_owned(),
        principal: "ada".to_owned(),
    }
}

/// Starting with the entries instead takes a thousand times as long for ten thousand entries.
#[tokio::test]
async fn search_starts_with_the_full_text_index() {
    let folder = temporary_folder();
    let store = Store::in_folder(folder.path());
    let database = store.database().await.unwrap();
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", query::SEARCH));
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain)
        .fetch_all(database.readers())
        .await
        .unwrap();
    assert!(plan[0].3.contains("memory_words"), "{plan:?}");
}

/// SQLite's page limit fails in the same way as a full disk. It ends with its connection.
#[tokio::test]
async fn reports_a_full_disk_and_recovers() {
    let folder = temporary_folder();
    let store = Arc::new(Store::in_folder(folder.path()));
    let memory = memory_store(&store);
    let put = async |entry: &NewEntry| memory.put(&owner(), entry, UNLIMITED).await;
    put(&entry("first", "x")).await.unwrap();
    let set_limit = async |sql: &'static str| {
        let database = store.database().await.unwrap();
        let mut transaction = database.begin_write().await.unwrap();
        sqlx::query(sql).execute(&mut *transaction).await.unwrap();
        transaction.commit().await.unwrap();
    };
    set_limit("PRAGMA max_page_count = 40").await;
    let large = entry("large", &"x".repeat(1 << 20));
    let error = put(&large).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::StorageFull, "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    assert!(matches!(
        store.state(),
        StoreState::Failing {
            kind: StoreErrorKind::StorageFull,
            ..
        }
    ));
    let first = entry("first", "").id;
    let read = memory.get(&owner(), &first).await.unwrap();
    assert!(read.is_some(), "reading still works");
    assert_eq!(put(&large).await.unwrap(), PutOutcome::Added);
    assert_eq!(store.state(), StoreState::Open);
}

#[tokio::test]
async fn reports_a_locked_file_and_recovers() {
    let folder = temporary_folder();
    let stores = [(); 2].map(|()| Arc::new(Store::in_folder(folder.path())));
    let first = stores[0].database().await.unwrap();
    let lock = first.begin_write().await.unwrap();
    // Opening takes no write lock.
    stores[1].open().await.unwrap();
    let memory = memory_store(&stores[1]);
    let put = async || memory.put(&owner(), &entry("k", "x"), UNLIMITED).await;
    let error = put().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Locked, "{error}");
    drop(lock);
    let unlocked = async { while put().await.is_err() {} };
    let unlocked = tokio::time::timeout(TEST_TIMEOUT, unlocked).await;
    unlocked.expect("the lock was released");
    assert_eq!(stores[1].state(), StoreState::Open);
}
