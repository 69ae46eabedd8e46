//! The end: of the input, by a signal, of patience.

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use super::{call, standard};

#[tokio::test]
async fn at_the_end_of_the_input_calls_under_way_are_answered_first() {
    let (mut pipe, source) = standard().await;
    let mut ids = Vec::new();
    for canary in 0..10 {
        ids.push(
            pipe.request(
                "tools/call",
                call("fake__hold", json!({ "canary": canary })),
            )
            .await,
        );
    }
    // The last line has no line break.
    pipe.send_bytes(br#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#)
        .await;
    pipe.close_input();
    assert_eq!(pipe.response(&json!(99)).await["result"], json!({}));
    source.started("hold", 10).await;
    source.release("hold", 10);
    let mut answered: Vec<_> = pipe
        .remaining()
        .await
        .iter()
        .map(|one| one["id"].as_u64().unwrap())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(source.counts("hold").dropped, 0);
    pipe.closed().await;
}

#[tokio::test]
async fn at_the_end_what_does_not_finish_in_time_is_dropped() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone())
        .limits(|limits| limits.shutdown_timeout = std::time::Duration::from_millis(50))
        .stdio()
        .await;
    pipe.initialize(NEWEST_LEGACY).await;
    pipe.request("tools/call", call("fake__hold", json!({})))
        .await;
    source.started("hold", 1).await;
    pipe.close_input();
    assert!(pipe.remaining().await.is_empty());
    source.dropped("hold", 1).await;
    pipe.closed().await;
}

#[tokio::test]
async fn a_signal_to_stop_ends_listens_by_result_and_by_word() {
    let (mut pipe, source) = standard().await;
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let listen = pipe.modern("subscriptions/listen", wanted).await;
    pipe.message().await;
    let held = pipe
        .modern("tools/call", call("fake__hold", json!({})))
        .await;
    source.started("hold", 1).await;
    pipe.stop();
    let result = pipe.message().await;
    assert_eq!(result["id"], listen);
    assert_eq!(result["result"]["resultType"], "complete");
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(result["result"]["_meta"][tag], listen);
    let word = pipe.message().await;
    assert_eq!(word["method"], "notifications/cancelled");
    assert_eq!(word["params"]["requestId"], listen);
    source.release("hold", 1);
    assert_eq!(
        pipe.message().await["id"],
        held,
        "a call under way may finish"
    );
    assert!(pipe.remaining().await.is_empty());
    pipe.closed().await;
}

#[tokio::test]
async fn a_client_that_stopped_reading_does_not_hold_up_the_end() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source)
        .limits(|limits| limits.shutdown_timeout = std::time::Duration::from_millis(50))
        .stdio_with_buffer(256)
        .await;
    pipe.request("tools/call", call("fake__huge", json!({})))
        .await;
    pipe.stop();
    pipe.closed().await;
}
