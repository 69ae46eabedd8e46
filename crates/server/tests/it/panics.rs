//! R34: a panic costs the call it happened in, and tells nobody anything.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{methods, served, standard};

/// An internal error with a way to find it in the log, and nothing of what happened.
fn is_opaque(message: &Value) {
    assert_eq!(message["error"]["code"], -32603, "{message}");
    let correlation = message["error"]["data"]["correlationId"].as_str().unwrap();
    assert_eq!(correlation.len(), 16);
    let text = message.to_string();
    for leak in ["secret", "panic", ".rs"] {
        assert!(!text.contains(leak), "{text}");
    }
}

#[tokio::test]
async fn a_panic_answers_its_own_call() {
    let (gateway, source) = standard().await;
    let held = gateway
        .client()
        .modern_call("fake__hold", json!({}))
        .request()
        .send_only()
        .await;
    source.started("hold", 1).await;
    let call = gateway
        .client()
        .modern_call("fake__panic", json!({}))
        .id("\"p\"");
    let message = call.message().await;
    is_opaque(&message);
    assert_eq!(message["id"], "p");
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let message = session
            .call("fake__panic", json!({}))
            .send()
            .await
            .message()
            .await;
        is_opaque(&message);
        served(session.call("fake__echo", json!({})).send().await).await;
    }
    source.release("hold", 1);
    served(held.response().await).await;
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
    assert_eq!(methods(&messages), ["notifications/progress", "answer"]);
    is_opaque(&messages[1]);
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let call = session.call_with_progress("fake__late-panic", json!(1));
    let messages = call.send().await.messages().await;
    assert_eq!(methods(&messages), ["notifications/progress", "answer"]);
    is_opaque(&messages[1]);
    served(session.call("fake__echo", json!({})).send().await).await;
}

#[tokio::test]
async fn each_panic_has_a_number_of_its_own() {
    let (gateway, _) = standard().await;
    let mut seen = std::collections::HashSet::new();
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
        assert!(seen.insert(number));
    }
}

#[tokio::test]
async fn a_stream_that_just_stops_is_an_error_and_not_a_silence() {
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
async fn a_panic_in_a_catalog_answers_the_stateless_call() {
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
        let answer = request.send_only().await.try_response().await;
        is_opaque(
            &answer
                .expect("an answer, not a broken connection")
                .message()
                .await,
        );
    }
    source.repair_catalog();
    served(
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await,
    )
    .await;
}

#[tokio::test]
async fn a_panic_in_a_catalog_answers_the_call_of_a_session() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    source.break_catalog();
    for request in [
        session.call("fake__echo", json!({})),
        session.request("tools/list", json!({})),
        session.request("resources/subscribe", json!({ "uri": "fake://note" })),
    ] {
        let answer = request.send().await;
        is_opaque(&answer.message().await);
    }
    source.repair_catalog();
    served(session.call("fake__echo", json!({})).send().await).await;
}

#[tokio::test]
async fn a_panic_in_a_catalog_answers_the_call_on_a_pipe() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone()).stdio().await;
    source.break_catalog();
    let call = json!({ "name": "fake__echo", "arguments": {} });
    let id = pipe.modern("tools/call", call.clone()).await;
    is_opaque(&pipe.response(&json!(id)).await);
    source.repair_catalog();
    let id = pipe.modern("tools/call", call).await;
    assert!(pipe.response(&json!(id)).await["result"].is_object());
}
