//! Shutdown of the stdio transport: end of input, signal, timeout.

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use super::{call, standard};

#[tokio::test]
async fn at_the_end_of_the_input_calls_in_flight_finish() {
    let (mut stdio, source) = standard().await;
    let mut ids = Vec::new();
    for canary in 0..10 {
        ids.push(
            stdio
                .request(
                    "tools/call",
                    call("fake__hold", json!({ "canary": canary })),
                )
                .await,
        );
    }
    // The last line has no line break.
    stdio
        .send_bytes(br#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#)
        .await;
    stdio.close_input();
    assert_eq!(stdio.response(&json!(99)).await["result"], json!({}));
    source.started("hold", 10).await;
    source.release("hold", 10);
    let mut answered: Vec<_> = stdio
        .remaining()
        .await
        .iter()
        .map(|message| message["id"].as_u64().unwrap())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(source.counts("hold").dropped, 0);
    stdio.closed().await;
}

#[tokio::test]
async fn at_the_end_of_the_input_calls_are_cancelled_after_the_shutdown_timeout() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source.clone())
        .limits(|limits| limits.shutdown_timeout = std::time::Duration::from_millis(50))
        .stdio()
        .await;
    stdio.initialize(NEWEST_LEGACY).await;
    stdio
        .request("tools/call", call("fake__hold", json!({})))
        .await;
    source.started("hold", 1).await;
    stdio.close_input();
    assert!(stdio.remaining().await.is_empty());
    source.dropped("hold", 1).await;
    stdio.closed().await;
}

#[tokio::test]
async fn a_stop_ends_listen_streams_with_a_result_and_a_cancellation() {
    let (mut stdio, source) = standard().await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let listen = stdio.modern("subscriptions/listen", filter).await;
    stdio.message().await;
    let held = stdio
        .modern("tools/call", call("fake__hold", json!({})))
        .await;
    source.started("hold", 1).await;
    stdio.stop();
    let result = stdio.message().await;
    assert_eq!(result["id"], listen);
    assert_eq!(result["result"]["resultType"], "complete");
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(result["result"]["_meta"][tag], listen);
    let cancellation = stdio.message().await;
    assert_eq!(cancellation["method"], "notifications/cancelled");
    assert_eq!(cancellation["params"]["requestId"], listen);
    source.release("hold", 1);
    assert_eq!(
        stdio.message().await["id"],
        held,
        "a call in flight may finish"
    );
    assert!(stdio.remaining().await.is_empty());
    stdio.closed().await;
}

#[tokio::test]
async fn a_client_that_stopped_reading_does_not_delay_the_shutdown() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source)
        .limits(|limits| limits.shutdown_timeout = std::time::Duration::from_millis(50))
        .stdio_with_buffer(256)
        .await;
    stdio
        .request("tools/call", call("fake__huge", json!({})))
        .await;
    stdio.stop();
    stdio.closed().await;
}
