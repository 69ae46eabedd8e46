//! Giving up on a call: by a word, or by leaving. The two eras mean opposite things by leaving.

use serde_json::json;
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, TestGateway};

use crate::support::{methods, plain, served, standard};

#[tokio::test]
async fn leaving_cancels_a_stateless_call() {
    let (gateway, source) = standard().await;
    // Before anything was answered.
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
async fn leaving_cancels_the_call_of_who_says_nothing() {
    let (gateway, source) = standard().await;
    let call = plain("tools/call", json!({ "name": "fake__hold" }));
    let connection = gateway.client().post(&call).send_only().await;
    source.started("hold", 1).await;
    drop(connection);
    source.dropped("hold", 1).await;
}

#[tokio::test]
async fn leaving_does_not_cancel_the_call_of_a_session() {
    let (gateway, source) = standard().await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let connection = session.call("fake__hold", json!({})).send_only().await;
        let call = session.call_with_progress("fake__stream", json!(1));
        let mut events = call.send().await.events();
        events.message().await;
        source.started("hold", round + 1).await;
        drop((connection, events));
        // A call that comes after the leaving has been served: the leaving has been seen.
        served(session.call("fake__echo", json!({})).send().await).await;
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
async fn a_word_cancels_the_call_of_a_session() {
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
        let answer = connection.response().await;
        assert!(
            answer.messages().await.is_empty(),
            "a cancelled call is not answered"
        );
    }
}

#[tokio::test]
async fn a_word_of_one_session_does_not_reach_another() {
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
    served(connection.response().await).await;
}

#[tokio::test]
async fn a_word_cancels_on_a_pipe_in_both_eras() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone()).stdio().await;
    pipe.initialize(NEWEST_LEGACY).await;
    let call = json!({ "name": "fake__hold", "arguments": {} });
    for round in 1..=4 {
        let id = if round % 2 == 0 {
            pipe.modern("tools/call", call.clone()).await
        } else {
            pipe.request("tools/call", call.clone()).await
        };
        source.started("hold", round).await;
        pipe.notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
        source.dropped("hold", round).await;
    }
    // Nothing was said about any of them.
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.message().await["id"], id);
}

#[tokio::test]
async fn a_word_ends_a_listen_on_a_pipe_without_another() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone()).stdio().await;
    let id = pipe
        .modern(
            "subscriptions/listen",
            json!({ "notifications": { "toolsListChanged": true } }),
        )
        .await;
    assert_eq!(
        methods(&[pipe.message().await]),
        ["notifications/subscriptions/acknowledged"]
    );
    pipe.notify("notifications/cancelled", json!({ "requestId": id }))
        .await;
    let ping = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.message().await["id"], ping);
    source.change(tidegate_core::Change::Tools);
    let ping = pipe.request("ping", json!({})).await;
    assert_eq!(
        pipe.message().await["id"],
        ping,
        "nothing is heard any more"
    );
}

#[tokio::test]
async fn what_is_cancelled_is_counted_and_makes_room() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.max_concurrent_calls = 1)
        .start()
        .await;
    for round in 1..=5 {
        let connection = gateway
            .client()
            .modern_call("fake__hold", json!({}))
            .request()
            .send_only()
            .await;
        source.started("hold", round).await;
        drop(connection);
        source.dropped("hold", round).await;
        tidegate_testkit::wait_until("room", || async {
            gateway
                .client()
                .modern_call("fake__echo", json!({}))
                .send()
                .await
                .status
                == 200
        })
        .await;
    }
    assert_eq!(gateway.stats().cancellations(), 5);
}
