//! How responses are written, over HTTP/1.1 and HTTP/2.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, ResponseFormat};
use tidegate_testkit::{Client, NEWEST_LEGACY};

fn call_with_progress(client: &Client) -> tidegate_testkit::ModernRequest {
    client
        .modern_call("test_tool_with_progress", json!({}))
        .progress(json!("p"))
}

#[tokio::test]
async fn json_format_uses_events_for_several_messages() {
    let running = Fixture::new().start().await;
    let client = running.client();
    assert!(
        !client
            .modern("tools/list", json!({}))
            .send()
            .await
            .is_stream()
    );
    let messages = call_with_progress(&client).send().await.messages().await;
    assert_eq!(messages.len(), 4);
}

#[tokio::test]
async fn sse_format_always_uses_events() {
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
async fn sequence_format_writes_one_message_per_line() {
    let running = Fixture::new()
        .format(ResponseFormat::Sequence)
        .start()
        .await;
    let client = running.client();
    let mut answer = call_with_progress(&client).send().await;
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
async fn http2_is_supported() {
    let running = Fixture::new().start().await;
    let (status, body) = running
        .client()
        .modern("tools/list", json!({}))
        .request()
        .send_http2("localhost")
        .await;
    assert_eq!(status, 200, "{body}");
}
