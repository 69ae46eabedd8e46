//! Clients that are slow on purpose: each is ended, and nobody else notices.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use crate::support::{plain, refused, served, standard};

const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.body_timeout = SHORT)
        .start()
        .await;
    let post = gateway.client().post(&plain("ping", json!({})));
    for part in [0, 1, 10] {
        let mut connection = gateway.client().connect().await;
        connection.write(&post.head_bytes()).await;
        let bytes = post.bytes();
        let body = &bytes[post.head_bytes().len()..];
        connection.write(&body[..part]).await;
        refused(connection.response().await, 408, -32600).await;
    }
    served(post.send().await).await;
}

/// R19: who announces much and sends nothing takes nothing from others.
#[tokio::test]
async fn bodies_that_do_not_come_take_no_room_from_others() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| {
            limits.max_message_bytes = 4096;
            limits.max_buffered_bytes = 2 * 4096;
            limits.body_timeout = Duration::from_secs(3600);
        })
        .start()
        .await;
    let ping = gateway.client().post(&plain("ping", json!({})));
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
        served(ping.send().await).await;
    }
}

/// A message that has come takes the room it needs, not the most it could have needed.
#[tokio::test]
async fn small_messages_of_unknown_size_do_not_fill_the_room_while_they_are_served() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| {
            limits.max_message_bytes = 4096;
            limits.max_buffered_bytes = 2 * 4096;
            limits.body_timeout = Duration::from_secs(3600);
            limits.keep_alive_interval = Duration::from_secs(3600);
        })
        .start()
        .await;
    let call = gateway.client().modern_call("fake__hold", json!({}));
    let mut held = Vec::new();
    for calls in 1..=3 {
        held.push(call.request().chunked().send_only().await);
        source.started("hold", calls).await;
    }
    source.release("hold", 3);
    for connection in held {
        served(connection.response().await).await;
    }
}

#[tokio::test]
async fn a_body_that_ends_early_reaches_nobody() {
    let (gateway, source) = standard().await;
    let call = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .request();
    let bytes = call.bytes();
    let mut connection = gateway.client().connect().await;
    connection.write(&bytes[..bytes.len() - 1]).await;
    drop(connection);
    served(
        gateway
            .client()
            .post(&plain("ping", json!({})))
            .send()
            .await,
    )
    .await;
    assert_eq!(source.counts("echo").started, 0);
}

#[tokio::test]
async fn headers_that_do_not_come_are_not_waited_for() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.header_timeout = SHORT)
        .start()
        .await;
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
    served(
        gateway
            .client()
            .post(&plain("ping", json!({})))
            .send()
            .await,
    )
    .await;
}

/// A connection that was used once and then says nothing more.
#[tokio::test]
async fn an_idle_connection_is_closed() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.header_timeout = SHORT)
        .start()
        .await;
    let mut answer = gateway
        .client()
        .post(&plain("ping", json!({})))
        .send()
        .await;
    answer.text().await;
    answer.into_connection().closed().await;
}

#[tokio::test]
async fn a_connection_that_waits_for_its_answer_is_not_idle() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| {
            limits.header_timeout = SHORT;
            limits.body_timeout = SHORT;
            limits.write_timeout = SHORT;
            limits.keep_alive_interval = SHORT;
        })
        .start()
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

/// R13: who stops reading is cut off, and what it asked for ends.
#[tokio::test]
async fn a_reader_that_stalls_is_cut_off() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.write_timeout = SHORT)
        .start()
        .await;
    let flood = gateway
        .client()
        .modern_call("fake__flood", json!({}))
        .progress(json!(1));
    let stalled = flood.request().send_only().await;
    source.started("flood", 1).await;
    served(
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await,
    )
    .await;
    source.dropped("flood", 1).await;
    drop(stalled);
}

/// In a session the call belongs to the session: it goes on, within the bounds of its stream.
#[tokio::test]
async fn a_stalled_reader_of_a_session_costs_no_one_else() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.write_timeout = SHORT)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let stalled = session
        .call_with_progress("fake__flood", json!(1))
        .send_only()
        .await;
    source.started("flood", 1).await;
    for _ in 0..20 {
        served(session.call("fake__echo", json!({})).send().await).await;
    }
    assert_eq!(session.delete().await.status, 204);
    source.dropped("flood", 1).await;
    drop(stalled);
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_ended() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .call_timeout(SHORT)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    refused(
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
    // A stream of changes has no deadline.
    let mut listening = gateway
        .client()
        .listen("1", json!({ "toolsListChanged": true }))
        .await;
    listening.message().await;
    refused(
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
