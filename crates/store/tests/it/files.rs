//! The database file: its permissions, and files that must not be modified.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tidegate_store::memory::memory_store;
use tidegate_store::{Store, StoreError, StoreErrorKind, StoreEvent, StoreState};

use crate::TestStore;
use crate::laws::{TEST_TIMEOUT, entry, id, owner, put};

const FILE_NAMES: [&str; 3] = ["tidegate.db", "tidegate.db-wal", "tidegate.db-shm"];

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn open_error(store: &Store) -> StoreError {
    store.open().await.unwrap_err()
}

/// Runs a statement on the file, as another program would.
async fn run_sql(file: &Path, sql: &'static str) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(file).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn creates_files_that_only_the_owner_can_read() {
    let test = TestStore::new();
    let deep = test.folder.path().join("a/b");
    let store = Arc::new(Store::in_folder(&deep));
    assert_eq!(store.state(), StoreState::Closed);
    assert!(!deep.exists(), "nothing is created before the first use");
    put(&memory_store(&store), &owner("ada"), &entry("k", "1")).await;
    assert_eq!(store.state(), StoreState::Open);
    assert_eq!((mode(&deep), mode(deep.parent().unwrap())), (0o700, 0o700));
    for name in FILE_NAMES {
        assert_eq!(mode(&deep.join(name)), 0o600, "{name}");
    }
    store.close().await;
    let file = deep.join("tidegate.db");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let again = Arc::new(Store::in_folder(&deep));
    let (memory, ada, k) = (memory_store(&again), owner("ada"), id("default", "k"));
    assert!(memory.get(&ada, &k).await.unwrap().is_some());
    assert_eq!(mode(&file), 0o600, "permissions are restricted again");
}

#[tokio::test]
async fn does_not_modify_a_file_of_another_program() {
    let test = TestStore::new();
    fs::write(test.file(), "shopping list: milk, bread, butter\n").unwrap();
    let error = open_error(&test.store).await;
    assert_eq!(error.kind(), StoreErrorKind::Foreign);
    assert!(
        error
            .to_string()
            .contains("this is not a Tidegate database"),
        "{error}"
    );
    assert!(error.to_string().contains("--data-dir"), "{error}");
    let text = fs::read_to_string(test.file()).unwrap();
    assert_eq!(text, "shopping list: milk, bread, butter\n");

    let test = TestStore::new();
    run_sql(&test.file(), "CREATE TABLE songs (name TEXT)").await;
    let before = fs::read(test.file()).unwrap();
    assert_eq!(
        open_error(&test.store).await.kind(),
        StoreErrorKind::Foreign
    );
    assert_eq!(fs::read(test.file()).unwrap(), before);
}

#[tokio::test]
async fn does_not_modify_a_file_of_a_newer_version() {
    let test = TestStore::new();
    test.store.open().await.unwrap();
    test.store.close().await;
    run_sql(&test.file(), "PRAGMA user_version = 1000").await;
    let before = fs::read(test.file()).unwrap();
    let error = open_error(&test.second_process()).await;
    assert_eq!(error.kind(), StoreErrorKind::NewerFormat);
    assert!(error.to_string().contains("format 1000"), "{error}");
    assert_eq!(fs::read(test.file()).unwrap(), before);
}

#[tokio::test]
async fn reports_a_damaged_file() {
    let test = TestStore::new();
    let memory = memory_store(&test.store);
    for number in 0..200 {
        let value = format!("\"{}\"", "word ".repeat(100));
        put(
            &memory,
            &owner("ada"),
            &entry(&format!("k{number}"), &value),
        )
        .await;
    }
    test.store.close().await;
    let mut bytes = fs::read(test.file()).unwrap();
    assert!(bytes.len() > 64 * 1024);
    for byte in &mut bytes[8192..32768] {
        *byte = 0x5a;
    }
    fs::write(test.file(), bytes).unwrap();
    let second = test.second_process();
    let error = open_error(&second).await;
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(matches!(
        second.state(),
        StoreState::Failing {
            kind: StoreErrorKind::Corrupt,
            ..
        }
    ));
}

#[tokio::test]
async fn reports_a_folder_that_cannot_be_created_and_retries() {
    let test = TestStore::new();
    let blocked = test.folder.path().join("data");
    fs::write(&blocked, "a file").unwrap();
    let store = Arc::new(Store::in_folder(&blocked));
    let error = open_error(&store).await;
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(
        error.to_string().contains(blocked.to_str().unwrap()),
        "{error}"
    );
    let public = tidegate_core::Error::from(error);
    assert!(!public.message().contains('/'), "contains a path: {public}");
    fs::remove_file(&blocked).unwrap();
    let opened = async {
        while store.open().await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let opened = tokio::time::timeout(TEST_TIMEOUT, opened).await;
    opened.expect("the folder can be created now");
    assert_eq!(store.state(), StoreState::Open);
}

#[tokio::test]
async fn opens_a_new_file_from_several_processes_at_once() {
    let test = TestStore::new();
    let opening = (0..8).map(|_| {
        let store = test.second_process();
        tokio::spawn(async move { store.open().await })
    });
    for opened in opening.collect::<Vec<_>>() {
        opened.await.unwrap().unwrap();
    }
}

/// A process that ends before its first commit leaves such files.
#[tokio::test]
async fn accepts_an_empty_file() {
    let test = TestStore::new();
    fs::write(test.file(), "").unwrap();
    test.store.open().await.unwrap();
    let test = TestStore::new();
    run_sql(&test.file(), "PRAGMA journal_mode = WAL").await;
    test.store.open().await.unwrap();
}

/// A removed file lives on for processes that have it open; what they write there is lost.
#[tokio::test]
async fn does_not_write_to_a_removed_file() {
    let test = TestStore::new();
    let (memory, ada) = (memory_store(&test.store), owner("ada"));
    put(&memory, &ada, &entry("before", "1")).await;
    for name in FILE_NAMES {
        fs::remove_file(test.folder.path().join(name)).unwrap();
    }
    assert!(
        matches!(
            test.store.state(),
            StoreState::Failing {
                kind: StoreErrorKind::Replaced,
                ..
            }
        ),
        "{:?}",
        test.store.state()
    );
    put(&memory, &ada, &entry("after", "1")).await;
    assert_eq!(test.store.state(), StoreState::Open);
    let second = memory_store(&test.second_process());
    for (key, exists) in [("before", false), ("after", true)] {
        let id = id("default", key);
        for memory in [&memory, &second] {
            assert_eq!(memory.get(&ada, &id).await.unwrap().is_some(), exists);
        }
    }
}

/// Without the write-ahead log, other processes would not see the write.
#[tokio::test]
async fn does_not_write_to_a_removed_write_ahead_log() {
    let test = TestStore::new();
    let (memory, ada) = (memory_store(&test.store), owner("ada"));
    put(&memory, &ada, &entry("before", "1")).await;
    for name in &FILE_NAMES[1..] {
        fs::remove_file(test.folder.path().join(name)).unwrap();
    }
    put(&memory, &ada, &entry("after", "1")).await;
    let id = id("default", "after");
    let second = memory_store(&test.second_process());
    assert!(second.get(&ada, &id).await.unwrap().is_some());
}

/// Later reads, and subscribers, use the new file.
#[tokio::test]
async fn opens_a_file_that_replaced_the_database() {
    let (test, other) = (TestStore::new(), TestStore::new());
    let (memory, ada) = (memory_store(&test.store), owner("ada"));
    put(&memory_store(&other.store), &ada, &entry("other", "1")).await;
    other.store.close().await;
    put(&memory, &ada, &entry("own", "1")).await;
    let following = Arc::clone(&test.store);
    let following = tokio::spawn(async move { following.run().await });
    test.store.wait_until_following().await;
    let mut events = test.store.subscribe();
    fs::rename(other.file(), test.file()).unwrap();
    let id = id("default", "other");
    assert!(memory.get(&ada, &id).await.unwrap().is_some());
    let gap = async { while events.next().await != StoreEvent::Gap {} };
    let gap = tokio::time::timeout(TEST_TIMEOUT, gap).await;
    gap.expect("subscribers get a gap");
    following.abort();
}
