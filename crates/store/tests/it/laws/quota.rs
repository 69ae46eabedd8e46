//! Quotas, usage and clearing.

use std::time::Duration;

use tidegate_store::UnixMillis;
use tidegate_store::memory::{MemoryQuota, MemoryUsage, NewEntry, PutOutcome, UsageDetails};

use super::{Memory, entry, expired, get, id, in_namespace, keys, owner, put, usage};

pub(crate) async fn enforces_quotas_and_frees_them_on_deletion(memory: Memory) {
    let ada = owner("ada");
    let quota = MemoryQuota {
        entries: 2,
        bytes: 60,
    };
    let put =
        async |key: &str, value: &str| memory.put(&ada, &entry(key, value), quota).await.unwrap();
    assert_eq!(put("a", "1").await, PutOutcome::Added);
    assert_eq!(put("b", "1").await, PutOutcome::Added);
    let used = MemoryUsage {
        entries: 2,
        bytes: 18,
    };
    assert_eq!(put("c", "1").await, PutOutcome::TooManyEntries(used));
    assert_eq!(
        put("a", "\"1234567890123456789012345678901234567890\"").await,
        PutOutcome::Replaced
    );
    let PutOutcome::TooManyBytes(used) = put("b", "\"1234567890\"").await else {
        panic!("the entry exceeds the quota of bytes");
    };
    assert_eq!(used.entries, 2);
    assert_eq!(
        get(&memory, &ada, "b").await.unwrap().value.as_str(),
        "1",
        "a rejected entry changes nothing"
    );
    assert!(memory.delete(&ada, &id("default", "a")).await.unwrap());
    assert_eq!(put("c", "1").await, PutOutcome::Added);
    memory.clear(&ada, None).await.unwrap();
    assert_eq!(
        memory.total_usage("memory").await.unwrap(),
        MemoryUsage::default()
    );
    assert_eq!(
        memory
            .put(&owner("bob"), &entry("a", "1"), quota)
            .await
            .unwrap(),
        PutOutcome::Added
    );
}

pub(crate) async fn clears_one_namespace_or_all(memory: Memory) {
    let ada = owner("ada");
    for number in 0..300 {
        put(&memory, &ada, &in_namespace("a", &format!("k{number}"))).await;
    }
    put(&memory, &ada, &in_namespace("b", "k")).await;
    put(&memory, &ada, &expired("gone")).await;
    for (namespace, count) in [(None, 301), (Some("a"), 300), (Some("none"), 0)] {
        assert_eq!(memory.count(&ada, namespace).await.unwrap(), count);
        assert_eq!(memory.count(&owner("bob"), namespace).await.unwrap(), 0);
    }
    assert_eq!(memory.clear(&ada, Some("none")).await.unwrap(), 0);
    assert_eq!(memory.clear(&ada, Some("a")).await.unwrap(), 300);
    assert_eq!(keys(&memory, &ada).await, ["k"]);
    assert_eq!(memory.clear(&ada, None).await.unwrap(), 1);
    assert_eq!(usage(&memory, &ada).await, UsageDetails::default());
}

pub(crate) async fn reports_usage_by_namespace(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &in_namespace("b", "k")).await;
    put(&memory, &ada, &in_namespace("a", "k1")).await;
    let soon = NewEntry {
        expires: Some(UnixMillis::now().plus(Duration::from_secs(60))),
        ..in_namespace("a", "k2")
    };
    put(&memory, &ada, &soon).await;
    let until = UnixMillis::now().plus(Duration::from_secs(3600));
    let usage = |entries, bytes| MemoryUsage { entries, bytes };
    let mut expected = UsageDetails {
        total: usage(3, 11),
        expiring: 1,
        namespaces: vec![("a".to_owned(), usage(2, 8)), ("b".to_owned(), usage(1, 3))],
    };
    assert_eq!(memory.usage(&ada, until, 10).await.unwrap(), expected);
    expected.namespaces.truncate(1);
    assert_eq!(memory.usage(&ada, until, 1).await.unwrap(), expected);
}
