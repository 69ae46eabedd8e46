//! A client that declares elicitation and never answers: its silence costs only that client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::{Health, Layer};
use tidegate_testkit::fixture::{self, Fixture};
use tidegate_testkit::policy::{Breaker, Deadline};
use tidegate_testkit::{NEWEST_LEGACY, Session};

use crate::support::{RemoteGateway, stdio};

const MAX_FAILURES: u32 = 2;

async fn gateway() -> RemoteGateway {
    let unused = Fixture::modern().start().await;
    let layers: Vec<Arc<dyn Layer>> = vec![
        Arc::new(Breaker::new(MAX_FAILURES, Duration::from_secs(600))),
        Arc::new(Deadline {
            call_timeout: Duration::from_secs(20),
            max_call_duration: Duration::from_millis(300),
        }),
    ];
    let program = fixture::program().display().to_string();
    RemoteGateway::with(&unused, layers, |config| {
        config.transport = stdio(&program, &["--era", "legacy"]);
    })
    .await
}

async fn process_of(session: &Session) -> Value {
    let called = session.exchange("tools/call", json!({ "name": "process_id" }));
    Box::pin(called).await["result"]["content"][0]["text"].clone()
}

/// Makes a call that asks, and does not answer: the question, its withdrawal, the error.
async fn ignore_question(session: &Session) {
    let call = session.call("test_elicitation", json!({ "message": "m" }));
    let mut events = Box::pin(call.send()).await.events();
    let mut question = Value::Null;
    loop {
        let message = Box::pin(events.message()).await;
        match message["method"].as_str() {
            Some("elicitation/create") => question = message["id"].clone(),
            Some("notifications/cancelled") => {
                assert_eq!(message["params"]["requestId"], question, "{message}");
                question = json!("withdrawn");
            }
            Some(_) => {}
            None => {
                let text = message["error"]["message"].to_string();
                assert!(text.contains("did not answer"), "{message}");
                assert_eq!(question, "withdrawn");
                return;
            }
        }
    }
}

#[tokio::test]
async fn silence_costs_only_the_client_itself() {
    let gateway = gateway().await;
    let client = gateway.client();
    let capabilities = json!({ "elicitation": {} });
    let silent = Box::pin(client.initialize_with(NEWEST_LEGACY, &capabilities)).await;
    let other = Box::pin(client.initialize_with(NEWEST_LEGACY, &json!({}))).await;
    let process = process_of(&silent).await;
    for _ in 0..2 * MAX_FAILURES {
        ignore_question(&silent).await;
    }
    assert_eq!(
        process_of(&silent).await,
        process,
        "no process was replaced"
    );
    assert!(process_of(&other).await.is_string());
    assert_eq!(gateway.health(), Health::Healthy);
    let counts = gateway.connections();
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    assert_eq!(total, 2, "{counts:?}");
}
