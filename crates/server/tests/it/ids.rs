//! Request ids: returned unchanged, and never used to find a response.

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use crate::support::{echoed, standard, standard_with};

fn ids() -> Vec<String> {
    let mut ids: Vec<String> = [
        "0",
        "1",
        "-7",
        "1.0",
        "9223372036854775808",
        "12345678901234567890123",
        "\"\"",
        "\"1\"",
        "\"a\\u0062\\n\"",
        "\"é\u{2028}\"",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.push(format!("\"{}\"", "i".repeat(64 * 1024)));
    ids
}

#[tokio::test]
async fn an_id_is_returned_unchanged() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for id in ids() {
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"");
        for tool in ["fake__echo", "fake__nothing"] {
            let call = gateway.client().modern_call(tool, json!({})).id(&id);
            let text = call.send().await.text().await;
            assert!(text.starts_with(&expected), "{text:.200}");
        }
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let text = session
            .post(&json!(null))
            .body(ping.as_bytes())
            .send()
            .await
            .text()
            .await;
        assert!(text.starts_with(&expected), "{text:.200}");
    }
}

#[tokio::test]
async fn an_id_is_returned_unchanged_over_stdio() {
    let mut stdio = TestGateway::with(FakeSource::standard()).stdio().await;
    for id in ids() {
        stdio
            .send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
            .await;
        let line = stdio.next_line().await.unwrap();
        assert!(
            line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"")),
            "{line:.200}"
        );
    }
}

#[tokio::test]
async fn rejects_invalid_ids() {
    let (gateway, _) = standard().await;
    for id in ["null", "true", "1.5", "1e3", "[1]", "{}"] {
        let response = gateway
            .client()
            .modern("tools/list", json!({}))
            .id(id)
            .send()
            .await;
        assert_eq!(response.status, 400, "{id}");
        let message = response.json().await;
        assert_eq!(message["error"]["code"], -32600, "{id}");
    }
}

/// T18: many clients use the same ids.
#[tokio::test]
async fn concurrent_calls_with_the_same_id_get_their_own_responses() {
    const CALLS: usize = 300;
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut calls = tokio::task::JoinSet::new();
    for canary in 0..CALLS {
        let arguments = json!({ "canary": canary });
        let request = if canary % 3 == 0 {
            let params = json!({ "name": "fake__hold", "arguments": arguments });
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            if canary % 2 == 0 {
                session.post(&call)
            } else {
                gateway.client().post(&call)
            }
        } else {
            gateway
                .client()
                .modern_call("fake__hold", arguments)
                .request()
        };
        calls.spawn(async move { (canary, request.send().await.message().await) });
    }
    source.started("hold", CALLS).await;
    source.release("hold", CALLS);
    while let Some(call) = calls.join_next().await {
        let (canary, message) = call.unwrap();
        assert_eq!(message["id"], 1);
        assert_eq!(echoed(&message["result"]), json!({ "canary": canary }));
    }
    assert_eq!(source.counts("hold").dropped, 0);
}

/// T18: the response of a dropped call must not reach another one.
#[tokio::test]
async fn a_dropped_call_does_not_affect_others_with_its_id() {
    const ROUNDS: usize = 40;
    let (gateway, source) = standard().await;
    for round in 0..ROUNDS {
        let call = |canary: usize| {
            let arguments = json!({ "canary": canary });
            gateway
                .client()
                .modern_call("fake__hold", arguments)
                .request()
        };
        let (leaver, stayer) = (
            call(round).send_only().await,
            call(round + ROUNDS).send_only().await,
        );
        source.started("hold", 2 * (round + 1)).await;
        drop(leaver);
        source.dropped("hold", round + 1).await;
        source.release("hold", 1);
        let message = stayer.response().await.message().await;
        assert_eq!(
            echoed(&message["result"]),
            json!({ "canary": round + ROUNDS })
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_id_can_be_used_again_after_its_response() {
    let mut stdio = TestGateway::with(FakeSource::standard()).stdio().await;
    stdio.initialize(NEWEST_LEGACY).await;
    let params = json!({ "name": "fake__echo", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params });
    for _ in 0..2000 {
        stdio.send(&call).await;
        let response = stdio.message().await;
        assert!(response["result"].is_object(), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn permits_are_released_before_the_response_is_sent() {
    let (gateway, _) = standard_with(|limits| {
        limits.max_concurrent_calls = 1;
        limits.max_concurrent_calls_per_session = 1;
    })
    .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for _ in 0..300 {
        let legacy = session.call("fake__echo", json!({})).send().await;
        assert_eq!(legacy.message().await["error"], json!(null));
        let modern = gateway.client().modern_call("fake__echo", json!({}));
        assert_eq!(modern.message().await["error"], json!(null));
        let stream = session
            .call_with_progress("fake__progress", json!(1))
            .send()
            .await;
        assert_eq!(stream.message().await["error"], json!(null));
    }
}
