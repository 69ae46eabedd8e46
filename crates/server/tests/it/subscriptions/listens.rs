//! Stateless clients: one stream for each listen, and nothing on it that was not asked for.

use serde_json::json;
use tidegate_core::Change;
use tidegate_testkit::{FakeSource, TestGateway, poll_for};

use super::{SUBSCRIPTION, UPDATED, next};
use crate::support::{refused, standard};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

#[tokio::test]
async fn a_listen_is_acknowledged_first_with_what_it_will_hear() {
    let deaf = FakeSource::empty()
        .resource("deaf://note", "x")
        .without_updates();
    let gateway = TestGateway::with(FakeSource::standard())
        .fake_source("deaf", deaf)
        .start()
        .await;
    let wanted = json!({
        "toolsListChanged": true,
        "promptsListChanged": false,
        "resourceSubscriptions": ["fake://note", "fake://nothing", "deaf://note"],
        "someday": true,
    });
    let mut events = gateway.client().listen("7", wanted).await;
    let (method, params) = next(&mut events).await;
    assert_eq!(method, ACKNOWLEDGED);
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": ["fake://note"] });
    assert_eq!(params["notifications"], honoured);
    assert_eq!(params["_meta"][SUBSCRIPTION], json!(7));
}

#[tokio::test]
async fn a_listen_hears_what_it_asked_for_and_nothing_else() {
    let (gateway, source) = standard().await;
    let everything = [
        Change::Prompts,
        Change::ResourceUpdated("fake://note".into()),
        Change::ResourceUpdated("fake://folder/x".into()),
        Change::Resources,
        Change::Tools,
    ];
    for (wanted, expected) in [
        (
            json!({ "toolsListChanged": true }),
            vec!["notifications/tools/list_changed"],
        ),
        (
            json!({ "resourcesListChanged": true, "toolsListChanged": true }),
            vec![
                "notifications/resources/list_changed",
                "notifications/tools/list_changed",
            ],
        ),
        (
            json!({ "promptsListChanged": true, "toolsListChanged": true }),
            vec![
                "notifications/prompts/list_changed",
                "notifications/tools/list_changed",
            ],
        ),
        (
            json!({ "resourceSubscriptions": ["fake://folder"], "toolsListChanged": true }),
            vec![UPDATED, "notifications/tools/list_changed"],
        ),
    ] {
        let mut events = gateway.client().listen("\"a\"", wanted).await;
        assert_eq!(next(&mut events).await.0, ACKNOWLEDGED);
        for change in everything.clone() {
            source.change(change);
        }
        for method in expected {
            let (heard, params) = next(&mut events).await;
            assert_eq!(heard, method);
            assert_eq!(params["_meta"][SUBSCRIPTION], "a");
        }
    }
}

#[tokio::test]
async fn the_id_of_a_subscription_keeps_its_type() {
    let (gateway, source) = standard().await;
    for id in ["7", "\"7\"", "7.0", "\"é\"", "9223372036854775808"] {
        let mut events = gateway
            .client()
            .listen(id, json!({ "toolsListChanged": true }))
            .await;
        events.message().await;
        source.change(Change::Tools);
        events.message().await;
        let tag = format!("\"{SUBSCRIPTION}\":{id}}}");
        assert_eq!(events.text().matches(&tag).count(), 2, "{}", events.text());
    }
}

#[tokio::test]
async fn several_listens_at_once_each_hear_their_own() {
    let (gateway, source) = standard().await;
    let mut listens = Vec::new();
    for id in 0..10 {
        // All under one id: it is the connection that tells them apart.
        let uri = if id % 2 == 0 {
            "fake://note"
        } else {
            "fake://folder"
        };
        let wanted = json!({ "resourceSubscriptions": [uri] });
        let mut events = gateway.client().listen("1", wanted).await;
        assert_eq!(next(&mut events).await.0, ACKNOWLEDGED);
        listens.push((events, uri));
    }
    source.updated("fake://folder");
    source.updated("fake://note");
    for (events, uri) in &mut listens {
        assert_eq!(next(events).await.1["uri"], *uri);
    }
}

#[tokio::test]
async fn a_listen_that_was_left_gives_its_room_back() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.max_streams = 1)
        .start()
        .await;
    for _ in 0..3 {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let listen = gateway.client().modern("subscriptions/listen", wanted);
        let answer = poll_for("room for a listen", || async {
            let answer = listen.send().await;
            (answer.status == 200).then_some(answer)
        })
        .await;
        drop(answer);
    }
}

#[tokio::test]
async fn a_listen_needs_a_filter_that_can_be_read() {
    let (gateway, _) = standard().await;
    for params in [
        json!({}),
        json!({ "notifications": [] }),
        json!({ "notifications": { "toolsListChanged": "yes" } }),
        json!({ "notifications": { "resourceSubscriptions": "fake://note" } }),
        json!({ "notifications": { "resourceSubscriptions": [1] } }),
    ] {
        let answer = gateway
            .client()
            .modern("subscriptions/listen", params)
            .send()
            .await;
        refused(answer, 200, -32602).await;
    }
}
