//! Paginated lists, with valid and invalid cursors.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{CursorStyle, Fixture, RunningFixture};

use crate::support::names;

async fn start(cursors: CursorStyle) -> RunningFixture {
    let fixture = Fixture::modern().with(|settings| {
        settings.page_size = Some(10);
        settings.cursors = cursors;
    });
    fixture.start().await
}

/// Up to `limit` pages, and their cursors.
async fn pages(running: &RunningFixture, limit: usize) -> (Vec<Vec<String>>, Vec<Value>) {
    let (mut pages, mut cursors) = (Vec::new(), Vec::new());
    let mut params = json!({});
    while pages.len() < limit {
        let page = running
            .client()
            .modern("tools/list", params)
            .message()
            .await;
        pages.push(names(&page["result"]["tools"]));
        match page["result"].get("nextCursor") {
            Some(next) => cursors.push(next.clone()),
            None => break,
        }
        params = json!({ "cursor": cursors.last() });
    }
    (pages, cursors)
}

async fn whole() -> Vec<String> {
    let running = Fixture::modern().start().await;
    let (pages, cursors) = pages(&running, 2).await;
    assert!(cursors.is_empty());
    pages.concat()
}

#[tokio::test]
async fn pages_form_the_whole_list_even_with_an_empty_cursor() {
    let whole = whole().await;
    let (good, cursors) = pages(&start(CursorStyle::Valid).await, 100).await;
    assert_eq!(good.concat(), whole);
    assert!(cursors.len() > 1 && cursors.iter().all(|cursor| cursor != ""));
    let (odd, cursors) = pages(&start(CursorStyle::Empty).await, 100).await;
    assert_eq!(odd.concat(), whole);
    assert_eq!(cursors[0], "");
}

#[tokio::test]
async fn pages_can_repeat_or_continue_without_end() {
    let (same, cursors) = pages(&start(CursorStyle::Repeated).await, 5).await;
    assert!(
        same.iter().all(|page| *page == same[0]) && cursors.windows(2).all(|two| two[0] == two[1])
    );
    let (endless, cursors) = pages(&start(CursorStyle::Endless).await, 50).await;
    assert_eq!((endless.len(), cursors.len()), (50, 50));
    assert!(cursors.windows(2).all(|two| two[0] != two[1]));
}

#[tokio::test]
async fn list_can_change_between_pages() {
    let running = Fixture::modern()
        .with(|settings| {
            settings.page_size = Some(10);
            settings.growing_list = true;
        })
        .start()
        .await;
    let (first, _) = pages(&running, 100).await;
    assert_eq!(
        first[0].last(),
        first[1].first(),
        "an entry moved to the next page"
    );
    let (second, _) = pages(&running, 100).await;
    assert!(second[0].contains(&"grown_3".to_owned()), "{second:?}");
}

#[tokio::test]
async fn unknown_cursor_is_rejected() {
    let running = start(CursorStyle::Valid).await;
    let list = running
        .client()
        .modern("tools/list", json!({ "cursor": "no" }))
        .message()
        .await;
    assert_eq!(list["error"]["code"], -32602);
}
