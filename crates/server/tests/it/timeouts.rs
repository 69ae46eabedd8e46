//! Timeouts: slow clients are disconnected without effect on others.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use crate::support::{
    bare_request, expect_echo, expect_error, expect_pong, expect_result, standard, standard_with,
};

const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn rejects_a_body_that_does_not_arrive_in_time() {
    let (gateway, _) = standard_with(|limits| limits.body_timeout = SHORT).await;
    let post = gateway.client().post(&bare_request("ping", json!({})));
    for part in [0, 1, 10] {
        let mut connection = gateway.client().connect().await;
        connection.write(&post.head_bytes()).await;
        let bytes = post.bytes();
        let body = &bytes[post.head_bytes().len()..];
        connection.write(&body[..part]).await;
        expect_error(connection.response().await, 408, -32600).await;
    }
    expect_result(post.send().await).await;
}

/// R19: an announced body takes no memory before it arrives.
#[tokio::test]
async fn announced_bodies_do_not_use_up_the_buffer() {
    let (gateway, _) = standard_with(|limits| {
        limits.max_message_bytes = 4096;
        limits.max_buffered_bytes = 2 * 4096;
        limits.body_timeout = Duration::from_secs(3600);
    })
    .await;
    let ping = gateway.client().post(&bare_request("ping", json!({})));
    let mut silent = Vec::new();
    for head in [
        ping.clone().body(&[b' '; 4096]).head_bytes(),
        ping.clone().chunked().head_bytes(),
        ping.clone().chunked().head_bytes(),
    ] {
        let mut connection = gateway.client().connect().await;
        connection.write(&head).await;
        silent.push(connection);
    }
    for _ in 0..3 {
        expect_result(ping.send().await).await;
    }
}

/// A received message only counts with its actual size.
#[tokio::test]
async fn chunked_bodies_only_count_with_their_actual_size() {
    let (gateway, source) = standard_with(|limits| {
        limits.max_message_bytes = 4096;
        limits.max_buffered_bytes = 2 * 4096;
        limits.body_timeout = Duration::from_secs(3600);
        limits.keep_alive_interval = Duration::from_secs(3600);
    })
    .await;
    let call = gateway.client().modern_call("fake__hold", json!({}));
    let mut held = Vec::new();
    for calls in 1..=3 {
        held.push(call.request().chunked().send_only().await);
        source.started("hold", calls).await;
    }
    source.release("hold", 3);
    for connection in held {
        expect_result(connection.response().await).await;
    }
}

#[tokio::test]
async fn a_truncated_body_is_not_dispatched() {
    let (gateway, source) = standard().await;
    let call = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .request();
    let bytes = call.bytes();
    let mut connection = gateway.client().connect().await;
    connection.write(&bytes[..bytes.len() - 1]).await;
    drop(connection);
    expect_pong(&gateway).await;
    assert_eq!(source.counts("echo").started, 0);
}

#[tokio::test]
async fn closes_connections_whose_headers_do_not_arrive_in_time() {
    let (gateway, _) = standard_with(|limits| limits.header_timeout = SHORT).await;
    for half in [
        &b""[..],
        b"P",
        b"POST /mcp HTTP/1.1\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localh",
    ] {
        let mut connection = gateway.client().connect().await;
        connection.write(half).await;
        connection.closed().await;
    }
    expect_pong(&gateway).await;
}

/// Keep-alive connections have a timeout too.
#[tokio::test]
async fn an_idle_connection_is_closed() {
    let (gateway, _) = standard_with(|limits| limits.header_timeout = SHORT).await;
    let mut response = gateway
        .client()
        .post(&bare_request("ping", json!({})))
        .send()
        .await;
    response.text().await;
    response.into_connection().closed().await;
}

#[tokio::test]
async fn a_connection_that_waits_for_its_response_is_not_idle() {
    let (gateway, source) = standard_with(|limits| {
        limits.header_timeout = SHORT;
        limits.body_timeout = SHORT;
        limits.write_timeout = SHORT;
        limits.keep_alive_interval = SHORT;
    })
    .await;
    let mut events = gateway
        .client()
        .modern_call("fake__hold", json!({}))
        .events()
        .await;
    events.comments(5).await;
    source.release("hold", 1);
    assert_eq!(events.remaining().await.len(), 1);
}

/// R13: a client that stops reading is disconnected, which cancels its call.
#[tokio::test]
async fn disconnects_a_client_that_stops_reading() {
    let (gateway, source) = standard_with(|limits| limits.write_timeout = SHORT).await;
    let flood = gateway
        .client()
        .modern_call("fake__flood", json!({}))
        .progress(json!(1));
    let stalled = flood.request().send_only().await;
    source.started("flood", 1).await;
    expect_echo(&gateway).await;
    source.dropped("flood", 1).await;
    drop(stalled);
}

/// The call belongs to the session and continues, within the limits of the replay buffer.
#[tokio::test]
async fn a_client_that_stops_reading_does_not_block_its_session() {
    let (gateway, source) = standard_with(|limits| limits.write_timeout = SHORT).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let stalled = session
        .call_with_progress("fake__flood", json!(1))
        .send_only()
        .await;
    source.started("flood", 1).await;
    for _ in 0..20 {
        expect_result(session.call("fake__echo", json!({})).send().await).await;
    }
    assert_eq!(session.delete().await.status, 204);
    source.dropped("flood", 1).await;
    drop(stalled);
}

#[tokio::test]
async fn a_call_that_exceeds_its_timeout_fails() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .call_timeout(SHORT)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    expect_error(
        gateway
            .client()
            .modern_call("fake__hold", json!({}))
            .send()
            .await,
        200,
        -31408,
    )
    .await;
    let legacy = session
        .call("fake__hold", json!({}))
        .send()
        .await
        .message()
        .await;
    assert_eq!(legacy["error"]["code"], -31408);
    source.dropped("hold", 2).await;
    let call = gateway
        .client()
        .modern_call("fake__stream", json!({}))
        .progress(json!(1));
    let messages = call.send().await.messages().await;
    assert_eq!(messages.last().unwrap()["error"]["code"], -31408);
    source.dropped("stream", 1).await;
    // A change stream has no deadline.
    let mut listening = gateway
        .client()
        .listen("1", json!({ "toolsListChanged": true }))
        .await;
    listening.message().await;
    expect_error(
        gateway
            .client()
            .modern_call("fake__hold", json!({}))
            .send()
            .await,
        200,
        -31408,
    )
    .await;
    source.change(tidegate_core::Change::Tools);
    listening.message().await;
}
