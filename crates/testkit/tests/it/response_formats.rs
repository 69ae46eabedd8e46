//! How answers are written, and over which HTTP.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, ResponseFormat};
use tidegate_testkit::{Client, NEWEST_LEGACY};

fn progressing(client: &Client) -> tidegate_testkit::ModernRequest {
    client
        .modern_call("test_tool_with_progress", json!({}))
        .progress(json!("p"))
}

#[tokio::test]
async fn json_is_for_one_message_and_events_for_more() {
    let running = Fixture::new().start().await;
    let client = running.client();
    assert!(
        !client
            .modern("tools/list", json!({}))
            .send()
            .await
            .is_stream()
    );
    let messages = progressing(&client).send().await.messages().await;
    assert_eq!(messages.len(), 4);
}

#[tokio::test]
async fn events_are_events_always() {
    let running = Fixture::new().format(ResponseFormat::Sse).start().await;
    let client = running.client();
    assert!(
        client
            .modern("tools/list", json!({}))
            .send()
            .await
            .is_stream()
    );
    assert!(
        client
            .initialize_request(NEWEST_LEGACY)
            .send()
            .await
            .is_stream()
    );
}

#[tokio::test]
async fn a_sequence_is_one_message_a_line_as_they_come() {
    let running = Fixture::new()
        .format(ResponseFormat::Sequence)
        .start()
        .await;
    let client = running.client();
    let mut answer = progressing(&client).send().await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let text = answer.text().await;
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[3]["result"].is_object());
    let listen = client.modern("subscriptions/listen", json!({ "notifications": {} }));
    let mut answer = listen.send().await;
    let mut first = Vec::new();
    while !first.ends_with(b"\n") {
        first.extend(answer.next_bytes().await.unwrap());
    }
    let first: Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
}

#[tokio::test]
async fn it_speaks_http_2() {
    let running = Fixture::new().start().await;
    let (status, body) = running
        .client()
        .modern("tools/list", json!({}))
        .request()
        .send_http2("localhost")
        .await;
    assert_eq!(status, 200, "{body}");
}
