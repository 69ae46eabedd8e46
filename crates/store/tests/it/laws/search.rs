//! Full-text search.

use tidegate_store::memory::TextQuery;

use super::{Memory, entry, id, owner, put, search, tagged};

pub(crate) async fn finds_words_in_keys_values_and_tags(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &entry("user_name", "1")).await;
    put(
        &memory,
        &ada,
        &entry("v", r#"{"colour":["Crème","fish\nchips"],"n":1.50}"#),
    )
    .await;
    put(&memory, &ada, &tagged("t", "1", &["project-x"])).await;
    for (text, key) in [
        ("name", "user_name"),
        ("USER", "user_name"),
        ("colour", "v"),
        ("creme", "v"),
        ("chips", "v"),
        ("chi", "v"),
        ("50", "v"),
        ("project", "t"),
    ] {
        assert_eq!(search(&memory, &ada, text).await, [key], "{text}");
    }
}

pub(crate) async fn prefers_entries_with_all_words(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &entry("one", "\"red apple\"")).await;
    put(&memory, &ada, &entry("two", "\"green apple\"")).await;
    assert_eq!(search(&memory, &ada, "green apple").await, ["two"]);
    let mut any = search(&memory, &ada, "blue apple").await;
    any.sort();
    assert_eq!(any, ["one", "two"]);
    let scoped = TextQuery {
        text: "apple".to_owned(),
        namespace: Some("other".to_owned()),
        limit: 10,
    };
    assert_eq!(memory.search(&ada, &scoped).await.unwrap(), []);
    let limited = TextQuery {
        text: "apple".to_owned(),
        namespace: None,
        limit: 1,
    };
    assert_eq!(memory.search(&ada, &limited).await.unwrap().len(), 1);
}

pub(crate) async fn does_not_find_replaced_or_deleted_text(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &entry("k", "\"old\"")).await;
    put(&memory, &ada, &entry("k", "\"new\"")).await;
    assert_eq!(search(&memory, &ada, "old").await, Vec::<String>::new());
    assert_eq!(search(&memory, &ada, "new").await, ["k"]);
    memory.delete(&ada, &id("default", "k")).await.unwrap();
    assert_eq!(search(&memory, &ada, "new").await, Vec::<String>::new());
}

pub(crate) async fn accepts_any_query_text(memory: Memory) {
    let ada = owner("ada");
    put(&memory, &ada, &entry("apple", "\"red\"")).await;
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
        search(&memory, &ada, hostile).await;
    }
    assert_eq!(search(&memory, &ada, "NOT \"apple* )").await, ["apple"]);
}
