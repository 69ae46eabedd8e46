//! Pages, recent entries and dumps.

use tidegate_store::UnixMillis;
use tidegate_store::memory::{EntryOwner, EntryRange, EntryTimestamps, NewEntry};

use super::{Memory, entry, expired, in_namespace, owner, put};

pub(crate) async fn pages_through_all_entries_in_order(memory: Memory) {
    let ada = owner("ada");
    for number in 0..25 {
        put(&memory, &ada, &in_namespace("b", &format!("k{number:02}"))).await;
        put(&memory, &ada, &in_namespace("a", &format!("k{number:02}"))).await;
    }
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let range = EntryRange {
            after,
            limit: 7,
            ..EntryRange::default()
        };
        let page = memory.list(&ada, &range).await.unwrap();
        assert!(page.len() <= 7);
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        listed.extend(page.into_iter().map(|entry| entry.id));
    }
    assert_eq!(listed.len(), 50);
    assert!(listed.is_sorted());
    let one_namespace = EntryRange {
        namespace: Some("b".to_owned()),
        limit: 100,
        ..EntryRange::default()
    };
    let entries = memory.list(&ada, &one_namespace).await.unwrap();
    assert_eq!(entries.len(), 25);
    assert!(entries.iter().all(|entry| entry.id.namespace == "b"));
}

pub(crate) async fn treats_a_key_prefix_as_literal_text(memory: Memory) {
    let ada = owner("ada");
    for key in ["a%b", "a_b", "axb", "A%b", "ab", "éa"] {
        put(&memory, &ada, &entry(key, "1")).await;
    }
    for (prefix, expected) in [
        ("a%", &["a%b"][..]),
        ("a_", &["a_b"]),
        ("é", &["éa"]),
        ("A", &["A%b"]),
        ("", &["A%b", "a%b", "a_b", "ab", "axb", "éa"]),
    ] {
        let range = EntryRange {
            key_prefix: prefix.to_owned(),
            limit: 100,
            ..EntryRange::default()
        };
        let entries = memory.list(&ada, &range).await.unwrap();
        let keys: Vec<_> = entries.iter().map(|entry| entry.id.key.as_str()).collect();
        assert_eq!(keys, expected, "{prefix}");
    }
}

pub(crate) async fn lists_recent_entries_newest_first(memory: Memory) {
    let ada = owner("ada");
    for (key, updated) in [("old", 1_000), ("new", 3_000), ("middle", 2_000)] {
        let timestamps = EntryTimestamps {
            created: UnixMillis(0),
            updated: UnixMillis(updated),
        };
        let entry = NewEntry {
            timestamps: Some(timestamps),
            ..entry(key, "1")
        };
        put(&memory, &ada, &entry).await;
    }
    put(&memory, &owner("bob"), &entry("other", "1")).await;
    put(&memory, &ada, &expired("gone")).await;
    let recent = memory.recent(&ada, 2).await.unwrap();
    let keys: Vec<_> = recent.iter().map(|entry| entry.id.key.as_str()).collect();
    assert_eq!(keys, ["new", "middle"]);
}

pub(crate) async fn dumps_the_entries_of_all_owners(memory: Memory) {
    put(&memory, &owner("ada"), &entry("k", "1")).await;
    put(&memory, &owner("bob"), &entry("k", "2")).await;
    let another_source = EntryOwner {
        source: "notes".to_owned(),
        principal: "ada".to_owned(),
    };
    put(&memory, &another_source, &entry("k", "3")).await;
    let dump = memory.dump("memory", 10).await.unwrap();
    let entries: Vec<_> = dump
        .iter()
        .map(|owned| (owned.principal.as_str(), owned.entry.value.as_str()))
        .collect();
    assert_eq!(entries, [("ada", "1"), ("bob", "2")]);
    assert_eq!(memory.dump("memory", 1).await.unwrap().len(), 1);
}
