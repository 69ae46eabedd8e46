//! Batches, which only one revision has.

use serde_json::{Value, json};
use tidegate_testkit::{BATCHES, FakeSource, LEGACY, Session, TestGateway};

use crate::support::{echoed, expect_error, methods, standard, standard_with};

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    request(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    )
}

fn notification() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// The responses to a batch, sorted by id.
async fn responses_to(session: &Session, batch: Value) -> Vec<Value> {
    let response = session.post(&batch).send().await;
    assert_eq!(response.status, 200);
    let Value::Array(mut responses) = response.json().await else {
        panic!("the response to a batch is an array");
    };
    responses.sort_by_key(|response| response["id"].as_i64());
    responses
}

#[tokio::test]
async fn the_response_to_a_batch_is_an_array() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let batch = json!([
        request(1, "ping", json!({})),
        call(2, "fake__echo", json!({ "canary": 2 })),
        notification(),
        call(3, "fake__nothing", json!({})),
        { "jsonrpc": "2.0", "id": 9, "result": {} },
    ]);
    let responses = responses_to(&session, batch).await;
    assert_eq!(responses.len(), 3);
    assert_eq!(responses[0]["result"], json!({}));
    assert_eq!(echoed(&responses[1]["result"]), json!({ "canary": 2 }));
    assert_eq!(responses[2]["error"]["code"], -32602);
}

#[tokio::test]
async fn the_response_to_a_batch_of_one_is_an_array() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    for batch in [
        json!([request(1, "ping", json!({}))]),
        json!([notification(), request(1, "ping", json!({}))]),
        json!([call(1, "fake__nothing", json!({}))]),
    ] {
        let responses = responses_to(&session, batch).await;
        assert_eq!(responses.len(), 1);
        assert_eq!(responses[0]["id"], 1);
    }
}

#[tokio::test]
async fn a_batch_without_requests_gets_no_response() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let response = json!({ "jsonrpc": "2.0", "id": 5, "result": {} });
    for batch in [
        json!([notification()]),
        json!([notification(), response, notification()]),
    ] {
        let mut response = session.post(&batch).send().await;
        assert_eq!((response.status, response.text().await.as_str()), (202, ""));
    }
}

#[tokio::test]
async fn a_batch_with_notifications_is_streamed_with_every_response() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let mut with_progress = call(2, "fake__progress", json!({}));
    with_progress["params"]["_meta"] = json!({ "progressToken": "t" });
    let batch = json!([
        request(1, "ping", json!({})),
        with_progress,
        call(3, "fake__echo", json!({}))
    ]);
    let messages = session.post(&batch).send().await.events().remaining().await;
    let progress: Vec<_> = messages
        .iter()
        .filter(|message| message.get("id").is_none())
        .collect();
    assert_eq!(progress.len(), 3);
    assert!(
        progress
            .iter()
            .all(|message| message["params"]["progressToken"] == "t")
    );
    let mut ids: Vec<_> = messages
        .iter()
        .filter_map(|message| message["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
}

#[tokio::test]
async fn a_slow_batch_becomes_a_stream_with_every_response() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let batch = json!([
        request(1, "ping", json!({})),
        call(2, "fake__hold", json!({ "canary": 2 }))
    ]);
    let mut events = session.post(&batch).send().await.events();
    source.release("hold", 1);
    let messages = events.remaining().await;
    assert_eq!(methods(&messages), ["response", "response"]);
    assert_eq!(
        (&messages[0]["id"], &messages[1]["id"]),
        (&json!(1), &json!(2))
    );
}

#[tokio::test]
async fn an_invalid_message_does_not_affect_the_others_of_its_batch() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let batch =
        json!([1, { "jsonrpc": "1.0", "id": 1, "method": "ping" }, request(2, "ping", json!({}))]);
    let responses = responses_to(&session, batch).await;
    let wrong: Vec<_> = responses
        .iter()
        .filter(|message| message["error"]["code"] == -32600)
        .collect();
    assert_eq!((responses.len(), wrong.len()), (3, 2));
    assert!(
        responses
            .iter()
            .any(|message| message["id"] == 2 && message["result"].is_object())
    );
}

#[tokio::test]
async fn rejects_a_handshake_in_a_batch() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let hello = json!({ "protocolVersion": BATCHES, "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } });
    let batch = json!([
        request(1, "initialize", hello.clone()),
        request(2, "ping", json!({}))
    ]);
    let responses = responses_to(&session, batch.clone()).await;
    assert_eq!(responses[0]["error"]["code"], -32600);
    assert!(responses[1]["result"].is_object());
    let response = gateway.client().post(&batch).send().await;
    assert_eq!(response.header("mcp-session-id"), None);
    expect_error(response, 400, -32600).await;
}

#[tokio::test]
async fn other_revisions_have_no_batches() {
    let (gateway, source) = standard().await;
    let batch = json!([call(1, "fake__echo", json!({}))]);
    for revision in LEGACY.into_iter().filter(|revision| *revision != BATCHES) {
        let session = gateway.client().initialize(revision).await;
        expect_error(session.post(&batch).send().await, 400, -32600).await;
        let mut stdio = TestGateway::with(source.clone()).stdio().await;
        stdio.initialize(revision).await;
        stdio.send(&batch).await;
        assert_eq!(stdio.message().await["error"]["code"], -32600);
    }
    assert_eq!(source.counts("echo").started, 0);
}

#[tokio::test]
async fn rejects_an_empty_batch_and_one_over_the_limit() {
    let (gateway, source) = standard_with(|limits| limits.max_batch_messages = 3).await;
    let session = gateway.client().initialize(BATCHES).await;
    expect_error(session.post(&json!([])).send().await, 400, -32600).await;
    let long: Vec<_> = (0..4).map(|id| call(id, "fake__echo", json!({}))).collect();
    expect_error(session.post(&json!(long)).send().await, 400, -32600).await;
    assert_eq!(source.counts("echo").started, 0);
    assert_eq!(responses_to(&session, json!(long[..3])).await.len(), 3);
}

#[tokio::test]
async fn the_response_to_a_batch_over_stdio_is_one_line() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source.clone()).stdio().await;
    stdio.initialize(BATCHES).await;
    let mut with_progress = call(12, "fake__progress", json!({}));
    with_progress["params"]["_meta"] = json!({ "progressToken": 1 });
    stdio
        .send(&json!([
            request(11, "ping", json!({})),
            notification(),
            with_progress
        ]))
        .await;
    for _ in 0..3 {
        assert_eq!(stdio.message().await["method"], "notifications/progress");
    }
    let responses = stdio.message().await;
    let mut ids: Vec<_> = responses
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [Some(11), Some(12)]);
    stdio.send(&json!([request(13, "ping", json!({}))])).await;
    assert!(stdio.message().await.is_array(), "a batch of one, too");
    stdio.send(&json!([notification()])).await;
    stdio
        .send(&json!([
            call(14, "fake__hold", json!({})),
            call(14, "fake__echo", json!({}))
        ]))
        .await;
    source.started("hold", 1).await;
    source.release("hold", 1);
    let responses = stdio.message().await;
    let rejected = responses
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["error"]["code"] == -32600);
    assert_eq!(
        rejected.count(),
        1,
        "two calls on one connection cannot have the same id: {responses}"
    );
}
