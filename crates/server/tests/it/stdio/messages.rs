//! Messages over stdio: both eras, ids, changes.

use serde_json::{Value, json};
use tidegate_core::Change;
use tidegate_testkit::{FakeSource, LEGACY, MODERN, NEWEST_LEGACY, TestGateway};

use super::{assert_ping, call, standard};
use crate::support::{echoed, methods};

#[tokio::test]
async fn both_eras_can_alternate_on_one_connection() {
    let (mut stdio, _) = standard().await;
    let discover = stdio.modern("server/discover", json!({})).await;
    let response = stdio.response(&json!(discover)).await;
    assert!(
        response["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    let hello = stdio.initialize("2025-06-18").await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    for round in 0..6 {
        let arguments = json!({ "canary": round });
        let is_modern = round % 2 == 0;
        let id = if is_modern {
            stdio
                .modern("tools/call", call("fake__echo", arguments.clone()))
                .await
        } else {
            stdio
                .request("tools/call", call("fake__echo", arguments.clone()))
                .await
        };
        let response = stdio.response(&json!(id)).await;
        assert_eq!(echoed(&response["result"]), arguments);
        assert_eq!(response["result"].get("resultType").is_some(), is_modern);
    }
}

#[tokio::test]
async fn supports_every_legacy_revision() {
    for revision in LEGACY {
        let (mut stdio, _) = standard().await;
        let hello = stdio.initialize(revision).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        assert_ping(&mut stdio).await;
    }
}

#[tokio::test]
async fn rejects_a_duplicate_id_until_the_first_call_has_its_response() {
    let (mut stdio, source) = standard().await;
    let hold = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("fake__hold", json!({})) });
    stdio.send(&hold(json!("x"))).await;
    source.started("hold", 1).await;
    stdio.send(&hold(json!("x"))).await;
    let message = stdio.message().await;
    assert_eq!(
        (&message["id"], &message["error"]["code"]),
        (&json!("x"), &json!(-32600))
    );
    source.release("hold", 1);
    assert!(stdio.message().await["result"].is_object());
    source.release("hold", 1);
    stdio.send(&hold(json!("x"))).await;
    assert!(
        stdio.response(&json!("x")).await["result"].is_object(),
        "the id can be used again"
    );
    // 1 and "1" differ, 1 and 1.0 do not.
    stdio.send(&hold(json!(1))).await;
    stdio.send(&hold(json!("1"))).await;
    source.started("hold", 4).await;
    stdio.send(&hold(json!(1.0))).await;
    assert_eq!(stdio.message().await["error"]["code"], -32600);
    source.release("hold", 2);
    for _ in 0..2 {
        assert!(stdio.message().await["result"].is_object());
    }
}

#[tokio::test]
async fn rejects_calls_over_the_limit_with_their_id() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source.clone())
        .limits(|limits| limits.max_concurrent_calls_per_session = 2)
        .stdio()
        .await;
    for _ in 0..2 {
        stdio
            .modern("tools/call", call("fake__hold", json!({})))
            .await;
    }
    source.started("hold", 2).await;
    let third = stdio
        .modern("tools/call", call("fake__echo", json!({})))
        .await;
    let message = stdio.message().await;
    assert_eq!(message["error"]["code"], -31503, "{message}");
    assert_eq!(
        message["id"], third,
        "the client waits for a response with this id"
    );
    source.release("hold", 2);
}

#[tokio::test]
async fn a_session_over_stdio_gets_change_notifications() {
    let (mut stdio, source) = standard().await;
    stdio.initialize(NEWEST_LEGACY).await;
    let id = stdio
        .request("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    stdio.response(&json!(id)).await;
    source.updated("fake://note");
    assert_eq!(stdio.message().await["params"]["uri"], "fake://note");
    source.change(Change::Prompts);
    assert_eq!(
        methods(&[stdio.message().await]),
        ["notifications/prompts/list_changed"]
    );
}

#[tokio::test]
async fn notifications_and_responses_get_no_response() {
    let (mut stdio, _) = standard().await;
    stdio.initialize(NEWEST_LEGACY).await;
    stdio
        .send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }))
        .await;
    stdio.notify("notifications/unknown", json!({})).await;
    stdio
        .notify("notifications/cancelled", json!({ "requestId": 12345 }))
        .await;
    stdio.notify("notifications/cancelled", json!({})).await;
    let id = stdio.request("ping", json!({})).await;
    assert_eq!(stdio.message().await["id"], id);
}

#[tokio::test]
async fn a_second_handshake_replaces_the_session() {
    let (mut stdio, source) = standard().await;
    stdio.initialize("2024-11-05").await;
    let id = stdio
        .request("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    stdio.response(&json!(id)).await;
    let hello = stdio.initialize(NEWEST_LEGACY).await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST_LEGACY);
    source.updated("fake://note");
    assert_ping(&mut stdio).await;
    let id = stdio.request("ping", json!({})).await;
    assert_eq!(
        stdio.message().await["id"],
        id,
        "the subscription of the first session is gone"
    );
}

#[tokio::test]
async fn a_panic_fails_only_its_own_call() {
    let (mut stdio, _) = standard().await;
    let ids = [
        stdio
            .modern("tools/call", call("fake__panic", json!({})))
            .await,
        stdio
            .modern("tools/call", call("fake__late-panic", json!({})))
            .await,
    ];
    for id in ids {
        let message = stdio.response(&json!(id)).await;
        assert_eq!(message["error"]["code"], -32603);
        assert!(!message.to_string().contains("secret"));
    }
    assert_ping(&mut stdio).await;
}
