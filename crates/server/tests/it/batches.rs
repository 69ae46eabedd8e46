//! Batches: one revision has them.

use serde_json::{Value, json};
use tidegate_testkit::{BATCHES, FakeSource, LEGACY, Session, TestGateway};

use crate::support::{echoed, methods, refused, standard};

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

/// The answers of a batch, by id.
async fn answers(session: &Session, batch: Value) -> Vec<Value> {
    let answer = session.post(&batch).send().await;
    assert_eq!(answer.status, 200);
    let Value::Array(mut answers) = answer.json().await else {
        panic!("an array is answered by an array");
    };
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

#[tokio::test]
async fn an_array_is_answered_by_an_array() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let batch = json!([
        request(1, "ping", json!({})),
        call(2, "fake__echo", json!({ "canary": 2 })),
        notification(),
        call(3, "fake__nothing", json!({})),
        { "jsonrpc": "2.0", "id": 9, "result": {} },
    ]);
    let answers = answers(&session, batch).await;
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["result"], json!({}));
    assert_eq!(echoed(&answers[1]["result"]), json!({ "canary": 2 }));
    assert_eq!(answers[2]["error"]["code"], -32602);
}

#[tokio::test]
async fn a_batch_of_one_is_answered_by_an_array() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    for batch in [
        json!([request(1, "ping", json!({}))]),
        json!([notification(), request(1, "ping", json!({}))]),
        json!([call(1, "fake__nothing", json!({}))]),
    ] {
        let answers = answers(&session, batch).await;
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["id"], 1);
    }
}

#[tokio::test]
async fn what_wants_no_answer_gets_none() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let response = json!({ "jsonrpc": "2.0", "id": 5, "result": {} });
    for batch in [
        json!([notification()]),
        json!([notification(), response, notification()]),
    ] {
        let mut answer = session.post(&batch).send().await;
        assert_eq!((answer.status, answer.text().await.as_str()), (202, ""));
    }
}

#[tokio::test]
async fn a_batch_with_events_is_a_stream_with_every_answer() {
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
        .filter(|one| one.get("id").is_none())
        .collect();
    assert_eq!(progress.len(), 3);
    assert!(
        progress
            .iter()
            .all(|one| one["params"]["progressToken"] == "t")
    );
    let mut ids: Vec<_> = messages
        .iter()
        .filter_map(|one| one["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
}

#[tokio::test]
async fn a_batch_that_takes_long_becomes_a_stream_that_loses_nothing() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let batch = json!([
        request(1, "ping", json!({})),
        call(2, "fake__hold", json!({ "canary": 2 }))
    ]);
    let mut events = session.post(&batch).send().await.events();
    source.release("hold", 1);
    let messages = events.remaining().await;
    assert_eq!(methods(&messages), ["answer", "answer"]);
    assert_eq!(
        (&messages[0]["id"], &messages[1]["id"]),
        (&json!(1), &json!(2))
    );
}

#[tokio::test]
async fn what_is_wrong_in_a_batch_stands_or_falls_alone() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let batch =
        json!([1, { "jsonrpc": "1.0", "id": 1, "method": "ping" }, request(2, "ping", json!({}))]);
    let answers = answers(&session, batch).await;
    let wrong: Vec<_> = answers
        .iter()
        .filter(|one| one["error"]["code"] == -32600)
        .collect();
    assert_eq!((answers.len(), wrong.len()), (3, 2));
    assert!(
        answers
            .iter()
            .any(|one| one["id"] == 2 && one["result"].is_object())
    );
}

#[tokio::test]
async fn a_handshake_in_a_batch_is_refused() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(BATCHES).await;
    let hello = json!({ "protocolVersion": BATCHES, "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } });
    let batch = json!([
        request(1, "initialize", hello.clone()),
        request(2, "ping", json!({}))
    ]);
    let answers = answers(&session, batch.clone()).await;
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert!(answers[1]["result"].is_object());
    let answer = gateway.client().post(&batch).send().await;
    assert_eq!(answer.header("mcp-session-id"), None);
    refused(answer, 400, -32600).await;
}

#[tokio::test]
async fn other_revisions_have_no_batches() {
    let (gateway, source) = standard().await;
    let batch = json!([call(1, "fake__echo", json!({}))]);
    for revision in LEGACY.into_iter().filter(|revision| *revision != BATCHES) {
        let session = gateway.client().initialize(revision).await;
        refused(session.post(&batch).send().await, 400, -32600).await;
        let mut pipe = TestGateway::with(source.clone()).stdio().await;
        pipe.initialize(revision).await;
        pipe.send(&batch).await;
        assert_eq!(pipe.message().await["error"]["code"], -32600);
    }
    assert_eq!(source.counts("echo").started, 0);
}

#[tokio::test]
async fn an_empty_batch_and_a_long_one_are_refused_whole() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.max_batch_messages = 3)
        .start()
        .await;
    let session = gateway.client().initialize(BATCHES).await;
    refused(session.post(&json!([])).send().await, 400, -32600).await;
    let long: Vec<_> = (0..4).map(|id| call(id, "fake__echo", json!({}))).collect();
    refused(session.post(&json!(long)).send().await, 400, -32600).await;
    assert_eq!(source.counts("echo").started, 0);
    assert_eq!(answers(&session, json!(long[..3])).await.len(), 3);
}

#[tokio::test]
async fn a_batch_on_a_pipe_is_answered_by_one_line() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone()).stdio().await;
    pipe.initialize(BATCHES).await;
    let mut with_progress = call(12, "fake__progress", json!({}));
    with_progress["params"]["_meta"] = json!({ "progressToken": 1 });
    pipe.send(&json!([
        request(11, "ping", json!({})),
        notification(),
        with_progress
    ]))
    .await;
    for _ in 0..3 {
        assert_eq!(pipe.message().await["method"], "notifications/progress");
    }
    let answers = pipe.message().await;
    let mut ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [Some(11), Some(12)]);
    pipe.send(&json!([request(13, "ping", json!({}))])).await;
    assert!(pipe.message().await.is_array(), "a batch of one too");
    pipe.send(&json!([notification()])).await;
    pipe.send(&json!([
        call(14, "fake__hold", json!({})),
        call(14, "fake__echo", json!({}))
    ]))
    .await;
    source.started("hold", 1).await;
    source.release("hold", 1);
    let answers = pipe.message().await;
    let refused = answers
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["error"]["code"] == -32600);
    assert_eq!(
        refused.count(),
        1,
        "one channel has no two calls with one id: {answers}"
    );
}
