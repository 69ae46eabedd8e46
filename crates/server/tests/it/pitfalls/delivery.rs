//! Pitfalls in delivery: disconnects, change streams, questions, resumption.

use serde_json::json;
use tidegate_core::Change;
use tidegate_testkit::{LEGACY, NEWEST_LEGACY};

use crate::support::{expect_result, hold_call, methods, standard};

/// A disconnect cancels a call in the modern era only.
#[tokio::test]
async fn pitfall_07_disconnect_semantics() {
    let (gateway, source) = standard().await;
    let modern = hold_call(&gateway, &source).await;
    drop(modern);
    source.dropped("hold", 1).await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let legacy = session.call("fake__hold", json!({})).send_only().await;
        source.started("hold", round + 2).await;
        drop(legacy);
        expect_result(session.call("fake__echo", json!({})).send().await).await;
        source.release("hold", 1);
        source.finished("hold", round + 1).await;
    }
    assert_eq!(source.counts("hold").dropped, 1);
}

/// The acknowledgement comes first, ids keep their type, only requested changes are delivered, and
/// proxies do not buffer the stream.
#[tokio::test]
async fn pitfall_09_listen_streams() {
    let (gateway, source) = standard().await;
    let tag = "io.modelcontextprotocol/subscriptionId";
    for id in [json!(7), json!("7")] {
        let filter = json!({ "resourcesListChanged": true });
        let mut events = gateway.client().listen(&id.to_string(), filter).await;
        assert_eq!(events.response().header("x-accel-buffering"), Some("no"));
        assert_eq!(events.response().header("cache-control"), Some("no-cache"));
        for change in [
            Change::Tools,
            Change::Prompts,
            Change::ResourceUpdated("fake://note".into()),
        ] {
            source.change(change);
        }
        source.change(Change::Resources);
        let first = events.message().await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(
            first["params"]["notifications"],
            json!({ "resourcesListChanged": true })
        );
        let second = events.message().await;
        assert_eq!(second["method"], "notifications/resources/list_changed");
        for message in [first, second] {
            assert_eq!(message["params"]["_meta"][tag], id);
        }
    }
}

/// Modern clients get no requests; legacy clients only during their own calls.
#[tokio::test]
async fn pitfall_11_server_requests() {
    let (gateway, source) = standard().await;
    let client = gateway.client();
    let mut messages = Vec::new();
    for tool in ["fake__echo", "fake__progress", "fake__logs", "fake__panic"] {
        let call = client
            .modern_call(tool, json!({}))
            .progress(json!(1))
            .log_level("debug");
        messages.extend(call.send().await.messages().await);
    }
    let session = client.initialize(NEWEST_LEGACY).await;
    let mut standalone = session.stream().await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    source.updated("fake://note");
    messages.push(standalone.message().await);
    session.delete().await;
    messages.extend(standalone.remaining().await);
    for message in messages {
        let asks = message.get("method").is_some() && message.get("id").is_some();
        assert!(!asks, "{message}");
    }
}

/// Priming and retry if the revision has them, resumption by GET, only events of the resumed stream.
#[tokio::test]
async fn pitfall_13_sse_details() {
    let (gateway, source) = standard().await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let mut other = session
            .call_with_progress("fake__progress", json!("other"))
            .send()
            .await
            .events();
        let call = session.call_with_progress("fake__stream", json!("mine"));
        let mut events = call.send().await.events();
        if revision == NEWEST_LEGACY {
            let priming = events.next().await.unwrap();
            assert!(priming.data.is_empty() && priming.retry.is_some() && priming.id.is_some());
        }
        let (event, _) = events.next_message().await.unwrap();
        drop(events);
        assert_eq!(other.remaining().await.len(), 4);
        source.release("stream", 1);
        source.finished("stream", round + 1).await;
        let mut rest = session.resume(&event.id.unwrap()).await.events();
        let messages = rest.remaining().await;
        assert_eq!(
            methods(&messages),
            ["notifications/progress", "response"],
            "{revision}"
        );
        assert_eq!(messages[0]["params"]["progressToken"], "mine");
        assert_eq!(rest.text().contains("retry:"), revision == NEWEST_LEGACY);
        // Every event is complete.
        assert!(rest.text().ends_with("\n\n"));
    }
}
