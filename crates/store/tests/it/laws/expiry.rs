//! Expiry of entries.

use std::time::Duration;

use tidegate_store::UnixMillis;
use tidegate_store::memory::{MemoryQuota, NewEntry, PutOutcome, UsageDetails};

use super::{Memory, TEST_TIMEOUT, entry, expired, get, id, keys, owner, put, search, usage};

pub(crate) async fn never_returns_expired_entries(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &expired("k")).await;
    assert_eq!(get(&memory, &ada, "k").await, None);
    assert_eq!(keys(&memory, &ada).await, Vec::<String>::new());
    assert_eq!(search(&memory, &ada, "gone").await, Vec::<String>::new());
    assert_eq!(usage(&memory, &ada).await, UsageDetails::default());
    assert_eq!(memory.dump("memory", 10).await.unwrap(), []);
    assert!(!memory.delete(&ada, &id("default", "k")).await.unwrap());
    put(&memory, &ada, &expired("k")).await;
    assert_eq!(memory.clear(&ada, None).await.unwrap(), 0);
    let soon = NewEntry {
        expires: Some(UnixMillis::now().plus(Duration::from_millis(50))),
        ..entry("soon", "1")
    };
    put(&memory, &ada, &soon).await;
    let expiry = async {
        while get(&memory, &ada, "soon").await.is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let expiry = tokio::time::timeout(TEST_TIMEOUT, expiry).await;
    expiry.expect("the entry expires");
}

pub(crate) async fn expired_entries_do_not_count_towards_the_quota(memory: Memory) {
    let ada = owner("ada");
    let one_entry = MemoryQuota {
        entries: 1,
        bytes: 1_000,
    };
    put(&memory, &ada, &expired("old")).await;
    let before = UnixMillis::now();
    assert_eq!(
        memory
            .put(&ada, &entry("new", "1"), one_entry)
            .await
            .unwrap(),
        PutOutcome::Added
    );
    put(&memory, &ada, &expired("new")).await;
    // An expired entry is not replaced: the next one counts as added.
    assert_eq!(
        memory
            .put(&ada, &entry("new", "2"), one_entry)
            .await
            .unwrap(),
        PutOutcome::Added
    );
    assert!(get(&memory, &ada, "new").await.unwrap().created >= before);
}

pub(crate) async fn deleting_expired_entries_returns_the_next_expiry(memory: Memory) {
    let ada = owner("ada");
    assert_eq!(memory.delete_expired().await.unwrap(), None);
    let later = UnixMillis::now().plus(Duration::from_secs(3600));
    let unexpired = NewEntry {
        expires: Some(later),
        ..entry("later", "1")
    };
    put(&memory, &ada, &unexpired).await;
    put(&memory, &owner("bob"), &expired("gone")).await;
    put(&memory, &ada, &entry("permanent", "1")).await;
    assert_eq!(memory.delete_expired().await.unwrap(), Some(later));
    assert_eq!(memory.total_usage("memory").await.unwrap().entries, 2);
    assert_eq!(keys(&memory, &ada).await, ["later", "permanent"]);
}
