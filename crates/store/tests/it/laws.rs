//! What must hold of memories, whatever database keeps them.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{BoxFuture, RawJson};
use tidegate_store::Millis;
use tidegate_store::memory::{
    Draft, Entry, Kept, Memories, Owner, Place, Put, Quota, Scan, Search, Usage,
};

pub(crate) type Law = fn(Arc<dyn Memories>) -> BoxFuture<'static, ()>;

type All = Arc<dyn Memories>;

const PLENTY: Quota = Quota {
    entries: 1_000_000,
    bytes: u64::MAX,
};

pub(crate) fn owner(principal: &str) -> Owner {
    Owner {
        source: "memory".to_owned(),
        principal: principal.to_owned(),
    }
}

pub(crate) fn place(namespace: &str, key: &str) -> Place {
    Place {
        namespace: namespace.to_owned(),
        key: key.to_owned(),
    }
}

pub(crate) fn draft(key: &str, value: &str) -> Draft {
    Draft {
        place: place("default", key),
        value: RawJson::parse(value.to_owned()).unwrap(),
        tags: Vec::new(),
        expires: None,
        times: None,
    }
}

fn expired(key: &str) -> Draft {
    Draft {
        expires: Some(Millis(Millis::now().0 - 1)),
        ..draft(key, "\"gone\"")
    }
}

fn tagged(key: &str, value: &str, tags: &[&str]) -> Draft {
    Draft {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..draft(key, value)
    }
}

fn inside(namespace: &str, key: &str) -> Draft {
    Draft {
        place: place(namespace, key),
        ..draft(key, "1")
    }
}

pub(crate) async fn put(memories: &All, owner: &Owner, draft: &Draft) -> Put {
    memories.put(owner, draft, PLENTY).await.unwrap()
}

async fn get(memories: &All, owner: &Owner, key: &str) -> Option<Entry> {
    let place = place("default", key);
    memories.get(owner, &place).await.unwrap()
}

async fn keys(memories: &All, owner: &Owner) -> Vec<String> {
    let scan = Scan {
        limit: 100,
        ..Scan::default()
    };
    let found = memories.scan(owner, &scan).await.unwrap();
    found.into_iter().map(|one| one.place.key).collect()
}

async fn search(memories: &All, owner: &Owner, words: &str) -> Vec<String> {
    let search = Search {
        words: words.to_owned(),
        namespace: None,
        limit: 10,
    };
    let found = memories.search(owner, &search).await.unwrap();
    found.into_iter().map(|one| one.place.key).collect()
}

async fn kept(memories: &All, owner: &Owner) -> Kept {
    memories.kept(owner, Millis::now(), 10).await.unwrap()
}

pub(crate) async fn a_value_keeps_its_text(memories: All) {
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
        put(&memories, &ada, &draft("k", value)).await;
        let entry = get(&memories, &ada, "k").await.unwrap();
        assert_eq!(entry.value.as_str(), value);
    }
}

pub(crate) async fn what_is_put_is_got_until_it_is_deleted(memories: All) {
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
            put(&memories, &ada, &tagged(key, "1", &["t", "u v"])).await,
            Put::Added
        );
    }
    for key in &keys {
        let entry = get(&memories, &ada, key).await.unwrap();
        assert_eq!(entry.place, place("default", key));
        assert_eq!(entry.tags, ["t", "u v"]);
        assert_eq!(entry.expires, None);
    }
    for key in &keys {
        let place = place("default", key);
        assert!(memories.delete(&ada, &place).await.unwrap());
        assert!(!memories.delete(&ada, &place).await.unwrap());
        assert_eq!(get(&memories, &ada, key).await, None);
    }
}

pub(crate) async fn what_is_put_again_is_replaced_and_keeps_its_age(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &tagged("k", "1", &["old"])).await;
    let first = get(&memories, &ada, "k").await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(
        put(&memories, &ada, &draft("k", "[22]")).await,
        Put::Replaced
    );
    let second = get(&memories, &ada, "k").await.unwrap();
    assert_eq!((second.value.as_str(), second.tags.len()), ("[22]", 0));
    assert_eq!(second.created, first.created);
    assert!(second.updated > first.updated);
    assert_eq!(keys(&memories, &ada).await, ["k"]);
}

pub(crate) async fn times_that_are_given_are_kept(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &draft("k", "1")).await;
    let times = Some((Millis(1_000), Millis(2_000)));
    let given = Draft {
        times,
        ..draft("k", "1")
    };
    put(&memories, &ada, &given).await;
    let entry = get(&memories, &ada, "k").await.unwrap();
    assert_eq!(Some((entry.created, entry.updated)), times);
}

pub(crate) async fn owners_see_only_their_own(memories: All) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let elsewhere = Owner {
        source: "notes".to_owned(),
        ..ada.clone()
    };
    put(&memories, &ada, &tagged("k", "\"secret word\"", &["tag"])).await;
    for other in [&bob, &elsewhere] {
        assert_eq!(get(&memories, other, "k").await, None);
        assert_eq!(keys(&memories, other).await, Vec::<String>::new());
        for words in ["secret", "k", "tag"] {
            assert_eq!(search(&memories, other, words).await, Vec::<String>::new());
        }
        assert_eq!(kept(&memories, other).await, Kept::default());
        assert!(
            !memories
                .delete(other, &place("default", "k"))
                .await
                .unwrap()
        );
        assert_eq!(memories.clear(other, None).await.unwrap(), 0);
        assert_eq!(put(&memories, other, &draft("k", "2")).await, Put::Added);
        memories.clear(other, None).await.unwrap();
    }
    assert!(get(&memories, &ada, "k").await.is_some());
}

pub(crate) async fn what_expired_is_nowhere(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &expired("k")).await;
    assert_eq!(get(&memories, &ada, "k").await, None);
    assert_eq!(keys(&memories, &ada).await, Vec::<String>::new());
    assert_eq!(search(&memories, &ada, "gone").await, Vec::<String>::new());
    assert_eq!(kept(&memories, &ada).await, Kept::default());
    assert_eq!(memories.dump("memory", 10).await.unwrap(), []);
    assert!(!memories.delete(&ada, &place("default", "k")).await.unwrap());
    put(&memories, &ada, &expired("k")).await;
    assert_eq!(memories.clear(&ada, None).await.unwrap(), 0);
    let soon = Draft {
        expires: Some(Millis::now().plus(Duration::from_millis(50))),
        ..draft("soon", "1")
    };
    put(&memories, &ada, &soon).await;
    while get(&memories, &ada, "soon").await.is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn expiry_frees_its_place(memories: All) {
    let ada = owner("ada");
    let one = Quota {
        entries: 1,
        bytes: 1_000,
    };
    put(&memories, &ada, &expired("old")).await;
    let before = Millis::now();
    assert_eq!(
        memories.put(&ada, &draft("new", "1"), one).await.unwrap(),
        Put::Added
    );
    put(&memories, &ada, &expired("new")).await;
    // What has expired is not replaced: the next one is new.
    assert_eq!(
        memories.put(&ada, &draft("new", "2"), one).await.unwrap(),
        Put::Added
    );
    assert!(get(&memories, &ada, "new").await.unwrap().created >= before);
}

pub(crate) async fn sweeping_says_when_to_come_again(memories: All) {
    let ada = owner("ada");
    assert_eq!(memories.sweep().await.unwrap(), None);
    let later = Millis::now().plus(Duration::from_secs(3600));
    let lasting = Draft {
        expires: Some(later),
        ..draft("later", "1")
    };
    put(&memories, &ada, &lasting).await;
    put(&memories, &owner("bob"), &expired("gone")).await;
    put(&memories, &ada, &draft("ever", "1")).await;
    assert_eq!(memories.sweep().await.unwrap(), Some(later));
    assert_eq!(memories.total("memory").await.unwrap().entries, 2);
    assert_eq!(keys(&memories, &ada).await, ["ever", "later"]);
}

pub(crate) async fn quotas_hold_and_are_freed_again(memories: All) {
    let ada = owner("ada");
    let quota = Quota {
        entries: 2,
        bytes: 60,
    };
    let put =
        async |key: &str, value: &str| memories.put(&ada, &draft(key, value), quota).await.unwrap();
    assert_eq!(put("a", "1").await, Put::Added);
    assert_eq!(put("b", "1").await, Put::Added);
    let used = Usage {
        entries: 2,
        bytes: 18,
    };
    assert_eq!(put("c", "1").await, Put::TooMany(used));
    assert_eq!(
        put("a", "\"1234567890123456789012345678901234567890\"").await,
        Put::Replaced
    );
    let Put::TooLarge(used) = put("b", "\"1234567890\"").await else {
        panic!("it is too large");
    };
    assert_eq!(used.entries, 2);
    assert_eq!(
        get(&memories, &ada, "b").await.unwrap().value.as_str(),
        "1",
        "nothing changed"
    );
    assert!(memories.delete(&ada, &place("default", "a")).await.unwrap());
    assert_eq!(put("c", "1").await, Put::Added);
    memories.clear(&ada, None).await.unwrap();
    assert_eq!(memories.total("memory").await.unwrap(), Usage::default());
    assert_eq!(
        memories
            .put(&owner("bob"), &draft("a", "1"), quota)
            .await
            .unwrap(),
        Put::Added
    );
}

pub(crate) async fn scans_go_through_everything_in_order(memories: All) {
    let ada = owner("ada");
    for number in 0..25 {
        put(&memories, &ada, &inside("b", &format!("k{number:02}"))).await;
        put(&memories, &ada, &inside("a", &format!("k{number:02}"))).await;
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let scan = Scan {
            after,
            limit: 7,
            ..Scan::default()
        };
        let page = memories.scan(&ada, &scan).await.unwrap();
        assert!(page.len() <= 7);
        let Some(last) = page.last() else { break };
        after = Some(last.place.clone());
        seen.extend(page.into_iter().map(|one| one.place));
    }
    assert_eq!(seen.len(), 50);
    assert!(seen.is_sorted());
    let only = Scan {
        namespace: Some("b".to_owned()),
        limit: 100,
        ..Scan::default()
    };
    let found = memories.scan(&ada, &only).await.unwrap();
    assert_eq!(found.len(), 25);
    assert!(found.iter().all(|one| one.place.namespace == "b"));
}

pub(crate) async fn a_prefix_is_text(memories: All) {
    let ada = owner("ada");
    for key in ["a%b", "a_b", "axb", "A%b", "ab", "éa"] {
        put(&memories, &ada, &draft(key, "1")).await;
    }
    for (prefix, expected) in [
        ("a%", &["a%b"][..]),
        ("a_", &["a_b"]),
        ("é", &["éa"]),
        ("A", &["A%b"]),
        ("", &["A%b", "a%b", "a_b", "ab", "axb", "éa"]),
    ] {
        let scan = Scan {
            prefix: prefix.to_owned(),
            limit: 100,
            ..Scan::default()
        };
        let found = memories.scan(&ada, &scan).await.unwrap();
        let keys: Vec<_> = found.iter().map(|one| one.place.key.as_str()).collect();
        assert_eq!(keys, expected, "{prefix}");
    }
}

pub(crate) async fn words_are_found_in_keys_values_and_tags(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &draft("user_name", "1")).await;
    put(
        &memories,
        &ada,
        &draft("v", r#"{"colour":["Crème","fish\nchips"],"n":1.50}"#),
    )
    .await;
    put(&memories, &ada, &tagged("t", "1", &["project-x"])).await;
    for (words, key) in [
        ("name", "user_name"),
        ("USER", "user_name"),
        ("colour", "v"),
        ("creme", "v"),
        ("chips", "v"),
        ("chi", "v"),
        ("50", "v"),
        ("project", "t"),
    ] {
        assert_eq!(search(&memories, &ada, words).await, [key], "{words}");
    }
}

pub(crate) async fn all_words_are_better_than_any(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &draft("one", "\"red apple\"")).await;
    put(&memories, &ada, &draft("two", "\"green apple\"")).await;
    assert_eq!(search(&memories, &ada, "green apple").await, ["two"]);
    let mut any = search(&memories, &ada, "blue apple").await;
    any.sort();
    assert_eq!(any, ["one", "two"]);
    let scoped = Search {
        words: "apple".to_owned(),
        namespace: Some("elsewhere".to_owned()),
        limit: 10,
    };
    assert_eq!(memories.search(&ada, &scoped).await.unwrap(), []);
    let limited = Search {
        words: "apple".to_owned(),
        namespace: None,
        limit: 1,
    };
    assert_eq!(memories.search(&ada, &limited).await.unwrap().len(), 1);
}

pub(crate) async fn what_is_replaced_or_deleted_is_not_found(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &draft("k", "\"old\"")).await;
    put(&memories, &ada, &draft("k", "\"new\"")).await;
    assert_eq!(search(&memories, &ada, "old").await, Vec::<String>::new());
    assert_eq!(search(&memories, &ada, "new").await, ["k"]);
    memories.delete(&ada, &place("default", "k")).await.unwrap();
    assert_eq!(search(&memories, &ada, "new").await, Vec::<String>::new());
}

pub(crate) async fn no_question_breaks_the_search(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &draft("apple", "\"red\"")).await;
    let long = "word ".repeat(10_000);
    for hostile in [
        "\"",
        "'",
        "*",
        "^apple",
        "key:apple",
        "apple AND",
        "NOT apple",
        "NEAR(apple red, 2)",
        "(apple",
        "apple)",
        "{key value}: apple",
        "apple + red",
        "-apple",
        "a*b*",
        "\0apple",
        "apple\u{0}red",
        "“”…",
        "؟",
        "\u{fffd}",
        "%_",
        "; DROP TABLE memory_entries",
        "",
        "\u{301}",
        "e\u{301}",
        "👍",
        "日本語",
        &long,
    ] {
        search(&memories, &ada, hostile).await;
    }
    assert_eq!(search(&memories, &ada, "NOT \"apple* )").await, ["apple"]);
}

pub(crate) async fn clearing_takes_what_it_says(memories: All) {
    let ada = owner("ada");
    for number in 0..300 {
        put(&memories, &ada, &inside("a", &format!("k{number}"))).await;
    }
    put(&memories, &ada, &inside("b", "k")).await;
    put(&memories, &ada, &expired("gone")).await;
    for (namespace, count) in [(None, 301), (Some("a"), 300), (Some("none"), 0)] {
        assert_eq!(memories.count(&ada, namespace).await.unwrap(), count);
        assert_eq!(memories.count(&owner("bob"), namespace).await.unwrap(), 0);
    }
    assert_eq!(memories.clear(&ada, Some("none")).await.unwrap(), 0);
    assert_eq!(memories.clear(&ada, Some("a")).await.unwrap(), 300);
    assert_eq!(keys(&memories, &ada).await, ["k"]);
    assert_eq!(memories.clear(&ada, None).await.unwrap(), 1);
    assert_eq!(kept(&memories, &ada).await, Kept::default());
}

pub(crate) async fn what_is_kept_is_counted_by_namespace(memories: All) {
    let ada = owner("ada");
    put(&memories, &ada, &inside("b", "k")).await;
    put(&memories, &ada, &inside("a", "k1")).await;
    let soon = Draft {
        expires: Some(Millis::now().plus(Duration::from_secs(60))),
        ..inside("a", "k2")
    };
    put(&memories, &ada, &soon).await;
    let until = Millis::now().plus(Duration::from_secs(3600));
    let usage = |entries, bytes| Usage { entries, bytes };
    let mut expected = Kept {
        total: usage(3, 11),
        expiring: 1,
        namespaces: vec![("a".to_owned(), usage(2, 8)), ("b".to_owned(), usage(1, 3))],
    };
    assert_eq!(memories.kept(&ada, until, 10).await.unwrap(), expected);
    expected.namespaces.truncate(1);
    assert_eq!(memories.kept(&ada, until, 1).await.unwrap(), expected);
}

pub(crate) async fn what_changed_last_comes_first(memories: All) {
    let ada = owner("ada");
    for (key, changed) in [("old", 1_000), ("new", 3_000), ("middle", 2_000)] {
        let times = Some((Millis(0), Millis(changed)));
        let draft = Draft {
            times,
            ..draft(key, "1")
        };
        put(&memories, &ada, &draft).await;
    }
    put(&memories, &owner("bob"), &draft("other", "1")).await;
    put(&memories, &ada, &expired("gone")).await;
    let recent = memories.recent(&ada, 2).await.unwrap();
    let keys: Vec<_> = recent.iter().map(|one| one.place.key.as_str()).collect();
    assert_eq!(keys, ["new", "middle"]);
}

pub(crate) async fn a_dump_has_everyones(memories: All) {
    put(&memories, &owner("ada"), &draft("k", "1")).await;
    put(&memories, &owner("bob"), &draft("k", "2")).await;
    let elsewhere = Owner {
        source: "notes".to_owned(),
        principal: "ada".to_owned(),
    };
    put(&memories, &elsewhere, &draft("k", "3")).await;
    let dump = memories.dump("memory", 10).await.unwrap();
    let found: Vec<_> = dump
        .iter()
        .map(|one| (one.principal.as_str(), one.entry.value.as_str()))
        .collect();
    assert_eq!(found, [("ada", "1"), ("bob", "2")]);
    assert_eq!(memories.dump("memory", 1).await.unwrap().len(), 1);
}

pub(crate) async fn many_write_at_once(memories: All) {
    let writers = (0..20).map(|writer| {
        let memories = Arc::clone(&memories);
        tokio::spawn(async move {
            for number in 0..10 {
                let draft = draft(&format!("k{writer}-{number}"), "1");
                put(&memories, &owner("ada"), &draft).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(memories.total("memory").await.unwrap().entries, 200);
}
