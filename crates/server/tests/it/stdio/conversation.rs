//! What is said on a pipe: both eras, ids, changes.

use serde_json::{Value, json};
use tidegate_core::Change;
use tidegate_testkit::{FakeSource, LEGACY, MODERN, NEWEST_LEGACY, TestGateway};

use super::{call, is_well, standard};
use crate::support::{echoed, methods};

#[tokio::test]
async fn both_eras_alternate_on_one_pipe() {
    let (mut pipe, _) = standard().await;
    let discover = pipe.modern("server/discover", json!({})).await;
    let answer = pipe.response(&json!(discover)).await;
    assert!(
        answer["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    let hello = pipe.initialize("2025-06-18").await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    for round in 0..6 {
        let arguments = json!({ "canary": round });
        let is_modern = round % 2 == 0;
        let id = if is_modern {
            pipe.modern("tools/call", call("fake__echo", arguments.clone()))
                .await
        } else {
            pipe.request("tools/call", call("fake__echo", arguments.clone()))
                .await
        };
        let answer = pipe.response(&json!(id)).await;
        assert_eq!(echoed(&answer["result"]), arguments);
        assert_eq!(answer["result"].get("resultType").is_some(), is_modern);
    }
}

#[tokio::test]
async fn every_revision_can_be_spoken_on_a_pipe() {
    for revision in LEGACY {
        let (mut pipe, _) = standard().await;
        let hello = pipe.initialize(revision).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        is_well(&mut pipe).await;
    }
}

#[tokio::test]
async fn a_duplicate_id_is_refused_by_that_id_until_the_first_is_answered() {
    let (mut pipe, source) = standard().await;
    let hold = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("fake__hold", json!({})) });
    pipe.send(&hold(json!("x"))).await;
    source.started("hold", 1).await;
    pipe.send(&hold(json!("x"))).await;
    let message = pipe.message().await;
    assert_eq!(
        (&message["id"], &message["error"]["code"]),
        (&json!("x"), &json!(-32600))
    );
    source.release("hold", 1);
    assert!(pipe.message().await["result"].is_object());
    source.release("hold", 1);
    pipe.send(&hold(json!("x"))).await;
    assert!(
        pipe.response(&json!("x")).await["result"].is_object(),
        "free again"
    );
    // A number is not a string, but 1.0 is 1.
    pipe.send(&hold(json!(1))).await;
    pipe.send(&hold(json!("1"))).await;
    source.started("hold", 4).await;
    pipe.send(&hold(json!(1.0))).await;
    assert_eq!(pipe.message().await["error"]["code"], -32600);
    source.release("hold", 2);
    for _ in 0..2 {
        assert!(pipe.message().await["result"].is_object());
    }
}

#[tokio::test]
async fn too_many_calls_on_a_pipe_are_refused_by_their_ids() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone())
        .limits(|limits| limits.max_concurrent_calls_per_session = 2)
        .stdio()
        .await;
    for _ in 0..2 {
        pipe.modern("tools/call", call("fake__hold", json!({})))
            .await;
    }
    source.started("hold", 2).await;
    let third = pipe
        .modern("tools/call", call("fake__echo", json!({})))
        .await;
    let message = pipe.message().await;
    assert_eq!(message["error"]["code"], -31503, "{message}");
    assert_eq!(message["id"], third, "or the client waits for ever");
    source.release("hold", 2);
}

#[tokio::test]
async fn a_session_on_a_pipe_hears_of_changes() {
    let (mut pipe, source) = standard().await;
    pipe.initialize(NEWEST_LEGACY).await;
    let id = pipe
        .request("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    pipe.response(&json!(id)).await;
    source.updated("fake://note");
    assert_eq!(pipe.message().await["params"]["uri"], "fake://note");
    source.change(Change::Prompts);
    assert_eq!(
        methods(&[pipe.message().await]),
        ["notifications/prompts/list_changed"]
    );
}

#[tokio::test]
async fn responses_and_notifications_are_taken_without_a_word() {
    let (mut pipe, _) = standard().await;
    pipe.initialize(NEWEST_LEGACY).await;
    pipe.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }))
        .await;
    pipe.notify("notifications/never-heard-of", json!({})).await;
    pipe.notify("notifications/cancelled", json!({ "requestId": 12345 }))
        .await;
    pipe.notify("notifications/cancelled", json!({})).await;
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.message().await["id"], id);
}

#[tokio::test]
async fn a_second_handshake_begins_anew() {
    let (mut pipe, source) = standard().await;
    pipe.initialize("2024-11-05").await;
    let id = pipe
        .request("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    pipe.response(&json!(id)).await;
    let hello = pipe.initialize(NEWEST_LEGACY).await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST_LEGACY);
    source.updated("fake://note");
    is_well(&mut pipe).await;
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(
        pipe.message().await["id"],
        id,
        "the first session's subscription is gone"
    );
}

#[tokio::test]
async fn a_panic_in_a_call_costs_that_call() {
    let (mut pipe, _) = standard().await;
    let ids = [
        pipe.modern("tools/call", call("fake__panic", json!({})))
            .await,
        pipe.modern("tools/call", call("fake__late-panic", json!({})))
            .await,
    ];
    for id in ids {
        let message = pipe.response(&json!(id)).await;
        assert_eq!(message["error"]["code"], -32603);
        assert!(!message.to_string().contains("secret"));
    }
    is_well(&mut pipe).await;
}
