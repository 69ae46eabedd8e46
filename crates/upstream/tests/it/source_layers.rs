//! The layers of a source in front of a real server: timeouts, a concurrency limit, a breaker, retries.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::Layer;
use tidegate_testkit::fixture::{Fixture, RunningFixture};
use tidegate_testkit::policy::{Breaker, Concurrency, Deadline, Retry};
use tidegate_testkit::{Client, NEWEST_LEGACY, wait_until};

use crate::support::RemoteGateway;

async fn faulty() -> RunningFixture {
    Fixture::modern()
        .with(|settings| settings.faults = true)
        .start()
        .await
}

fn deadline(time: Duration) -> Arc<dyn Layer> {
    Arc::new(Deadline {
        call_timeout: time,
        max_call_duration: time,
    })
}

async fn call(client: &Client, tool: &str) -> Value {
    client
        .modern_call(tool, json!({}))
        .send()
        .await
        .message()
        .await
}

#[tokio::test]
async fn the_breaker_opens_for_a_server_that_never_responds_and_closes_again() {
    let fixture = faulty().await;
    let pause = Duration::from_secs(2);
    let layers = vec![
        Arc::new(Breaker::new(2, pause)) as Arc<dyn Layer>,
        deadline(Duration::from_millis(200)),
    ];
    let gateway = RemoteGateway::with(&fixture, layers, |_| {}).await;
    let client = gateway.client();
    for _ in 0..2 {
        let late = call(&client, "fault_hang").await;
        assert_eq!(late["error"]["data"]["kind"], "timeout", "{late}");
    }
    fixture.clear_received();
    let refused = call(&client, "test_simple_text").await;
    assert_eq!(refused["error"]["data"]["kind"], "source_down", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`server`") && message.contains("retry in"),
        "{message}"
    );
    assert!(
        fixture.received_for("tools/call").is_empty(),
        "the open breaker sends nothing"
    );
    wait_until("the breaker is closed", || async {
        call(&client, "test_simple_text").await["result"].is_object()
    })
    .await;
    assert!(call(&client, "test_simple_text").await["result"].is_object());
}

#[tokio::test]
async fn calls_over_the_concurrency_limit_wait_and_are_then_rejected() {
    let fixture = faulty().await;
    let layers = vec![Arc::new(Concurrency::new(1, Duration::from_secs(60))) as Arc<dyn Layer>];
    let gateway = RemoteGateway::with(&fixture, layers, |_| {}).await;
    let client = gateway.client();
    let at_work = || fixture.received_for("tools/call").len();
    let hangs = |client: Client| tokio::spawn(async move { call(&client, "fault_hang").await });
    let first = hangs(client.clone());
    wait_until("the server has received the first call", || async {
        at_work() == 1
    })
    .await;
    let (mut second, mut third) = (hangs(client.clone()), hangs(client.clone()));
    let refused = tokio::select! {
        refused = &mut second => refused,
        refused = &mut third => refused,
    };
    assert_eq!(refused.unwrap()["error"]["data"]["kind"], "source_down");
    assert_eq!(at_work(), 1, "the other call waits");
    for waiting in [first, second, third] {
        waiting.abort();
    }
    wait_until("cancelled calls release their permits", || async {
        call(&client, "test_simple_text").await["result"].is_object()
    })
    .await;
}

/// Protocol 4.11: a lost session is opened again, and idempotent calls are retried.
#[tokio::test]
async fn reads_survive_a_lost_session() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let layers = vec![Arc::new(Retry { max_retries: 3 }) as Arc<dyn Layer>];
    let gateway = RemoteGateway::with(&fixture, layers, |_| {}).await;
    let client = gateway.client();
    for _ in 0..3 {
        fixture.forget_sessions();
        let read = client.modern("resources/read", json!({ "uri": "test://static-text" }));
        let read = read.send().await.message().await;
        assert!(read["result"]["contents"].is_array(), "{read}");
    }
    fixture.forget_sessions();
    let called = call(&client, "test_simple_text").await;
    let failed = called["error"]["data"]["kind"] == "source_failed";
    assert!(failed, "a call that may have run is not retried: {called}");
    wait_until("calls succeed again", || async {
        call(&client, "test_simple_text").await["result"].is_object()
    })
    .await;
}
