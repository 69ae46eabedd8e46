//! Cancellation: by notification, or by disconnecting, which cancels in the modern era only.

use serde_json::json;
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, TestGateway};

use crate::support::{
    bare_request, expect_result, hold_call, methods, standard, standard_with,
    wait_until_calls_are_accepted,
};

#[tokio::test]
async fn a_disconnect_cancels_a_modern_call() {
    let (gateway, source) = standard().await;
    // Before the response starts.
    let call = gateway.client().modern_call("fake__hold", json!({}));
    let connection = call.request().send_only().await;
    source.started("hold", 1).await;
    drop(connection);
    source.dropped("hold", 1).await;
    // In the middle of a stream.
    let call = gateway
        .client()
        .modern_call("fake__stream", json!({}))
        .progress(json!(1));
    let mut events = call.events().await;
    events.message().await;
    drop(events);
    source.dropped("stream", 1).await;
    assert_eq!(source.counts("stream").finished, 0);
}

#[tokio::test]
async fn a_disconnect_cancels_a_call_without_a_session() {
    let (gateway, source) = standard().await;
    let call = bare_request("tools/call", json!({ "name": "fake__hold" }));
    let connection = gateway.client().post(&call).send_only().await;
    source.started("hold", 1).await;
    drop(connection);
    source.dropped("hold", 1).await;
}

#[tokio::test]
async fn a_disconnect_does_not_cancel_a_call_of_a_session() {
    let (gateway, source) = standard().await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let connection = session.call("fake__hold", json!({})).send_only().await;
        let call = session.call_with_progress("fake__stream", json!(1));
        let mut events = call.send().await.events();
        events.message().await;
        source.started("hold", round + 1).await;
        drop((connection, events));
        // After this response the gateway has noticed the disconnect.
        expect_result(session.call("fake__echo", json!({})).send().await).await;
        source.release("hold", 1);
        source.release("stream", 1);
        source.finished("hold", round + 1).await;
        source.finished("stream", round + 1).await;
    }
    assert_eq!(
        source.counts("hold").dropped + source.counts("stream").dropped,
        0
    );
}

#[tokio::test]
async fn a_notification_cancels_a_call_of_a_session() {
    let (gateway, source) = standard().await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let params = json!({ "name": "fake__hold", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params });
        let connection = session.post(&call).send_only().await;
        source.started("hold", round + 1).await;
        let wrong = session
            .notify("notifications/cancelled", json!({ "requestId": "y" }))
            .await;
        assert_eq!(wrong.status, 202);
        assert_eq!(source.counts("hold").dropped, round);
        let right = json!({ "requestId": "x", "reason": "changed my mind" });
        assert_eq!(
            session
                .notify("notifications/cancelled", right)
                .await
                .status,
            202
        );
        source.dropped("hold", round + 1).await;
        let response = connection.response().await;
        assert!(
            response.messages().await.is_empty(),
            "a cancelled call gets no response"
        );
    }
}

#[tokio::test]
async fn a_session_cannot_cancel_calls_of_another() {
    let (gateway, source) = standard().await;
    let mine = gateway.client().initialize(NEWEST_LEGACY).await;
    let theirs = gateway.client().initialize(NEWEST_LEGACY).await;
    let params = json!({ "name": "fake__hold", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let connection = mine.post(&call).send_only().await;
    source.started("hold", 1).await;
    theirs
        .notify("notifications/cancelled", json!({ "requestId": 1 }))
        .await;
    let plain = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(gateway.client().post(&plain).send().await.status, 202);
    source.release("hold", 1);
    expect_result(connection.response().await).await;
}

#[tokio::test]
async fn a_notification_cancels_a_call_over_stdio_in_both_eras() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source.clone()).stdio().await;
    stdio.initialize(NEWEST_LEGACY).await;
    let call = json!({ "name": "fake__hold", "arguments": {} });
    for round in 1..=4 {
        let id = if round % 2 == 0 {
            stdio.modern("tools/call", call.clone()).await
        } else {
            stdio.request("tools/call", call.clone()).await
        };
        source.started("hold", round).await;
        stdio
            .notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
        source.dropped("hold", round).await;
    }
    // None of the cancelled calls got a response.
    let id = stdio.request("ping", json!({})).await;
    assert_eq!(stdio.message().await["id"], id);
}

#[tokio::test]
async fn a_notification_ends_a_listen_stream_over_stdio_silently() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source.clone()).stdio().await;
    let id = stdio
        .modern(
            "subscriptions/listen",
            json!({ "notifications": { "toolsListChanged": true } }),
        )
        .await;
    assert_eq!(
        methods(&[stdio.message().await]),
        ["notifications/subscriptions/acknowledged"]
    );
    stdio
        .notify("notifications/cancelled", json!({ "requestId": id }))
        .await;
    let ping = stdio.request("ping", json!({})).await;
    assert_eq!(stdio.message().await["id"], ping);
    source.change(tidegate_core::Change::Tools);
    let ping = stdio.request("ping", json!({})).await;
    assert_eq!(
        stdio.message().await["id"],
        ping,
        "no change is delivered after the cancellation"
    );
}

#[tokio::test]
async fn cancelled_calls_are_counted_and_release_their_permit() {
    let (gateway, source) = standard_with(|limits| limits.max_concurrent_calls = 1).await;
    for round in 1..=5 {
        drop(hold_call(&gateway, &source).await);
        source.dropped("hold", round).await;
        wait_until_calls_are_accepted(&gateway).await;
    }
    assert_eq!(gateway.stats().cancellations(), 5);
}
