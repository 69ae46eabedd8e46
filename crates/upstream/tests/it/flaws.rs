//! Lists that are not whole: said in the lists themselves, in the health and in the numbers.

use serde_json::{Value, json};
use tidegate_core::Health;
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::{CursorStyle, Fixture, FixtureSettings};

use crate::support::Behind;

/// A gateway before a server that lists carelessly.
async fn careless(change: impl FnOnce(&mut FixtureSettings)) -> (Behind, impl Drop) {
    let fixture = Fixture::legacy(NEWEST_LEGACY).with(change).start().await;
    (Behind::of(&fixture).await, fixture)
}

/// What a list says is missing from it.
async fn missing(behind: &Behind, method: &str) -> Value {
    let list = behind.client().modern(method, json!({}));
    let result = list.send().await.message().await["result"].clone();
    assert!(result.is_object(), "{method}");
    result["_meta"]["dev.tidegate/missing"]["server"].clone()
}

/// What those who run the gateway are told.
fn degraded(behind: &Behind) -> String {
    match behind.health() {
        Health::Degraded(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_list_that_fails_is_named_where_it_is_missing() {
    let (behind, _fixture) = careless(|one| {
        one.rejections.reject = Some(-32000);
        one.rejections.reject_method = "prompts/list".to_owned();
        one.rejections.reject_times = u64::MAX;
        one.invalid_list = vec!["resources".to_owned()];
    })
    .await;
    assert!(missing(&behind, "tools/list").await.is_null());
    for (method, name) in [("prompts/list", "prompts"), ("resources/list", "resources")] {
        let told = missing(&behind, method).await.to_string();
        assert!(told.contains(&format!("its list of {name}")), "{told}");
        assert!(degraded(&behind).contains(&format!("its list of {name}")));
    }
}

#[tokio::test]
async fn a_list_that_is_cut_off_says_so() {
    for (cursors, why) in [
        (CursorStyle::Repeated, "a cursor came twice"),
        (CursorStyle::Endless, "it has no end"),
    ] {
        let (behind, _fixture) = careless(|one| {
            one.page_size = Some(20);
            one.cursors = cursors;
        })
        .await;
        let told = missing(&behind, "tools/list").await.to_string();
        assert!(told.contains(why), "{told}");
        assert!(degraded(&behind).contains(why));
    }
}

#[tokio::test]
async fn entries_that_are_none_are_counted() {
    let (behind, _fixture) = careless(|one| one.invalid_entries = true).await;
    for (method, name) in [("tools/list", "tools"), ("resources/list", "resources")] {
        let told = missing(&behind, method).await.to_string();
        assert!(told.contains(&format!("3 of its {name}")), "{told}");
        assert!(degraded(&behind).contains(&format!("3 of its {name}")));
    }
}
