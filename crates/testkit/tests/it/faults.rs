//! The faults of the fixture.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, Received, ResponseFormat, RunningFixture};
use tidegate_testkit::{HttpResponse, NEWEST_LEGACY, wait_for, wait_until};

use crate::support::{StdioPeer, names, text};

async fn call(running: &RunningFixture, tool: &str, arguments: Value) -> HttpResponse {
    running.client().modern_call(tool, arguments).send().await
}

#[tokio::test]
async fn fault_tools_are_listed_only_on_request() {
    for faults in [false, true] {
        let fixture = Fixture::new().with(|settings| settings.faults = faults);
        let running = fixture.start().await;
        let list = running
            .client()
            .modern("tools/list", json!({}))
            .message()
            .await;
        let listed = names(&list["result"]["tools"]);
        assert_eq!(listed.iter().any(|name| name.starts_with("fault_")), faults);
    }
}

#[tokio::test]
async fn hanging_call_ends_when_the_client_disconnects() {
    let running = Fixture::new().start().await;
    let request = running
        .client()
        .modern_call("fault_hang", json!({}))
        .request();
    let connection = request.send_only().await;
    wait_until("the call to arrive", async || {
        !running.received().is_empty()
    })
    .await;
    drop(connection);
    let gone = || matches!(running.received().last(), Some(Received::Cancelled { .. }));
    wait_until("the call to be cancelled", async || gone()).await;
    wait_until("all calls to end", async || running.running_tasks() == 1).await;
}

#[tokio::test]
async fn hang_after_stops_responses_after_the_given_number() {
    let (_running, input, output) = Fixture::new()
        .with(|settings| settings.hang_after = Some(1))
        .stdio();
    let mut pipe = StdioPeer::new(output, input);
    pipe.modern(1, "tools/list", json!({})).await;
    assert_eq!(pipe.next().await.unwrap()["id"], 1);
    pipe.modern(2, "tools/list", json!({})).await;
    pipe.send(&json!("no message")).await;
    assert_eq!(
        pipe.next().await.unwrap()["id"],
        Value::Null,
        "the second request got no response"
    );
}

#[tokio::test]
async fn crash_closes_all_connections() {
    let running = Fixture::new().start().await;
    let request = running
        .client()
        .modern_call("fault_crash", json!({}))
        .request();
    assert!(request.send_only().await.try_response().await.is_none());
    wait_for("the fixture to end", running.ended()).await;
    let address = running.address();
    running.stop().await;
    let again = Fixture::new().start_at(address).await.unwrap();
    assert_eq!(call(&again, "echo", json!({})).await.status, 200);
}

#[tokio::test]
async fn crash_after_ends_the_server_at_the_given_request() {
    let running = Fixture::new()
        .with(|settings| settings.crash_after = Some(1))
        .start()
        .await;
    let request = running.client().modern_call("echo", json!({})).request();
    assert_eq!(request.send().await.status, 200);
    assert!(request.send_only().await.try_response().await.is_none());
}

#[tokio::test]
async fn response_can_be_slow_broken_or_stalled() {
    for form in [ResponseFormat::Json, ResponseFormat::Sse] {
        let running = Fixture::new().format(form).start().await;
        let slow = call(&running, "fault_slow_drip", json!({ "pause_ms": 1 })).await;
        assert_eq!(text(&slow.message().await), "A valid response.");
        let mut half = call(&running, "fault_half", json!({})).await;
        let half = half.text().await;
        assert!(
            !half.is_empty() && !half.ends_with('}') && !half.ends_with('\n'),
            "{half}"
        );
        let mut silent = call(&running, "fault_half", json!({ "breaks": false })).await;
        silent.next_bytes().await.unwrap();
        drop(silent);
    }
}

#[tokio::test]
async fn messages_can_be_invalid_json() {
    let running = Fixture::new().start().await;
    let mut garbage = call(&running, "fault_garbage", json!({})).await;
    let garbage = garbage.text().await;
    assert!(
        serde_json::from_str::<Value>(&garbage).is_err(),
        "{garbage}"
    );
    let mut garbage = call(&running, "fault_garbage", json!({ "answers": true })).await;
    assert!(garbage.text().await.contains("A valid response."));
}

#[tokio::test]
async fn messages_can_be_too_many_or_too_long() {
    let running = Fixture::new().start().await;
    let flood = call(&running, "fault_flood", json!({ "count": 500 })).await;
    assert_eq!(flood.messages().await.len(), 501);
    let big = call(&running, "fault_big", json!({ "bytes": 1 << 20 })).await;
    assert_eq!(text(&big.message().await).len(), 1 << 20);
}

#[tokio::test]
async fn response_can_have_a_wrong_id_or_come_twice_or_never() {
    let running = Fixture::new().format(ResponseFormat::Sse).start().await;
    let wrong = call(&running, "fault_wrong_id", json!({}))
        .await
        .messages()
        .await;
    assert_eq!(wrong[0]["id"], "unknown-id");
    assert_eq!(wrong.len(), 1);
    let twice = call(&running, "fault_twice", json!({}))
        .await
        .messages()
        .await;
    assert_eq!((twice.len(), &twice[0]), (2, &twice[1]));
    let none = call(&running, "fault_no_answer", json!({})).await;
    assert!(none.messages().await.is_empty());
    assert_eq!(
        call(&running, "fault_status", json!({ "status": 503 }))
            .await
            .status,
        503
    );
    let error = call(&running, "fault_error", json!({ "code": -32042 })).await;
    assert_eq!(error.message().await["error"]["code"], -32042);
}

#[tokio::test]
async fn session_can_be_forgotten() {
    let running = Fixture::new().start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    let answer = session.call("fault_404_session", json!({})).send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(session.request("ping", json!({})).send().await.status, 404);
}

#[tokio::test]
async fn faults_work_over_stdio() {
    let (_running, input, output) = Fixture::new().stdio();
    let mut pipe = StdioPeer::new(output, input);
    pipe.modern(
        1,
        "tools/call",
        json!({ "name": "fault_garbage", "arguments": { "answers": true } }),
    )
    .await;
    assert!(serde_json::from_str::<Value>(&pipe.line().await.unwrap()).is_err());
    assert_eq!(pipe.next().await.unwrap()["id"], 1);
    pipe.modern(
        2,
        "tools/call",
        json!({ "name": "fault_half", "arguments": {} }),
    )
    .await;
    let half = pipe.line().await.unwrap();
    assert!(serde_json::from_str::<Value>(&half).is_err(), "{half}");
    assert_eq!(pipe.line().await, None, "the process ended");
}
