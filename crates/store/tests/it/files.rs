//! The file: made for its owner alone, and left alone where it is not ours.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_store::memory::memories;
use tidegate_store::{Kind, State, Store, StoreError, Told};

use crate::Place;
use crate::laws::{draft, owner, place, put};

fn file(place: &Place) -> PathBuf {
    place.folder.path().join("tidegate.db")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn refusal(store: &Store) -> StoreError {
    store.open().await.unwrap_err()
}

/// A database with one statement run on it, as another program leaves it.
async fn other_database(file: &Path, sql: &'static str) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(file).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn only_the_owner_can_read_it() {
    let here = Place::new();
    let deep = here.folder.path().join("a/b");
    let store = Arc::new(Store::in_folder(&deep));
    assert_eq!(store.state(), State::Closed);
    assert!(!deep.exists(), "nothing is made before it is needed");
    put(&memories(&store), &owner("ada"), &draft("k", "1")).await;
    assert_eq!(store.state(), State::Open);
    assert_eq!((mode(&deep), mode(deep.parent().unwrap())), (0o700, 0o700));
    for name in ["tidegate.db", "tidegate.db-wal", "tidegate.db-shm"] {
        assert_eq!(mode(&deep.join(name)), 0o600, "{name}");
    }
    store.close().await;
    let file = deep.join("tidegate.db");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let again = Arc::new(Store::in_folder(&deep));
    let (kept, ada, k) = (memories(&again), owner("ada"), place("default", "k"));
    assert!(kept.get(&ada, &k).await.unwrap().is_some());
    assert_eq!(mode(&file), 0o600, "it is closed to others again");
}

#[tokio::test]
async fn a_file_of_another_program_is_left_alone() {
    let here = Place::new();
    fs::write(file(&here), "shopping list: milk, bread, butter\n").unwrap();
    let error = refusal(&here.store).await;
    assert_eq!(error.kind(), Kind::Foreign);
    assert!(
        error
            .to_string()
            .contains("this is not a Tidegate database"),
        "{error}"
    );
    assert!(error.to_string().contains("--data-dir"), "{error}");
    let text = fs::read_to_string(file(&here)).unwrap();
    assert_eq!(text, "shopping list: milk, bread, butter\n");

    let here = Place::new();
    other_database(&file(&here), "CREATE TABLE songs (name TEXT)").await;
    let before = fs::read(file(&here)).unwrap();
    assert_eq!(refusal(&here.store).await.kind(), Kind::Foreign);
    assert_eq!(fs::read(file(&here)).unwrap(), before);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_left_alone() {
    let here = Place::new();
    here.store.open().await.unwrap();
    here.store.close().await;
    other_database(&file(&here), "PRAGMA user_version = 1000").await;
    let before = fs::read(file(&here)).unwrap();
    let error = refusal(&here.beside()).await;
    assert_eq!(error.kind(), Kind::Newer);
    assert!(error.to_string().contains("format 1000"), "{error}");
    assert_eq!(fs::read(file(&here)).unwrap(), before);
}

#[tokio::test]
async fn a_damaged_file_is_told() {
    let here = Place::new();
    let kept = memories(&here.store);
    for number in 0..200 {
        let value = format!("\"{}\"", "word ".repeat(100));
        put(&kept, &owner("ada"), &draft(&format!("k{number}"), &value)).await;
    }
    here.store.close().await;
    let mut bytes = fs::read(file(&here)).unwrap();
    assert!(bytes.len() > 64 * 1024);
    for byte in &mut bytes[8192..32768] {
        *byte = 0x5a;
    }
    fs::write(file(&here), bytes).unwrap();
    let beside = here.beside();
    let error = refusal(&beside).await;
    assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(matches!(
        beside.state(),
        State::Failing {
            kind: Kind::Corrupt,
            ..
        }
    ));
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_told_and_tried_again() {
    let here = Place::new();
    let blocked = here.folder.path().join("data");
    fs::write(&blocked, "a file").unwrap();
    let store = Arc::new(Store::in_folder(&blocked));
    let error = refusal(&store).await;
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    assert!(
        error.to_string().contains(blocked.to_str().unwrap()),
        "{error}"
    );
    let public = tidegate_core::Error::from(error);
    assert!(!public.message().contains('/'), "no path: {public}");
    fs::remove_file(&blocked).unwrap();
    while store.open().await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(store.state(), State::Open);
}

#[tokio::test]
async fn many_open_a_new_file_at_once() {
    let here = Place::new();
    let opening = (0..8).map(|_| {
        let store = here.beside();
        tokio::spawn(async move { store.open().await })
    });
    for opened in opening.collect::<Vec<_>>() {
        opened.await.unwrap().unwrap();
    }
}

/// What a process leaves that ended before its first commit.
#[tokio::test]
async fn an_empty_file_is_a_new_one() {
    let here = Place::new();
    fs::write(file(&here), "").unwrap();
    here.store.open().await.unwrap();
    let here = Place::new();
    other_database(&file(&here), "PRAGMA journal_mode = WAL").await;
    here.store.open().await.unwrap();
}

/// A file that was removed lives on for those who have it open: what they write there is lost.
#[tokio::test]
async fn a_file_that_was_removed_is_not_written() {
    let here = Place::new();
    let (kept, ada) = (memories(&here.store), owner("ada"));
    put(&kept, &ada, &draft("before", "1")).await;
    for name in ["tidegate.db", "tidegate.db-wal", "tidegate.db-shm"] {
        fs::remove_file(here.folder.path().join(name)).unwrap();
    }
    assert!(
        matches!(
            here.store.state(),
            State::Failing {
                kind: Kind::Gone,
                ..
            }
        ),
        "{:?}",
        here.store.state()
    );
    put(&kept, &ada, &draft("after", "1")).await;
    assert_eq!(here.store.state(), State::Open);
    let beside = memories(&here.beside());
    for (key, is_there) in [("before", false), ("after", true)] {
        let place = place("default", key);
        for kept in [&kept, &beside] {
            assert_eq!(kept.get(&ada, &place).await.unwrap().is_some(), is_there);
        }
    }
}

/// The log of writes alone: what is in it, nobody else would see.
#[tokio::test]
async fn a_log_of_writes_that_was_removed_is_not_written() {
    let here = Place::new();
    let (kept, ada) = (memories(&here.store), owner("ada"));
    put(&kept, &ada, &draft("before", "1")).await;
    for name in ["tidegate.db-wal", "tidegate.db-shm"] {
        fs::remove_file(here.folder.path().join(name)).unwrap();
    }
    put(&kept, &ada, &draft("after", "1")).await;
    let place = place("default", "after");
    let beside = memories(&here.beside());
    assert!(beside.get(&ada, &place).await.unwrap().is_some());
}

/// Another file in its place is what counts from then on, also for those who follow it.
#[tokio::test]
async fn a_file_that_was_replaced_is_opened() {
    let (here, other) = (Place::new(), Place::new());
    let (kept, ada) = (memories(&here.store), owner("ada"));
    put(&memories(&other.store), &ada, &draft("other", "1")).await;
    other.store.close().await;
    put(&kept, &ada, &draft("own", "1")).await;
    let following = Arc::clone(&here.store);
    let following = tokio::spawn(async move { following.run().await });
    here.store.followed().await;
    let mut changes = here.store.changes();
    fs::rename(file(&other), file(&here)).unwrap();
    let place = place("default", "other");
    assert!(kept.get(&ada, &place).await.unwrap().is_some());
    let gap = async { while changes.next().await != Told::Gap {} };
    let told = tokio::time::timeout(std::time::Duration::from_secs(60), gap).await;
    told.expect("whoever listens is told that anything may have changed");
    following.abort();
}
