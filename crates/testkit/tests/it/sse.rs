//! The HTTP+SSE transport.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, RunningFixture};
use tidegate_testkit::{Client, Events, LEGACY, wait_until};

use crate::support::text;

/// Opens a stream; returns it with a client of its POST endpoint.
async fn open(running: &RunningFixture) -> (Events, Client) {
    let client = running.client();
    let mut events = client.at("/sse").get().send().await.events();
    let endpoint = events.next().await.unwrap();
    assert_eq!(endpoint.name.as_deref(), Some("endpoint"));
    (events, client.at(&endpoint.data))
}

async fn post(client: &Client, message: Value) {
    assert_eq!(client.post(&message).send().await.status, 202);
}

#[tokio::test]
async fn responses_and_questions_come_on_the_stream() {
    let running = Fixture::legacy(LEGACY[0]).start().await;
    let (mut events, client) = open(&running).await;
    let info = json!({ "name": "test", "version": "0" });
    let params = json!({ "protocolVersion": LEGACY[0], "capabilities": { "sampling": {} }, "clientInfo": info });
    post(
        &client,
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
    )
    .await;
    assert_eq!(
        events.message().await["result"]["protocolVersion"],
        LEGACY[0]
    );
    post(
        &client,
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    )
    .await;
    let call = json!({ "name": "test_sampling", "arguments": {} });
    post(
        &client,
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    )
    .await;
    let question = events.message().await;
    let answer =
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "yes" } });
    post(
        &client,
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }),
    )
    .await;
    assert!(text(&events.message().await).contains("yes"));
    running.add_tool("new");
    assert_eq!(
        events.message().await["method"],
        "notifications/tools/list_changed"
    );
    drop(events);
    wait_until("the session to end", async || running.sessions() == 0).await;
    let late = json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" });
    assert_eq!(client.post(&late).send().await.status, 404);
}

#[tokio::test]
async fn modern_server_has_no_sse_transport() {
    let running = Fixture::modern().start().await;
    assert_eq!(running.client().at("/sse").get().send().await.status, 405);
}
