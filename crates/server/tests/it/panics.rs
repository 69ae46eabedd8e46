//! R34: a panic only fails its own call and reveals nothing.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{expect_echo, expect_result, hold_call, methods, standard};

/// Asserts an internal error with a correlation id and without any detail.
fn assert_opaque_error(message: &Value) {
    assert_eq!(message["error"]["code"], -32603, "{message}");
    let correlation = message["error"]["data"]["correlationId"].as_str().unwrap();
    assert_eq!(correlation.len(), 16);
    let text = message.to_string();
    for leak in ["secret", "panic", ".rs"] {
        assert!(!text.contains(leak), "{text}");
    }
}

#[tokio::test]
async fn a_panic_fails_only_its_own_call() {
    let (gateway, source) = standard().await;
    let held = hold_call(&gateway, &source).await;
    let call = gateway
        .client()
        .modern_call("fake__panic", json!({}))
        .id("\"p\"");
    let message = call.message().await;
    assert_opaque_error(&message);
    assert_eq!(message["id"], "p");
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let message = session
            .call("fake__panic", json!({}))
            .send()
            .await
            .message()
            .await;
        assert_opaque_error(&message);
        expect_result(session.call("fake__echo", json!({})).send().await).await;
    }
    source.release("hold", 1);
    expect_result(held.response().await).await;
    assert_eq!(gateway.stats().failures(), 5);
}

#[tokio::test]
async fn a_panic_in_a_stream_ends_that_stream_with_an_error() {
    let (gateway, _) = standard().await;
    let call = gateway
        .client()
        .modern_call("fake__late-panic", json!({}))
        .progress(json!(1));
    let messages = call.send().await.messages().await;
    assert_eq!(methods(&messages), ["notifications/progress", "response"]);
    assert_opaque_error(&messages[1]);
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let call = session.call_with_progress("fake__late-panic", json!(1));
    let messages = call.send().await.messages().await;
    assert_eq!(methods(&messages), ["notifications/progress", "response"]);
    assert_opaque_error(&messages[1]);
    expect_result(session.call("fake__echo", json!({})).send().await).await;
}

#[tokio::test]
async fn every_panic_has_its_own_correlation_id() {
    let (gateway, _) = standard().await;
    let mut correlation_ids = std::collections::HashSet::new();
    for _ in 0..5 {
        let message = gateway
            .client()
            .modern_call("fake__panic", json!({}))
            .message()
            .await;
        let number = message["error"]["data"]["correlationId"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(correlation_ids.insert(number));
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_a_result_is_an_error() {
    let source = FakeSource::empty()
        .tool(ScriptedTool::new("short").progress(1).ends_without_result())
        .tool(ScriptedTool::new("nothing").ends_without_result());
    let gateway = TestGateway::with(source).start().await;
    for (tool, count) in [("fake__short", 2), ("fake__nothing", 1)] {
        let call = gateway
            .client()
            .modern_call(tool, json!({}))
            .progress(json!(1));
        let messages = call.send().await.messages().await;
        assert_eq!(messages.len(), count);
        assert_eq!(messages[count - 1]["error"]["code"], -32603);
    }
}

#[tokio::test]
async fn a_panic_in_a_catalog_fails_a_modern_call_with_an_error() {
    let (gateway, source) = standard().await;
    source.break_catalog();
    for request in [
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .request(),
        gateway.client().modern("tools/list", json!({})).request(),
        gateway.client().initialize_request(NEWEST_LEGACY),
    ] {
        let response = request.send_only().await.try_response().await;
        assert_opaque_error(
            &response
                .expect("a response, not a broken connection")
                .message()
                .await,
        );
    }
    source.repair_catalog();
    expect_echo(&gateway).await;
}

#[tokio::test]
async fn a_panic_in_a_catalog_fails_a_call_of_a_session_with_an_error() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    source.break_catalog();
    for request in [
        session.call("fake__echo", json!({})),
        session.request("tools/list", json!({})),
        session.request("resources/subscribe", json!({ "uri": "fake://note" })),
    ] {
        let response = request.send().await;
        assert_opaque_error(&response.message().await);
    }
    source.repair_catalog();
    expect_result(session.call("fake__echo", json!({})).send().await).await;
}

#[tokio::test]
async fn a_panic_in_a_catalog_fails_a_call_over_stdio_with_an_error() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source.clone()).stdio().await;
    source.break_catalog();
    let call = json!({ "name": "fake__echo", "arguments": {} });
    let id = stdio.modern("tools/call", call.clone()).await;
    assert_opaque_error(&stdio.response(&json!(id)).await);
    source.repair_catalog();
    let id = stdio.modern("tools/call", call).await;
    assert!(stdio.response(&json!(id)).await["result"].is_object());
}
