//! Storing, reading and deleting entries.

use std::sync::Arc;

use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryOwner, EntryTimestamps, NewEntry, PutOutcome, UsageDetails};

use super::{Memory, entry, get, id, keys, owner, put, search, tagged, usage};

pub(crate) async fn preserves_the_exact_text_of_values(memory: Memory) {
    let ada = owner("ada");
    for value in [
        "1.50",
        "12345678901234567890",
        "-0",
        "1e400",
        "null",
        "\"\"",
        r#"{ "z": 1, "a": [ 1.0 ], "\u00e9": "\ud83d\ude00" }"#,
    ] {
        put(&memory, &ada, &entry("k", value)).await;
        let entry = get(&memory, &ada, "k").await.unwrap();
        assert_eq!(entry.value.as_str(), value);
    }
}

pub(crate) async fn returns_an_entry_until_it_is_deleted(memory: Memory) {
    let ada = owner("ada");
    let keys = [
        "k",
        "K",
        "a/b c?d#e%41",
        "é",
        "日本",
        "'; DROP TABLE x; --",
        "x".repeat(256).as_str(),
    ]
    .map(str::to_owned);
    for key in &keys {
        assert_eq!(
            put(&memory, &ada, &tagged(key, "1", &["t", "u v"])).await,
            PutOutcome::Added
        );
    }
    for key in &keys {
        let entry = get(&memory, &ada, key).await.unwrap();
        assert_eq!(entry.id, id("default", key));
        assert_eq!(entry.tags, ["t", "u v"]);
        assert_eq!(entry.expires, None);
    }
    for key in &keys {
        let id = id("default", key);
        assert!(memory.delete(&ada, &id).await.unwrap());
        assert!(!memory.delete(&ada, &id).await.unwrap());
        assert_eq!(get(&memory, &ada, key).await, None);
    }
}

pub(crate) async fn replacing_keeps_the_creation_time(memory: Memory) {
    let ada = owner("ada");
    let long_ago = EntryTimestamps {
        created: UnixMillis(1_000),
        updated: UnixMillis(1_000),
    };
    let old = NewEntry {
        timestamps: Some(long_ago),
        ..tagged("k", "1", &["old"])
    };
    put(&memory, &ada, &old).await;
    assert_eq!(
        put(&memory, &ada, &entry("k", "[22]")).await,
        PutOutcome::Replaced
    );
    let second = get(&memory, &ada, "k").await.unwrap();
    assert_eq!((second.value.as_str(), second.tags.len()), ("[22]", 0));
    assert_eq!(second.created, long_ago.created);
    assert!(second.updated > long_ago.updated);
    assert_eq!(keys(&memory, &ada).await, ["k"]);
}

pub(crate) async fn stores_given_timestamps(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &entry("k", "1")).await;
    let timestamps = EntryTimestamps {
        created: UnixMillis(1_000),
        updated: UnixMillis(2_000),
    };
    let given = NewEntry {
        timestamps: Some(timestamps),
        ..entry("k", "1")
    };
    put(&memory, &ada, &given).await;
    let entry = get(&memory, &ada, "k").await.unwrap();
    assert_eq!(entry.created, timestamps.created);
    assert_eq!(entry.updated, timestamps.updated);
}

pub(crate) async fn separates_owners(memory: Memory) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let at_another_source = EntryOwner {
        source: "notes".to_owned(),
        ..ada.clone()
    };
    put(&memory, &ada, &tagged("k", "\"secret word\"", &["tag"])).await;
    for other in [&bob, &at_another_source] {
        assert_eq!(get(&memory, other, "k").await, None);
        assert_eq!(keys(&memory, other).await, Vec::<String>::new());
        for text in ["secret", "k", "tag"] {
            assert_eq!(search(&memory, other, text).await, Vec::<String>::new());
        }
        assert_eq!(usage(&memory, other).await, UsageDetails::default());
        assert!(!memory.delete(other, &id("default", "k")).await.unwrap());
        assert_eq!(memory.clear(other, None).await.unwrap(), 0);
        assert_eq!(
            put(&memory, other, &entry("k", "2")).await,
            PutOutcome::Added
        );
        memory.clear(other, None).await.unwrap();
    }
    assert!(get(&memory, &ada, "k").await.is_some());
}

pub(crate) async fn accepts_concurrent_writes(memory: Memory) {
    let writers = (0..20).map(|writer| {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move {
            for number in 0..10 {
                let entry = entry(&format!("k{writer}-{number}"), "1");
                put(&memory, &owner("ada"), &entry).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(memory.total_usage("memory").await.unwrap().entries, 200);
}
