//! Subscriptions of legacy sessions.

use serde_json::json;
use tidegate_core::Change;
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, Session, TestGateway};

use super::{SUBSCRIPTION, UPDATED, next};
use crate::support::{expect_error, methods, standard};

async fn subscribe(session: &Session, uri: &str) {
    let response = session
        .exchange("resources/subscribe", json!({ "uri": uri }))
        .await;
    assert_eq!(response["result"], json!({}), "{response}");
}

#[tokio::test]
async fn a_session_gets_updates_until_it_unsubscribes() {
    let (gateway, source) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let mut stream = session.stream().await;
        subscribe(&session, "fake://note").await;
        source.updated("fake://folder");
        source.updated("fake://note");
        let received = next(&mut stream).await;
        assert_eq!(
            received,
            (UPDATED.to_owned(), json!({ "uri": "fake://note" })),
            "{revision}"
        );
        let response = session
            .exchange("resources/unsubscribe", json!({ "uri": "fake://note" }))
            .await;
        assert_eq!(response["result"], json!({}));
        subscribe(&session, "fake://folder").await;
        source.updated("fake://note");
        source.updated("fake://folder");
        assert_eq!(next(&mut stream).await.1, json!({ "uri": "fake://folder" }));
        session.delete().await;
        assert!(stream.remaining().await.is_empty());
    }
}

#[tokio::test]
async fn unread_updates_of_one_resource_are_coalesced() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    subscribe(&session, "fake://note").await;
    subscribe(&session, "fake://folder").await;
    for _ in 0..100 {
        source.updated("fake://note");
    }
    source.updated("fake://folder");
    // The change of the folder comes last.
    let mut stream = session.stream().await;
    let mut uris = Vec::new();
    while uris.last().is_none_or(|uri| uri != "fake://folder") {
        uris.push(
            next(&mut stream).await.1["uri"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    assert!(uris.len() < 20, "{} events for 100 changes", uris.len());
    // After the notification was read, the next change is delivered again.
    source.updated("fake://note");
    assert_eq!(next(&mut stream).await.1["uri"], "fake://note");
}

#[tokio::test]
async fn a_subscription_covers_resources_below_its_uri() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    subscribe(&session, "fake://folder").await;
    let mut stream = session.stream().await;
    source.updated("fake://folders");
    source.updated("fake://folder/file");
    assert_eq!(next(&mut stream).await.1["uri"], "fake://folder/file");
}

/// A session that is subscribed to a file and to its folder gets one notification per change.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_covered_by_two_subscriptions_is_delivered_once() {
    let source = FakeSource::standard().resource("fake://folder/file", "x");
    let gateway = TestGateway::with(source.clone()).start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for uri in ["fake://folder", "fake://folder/file", "fake://note"] {
        subscribe(&session, uri).await;
    }
    let mut stream = session.stream().await;
    for _ in 0..200 {
        for uri in ["fake://folder/file", "fake://folder/other", "fake://folder"] {
            source.updated(uri);
            assert_eq!(next(&mut stream).await.1["uri"], uri);
        }
    }
    source.updated("fake://note");
    assert_eq!(next(&mut stream).await.1["uri"], "fake://note");
    let unsubscribe = json!({ "uri": "fake://folder/file" });
    session.exchange("resources/unsubscribe", unsubscribe).await;
    source.updated("fake://folder/file");
    assert_eq!(next(&mut stream).await.1["uri"], "fake://folder/file");
}

#[tokio::test]
async fn the_error_names_the_uri_that_does_not_support_subscriptions() {
    let deaf = FakeSource::empty()
        .resource("deaf://note", "x")
        .without_updates();
    let gateway = TestGateway::with(FakeSource::standard())
        .fake_source("deaf", deaf)
        .start()
        .await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        for uri in ["nobody://x", "deaf://note", "nonsense"] {
            let request = session.request("resources/subscribe", json!({ "uri": uri }));
            let message = expect_error(request.send().await, 200, -32602).await;
            assert_eq!(message["error"]["data"]["uri"], uri);
        }
        let request = session.request("resources/subscribe", json!({}));
        expect_error(request.send().await, 200, -32602).await;
        let unsubscribe = session
            .exchange("resources/unsubscribe", json!({ "uri": "fake://nothing" }))
            .await;
        assert_eq!(
            unsubscribe["result"],
            json!({}),
            "unsubscribing twice is not an error"
        );
    }
}

#[tokio::test]
async fn rejects_subscriptions_over_the_limit() {
    let source = (0..4).fold(FakeSource::empty(), |source, number| {
        source.resource(&format!("fake://{number}"), "x")
    });
    let gateway = TestGateway::with(source)
        .limits(|limits| limits.max_subscriptions = 2)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    subscribe(&session, "fake://0").await;
    subscribe(&session, "fake://1").await;
    subscribe(&session, "fake://1").await;
    let third = session
        .exchange("resources/subscribe", json!({ "uri": "fake://2" }))
        .await;
    assert_eq!(third["error"]["code"], -32602, "{third}");
    session
        .exchange("resources/unsubscribe", json!({ "uri": "fake://0" }))
        .await;
    subscribe(&session, "fake://2").await;
    let uris = ["fake://0", "fake://1", "fake://2"];
    for filter in [
        json!({ "resourceSubscriptions": uris }),
        json!({ "resourceSubscriptions": uris[1..], "taskIds": ["t"] }),
    ] {
        let listen = json!({ "notifications": filter });
        let listen = gateway.client().modern("subscriptions/listen", listen);
        let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let listen = listen.meta("io.modelcontextprotocol/clientCapabilities", tasks);
        let response = listen.send().await.json().await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
}

#[tokio::test]
async fn a_session_gets_list_changes_without_subscribing() {
    let (gateway, source) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        // A round trip, so that the change stream of the session is open.
        session.exchange("ping", json!({})).await;
        let mut stream = session.stream().await;
        for (change, method) in [
            (Change::Tools, "notifications/tools/list_changed"),
            (Change::Prompts, "notifications/prompts/list_changed"),
            (Change::Resources, "notifications/resources/list_changed"),
        ] {
            source.change(change);
            let message = stream.message().await;
            assert_eq!(message["method"], method, "{revision}");
            assert!(message["params"]["_meta"].get(SUBSCRIPTION).is_none());
        }
    }
}

#[tokio::test]
async fn the_endpoint_of_one_source_only_delivers_its_changes() {
    let (first, other) = (
        FakeSource::standard(),
        FakeSource::empty().resource("other://x", "x"),
    );
    let gateway = TestGateway::with(first.clone())
        .fake_source("other", other.clone())
        .start()
        .await;
    let client = gateway.client().at("/mcp/fake");
    let filter = json!({ "toolsListChanged": true, "resourcesListChanged": true });
    let mut listening = client.listen("1", filter).await;
    listening.message().await;
    let session = client.initialize(NEWEST_LEGACY).await;
    session.exchange("ping", json!({})).await;
    let mut standalone = session.stream().await;
    // Wait for the other source's change where it is delivered, so that it is not still in transit.
    let mut everywhere = gateway
        .client()
        .listen("2", json!({ "toolsListChanged": true }))
        .await;
    everywhere.message().await;
    other.change(Change::Tools);
    everywhere.message().await;
    first.change(Change::Resources);
    for events in [&mut listening, &mut standalone] {
        let message = events.message().await;
        assert_eq!(
            methods(&[message]),
            ["notifications/resources/list_changed"]
        );
    }
}
