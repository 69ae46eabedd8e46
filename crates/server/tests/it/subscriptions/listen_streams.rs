//! Listen streams of modern clients.

use serde_json::json;
use tidegate_core::Change;
use tidegate_testkit::{FakeSource, TestGateway, poll_for};

use super::{SUBSCRIPTION, UPDATED, next};
use crate::support::{expect_error, standard, standard_with};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

#[tokio::test]
async fn a_listen_stream_starts_with_the_supported_filter() {
    let deaf = FakeSource::empty()
        .resource("deaf://note", "x")
        .without_updates();
    let gateway = TestGateway::with(FakeSource::standard())
        .fake_source("deaf", deaf)
        .start()
        .await;
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": false,
        "resourceSubscriptions": ["fake://note", "nobody://x", "fake://unlisted", "deaf://note"],
        "someday": true,
    });
    let mut events = gateway.client().listen("7", filter).await;
    let (method, params) = next(&mut events).await;
    assert_eq!(method, ACKNOWLEDGED);
    // What can be read can be subscribed to: only this source has URIs of the scheme `fake`.
    let supported = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["fake://note", "fake://unlisted"],
    });
    assert_eq!(params["notifications"], supported);
    assert_eq!(params["_meta"][SUBSCRIPTION], json!(7));
}

#[tokio::test]
async fn a_listen_stream_only_has_requested_changes() {
    let (gateway, source) = standard().await;
    let everything = [
        Change::Prompts,
        Change::ResourceUpdated("fake://note".into()),
        Change::ResourceUpdated("fake://folder/x".into()),
        Change::Resources,
        Change::Tools,
    ];
    for (filter, expected) in [
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
        let mut events = gateway.client().listen("\"a\"", filter).await;
        assert_eq!(next(&mut events).await.0, ACKNOWLEDGED);
        for change in everything.clone() {
            source.change(change);
        }
        for method in expected {
            let (received, params) = next(&mut events).await;
            assert_eq!(received, method);
            assert_eq!(params["_meta"][SUBSCRIPTION], "a");
        }
    }
}

#[tokio::test]
async fn a_subscription_id_keeps_its_type() {
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
async fn concurrent_listen_streams_only_get_their_changes() {
    let (gateway, source) = standard().await;
    let mut listens = Vec::new();
    for id in 0..10 {
        // All have the same id: the connections distinguish them.
        let uri = if id % 2 == 0 {
            "fake://note"
        } else {
            "fake://folder"
        };
        let filter = json!({ "resourceSubscriptions": [uri] });
        let mut events = gateway.client().listen("1", filter).await;
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
async fn a_closed_listen_stream_releases_its_permit() {
    let (gateway, _) = standard_with(|limits| limits.max_streams = 1).await;
    for _ in 0..3 {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let listen = gateway.client().modern("subscriptions/listen", filter);
        let response = poll_for("a free stream permit", || async {
            let response = listen.send().await;
            (response.status == 200).then_some(response)
        })
        .await;
        drop(response);
    }
}

#[tokio::test]
async fn rejects_a_listen_with_an_invalid_filter() {
    let (gateway, _) = standard().await;
    for params in [
        json!({}),
        json!({ "notifications": [] }),
        json!({ "notifications": { "toolsListChanged": "yes" } }),
        json!({ "notifications": { "resourceSubscriptions": "fake://note" } }),
        json!({ "notifications": { "resourceSubscriptions": [1] } }),
    ] {
        let response = gateway
            .client()
            .modern("subscriptions/listen", params)
            .send()
            .await;
        expect_error(response, 200, -32602).await;
    }
}
