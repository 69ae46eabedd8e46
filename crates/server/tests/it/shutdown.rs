//! Shutdown: calls in flight finish, streams end gracefully, and nothing new is accepted.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway, wait_until};
use tokio::net::TcpStream;

use crate::support::{
    bare_request, echoed, expect_echo, expect_error, expect_pong, expect_result, hold_two_calls,
    methods, standard, standard_with,
};

/// A gateway whose shutdown timeout never expires during a test.
fn without_shutdown_timeout(source: &FakeSource) -> tidegate_testkit::TestGatewayBuilder {
    TestGateway::with(source.clone())
        .limits(|limits| limits.shutdown_timeout = Duration::from_secs(3600))
}

async fn wait_until_closed(gateway: &TestGateway) {
    let address = gateway.address();
    wait_until("the listener to close", || async {
        TcpStream::connect(address).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn calls_in_flight_finish_and_new_connections_are_rejected() {
    let source = FakeSource::standard();
    let mut gateway = without_shutdown_timeout(&source).start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let waiting = gateway
        .client()
        .modern_call("fake__hold", json!({ "canary": 1 }))
        .request()
        .send_only()
        .await;
    let in_session = session
        .call("fake__hold", json!({ "canary": 2 }))
        .send_only()
        .await;
    let stream = gateway
        .client()
        .modern_call("fake__stream", json!({}))
        .progress(json!(1));
    let mut stream = stream.events().await;
    stream.message().await;
    source.started("hold", 2).await;
    let stopping = gateway.start_shutdown();
    wait_until_closed(&gateway).await;
    source.release("hold", 2);
    source.release("stream", 1);
    for (connection, canary) in [(waiting, 1), (in_session, 2)] {
        let result = expect_result(connection.response().await).await;
        assert_eq!(echoed(&result), json!({ "canary": canary }));
    }
    assert_eq!(
        methods(&stream.remaining().await),
        ["notifications/progress", "response"]
    );
    stopping.stopped().await;
    assert_eq!(source.counts("hold").dropped, 0);
}

#[tokio::test]
async fn a_listen_stream_ends_with_its_result() {
    let source = FakeSource::standard();
    let mut gateway = without_shutdown_timeout(&source).start().await;
    let mut numbered = gateway
        .client()
        .listen("7", json!({ "toolsListChanged": true }))
        .await;
    let mut named = gateway
        .client()
        .listen("\"7\"", json!({ "promptsListChanged": true }))
        .await;
    numbered.message().await;
    named.message().await;
    let stopping = gateway.start_shutdown();
    for (events, id) in [(&mut numbered, json!(7)), (&mut named, json!("7"))] {
        let messages = events.remaining().await;
        assert_eq!(
            methods(&messages),
            ["response"],
            "the result, then the end of the stream"
        );
        assert_eq!(messages[0]["id"], id);
        assert_eq!(messages[0]["result"]["resultType"], "complete");
        let tag = &messages[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*tag, id);
    }
    stopping.stopped().await;
}

#[tokio::test]
async fn the_standalone_stream_of_a_session_ends() {
    let source = FakeSource::standard();
    let mut gateway = without_shutdown_timeout(&source).start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    let mut stream = session.stream().await;
    let stopping = gateway.start_shutdown();
    assert!(stream.remaining().await.is_empty());
    stopping.stopped().await;
}

#[tokio::test]
async fn idle_connections_and_sessions_do_not_delay_the_shutdown() {
    let source = FakeSource::standard();
    let gateway = without_shutdown_timeout(&source).start().await;
    gateway.client().initialize(NEWEST_LEGACY).await;
    let mut response = gateway
        .client()
        .post(&bare_request("ping", json!({})))
        .send()
        .await;
    response.text().await;
    let idle = response.into_connection();
    let silent = gateway.client().connect().await;
    gateway.stop().await;
    idle.closed().await;
    silent.closed().await;
}

#[tokio::test]
async fn calls_are_cancelled_after_the_shutdown_timeout() {
    let (gateway, source) =
        standard_with(|limits| limits.shutdown_timeout = Duration::from_millis(50)).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let held = hold_two_calls(&gateway, &session, &source).await;
    gateway.stop().await;
    source.dropped("hold", 2).await;
    for connection in held {
        connection.closed().await;
    }
}

#[tokio::test]
async fn during_the_shutdown_delay_the_gateway_is_not_ready_but_still_serves() {
    let source = FakeSource::standard();
    let mut gateway = TestGateway::with(source)
        .limits(|limits| limits.shutdown_delay = Duration::from_secs(3600))
        .start()
        .await;
    let status = async |path| gateway.client().at(path).request("GET").send().await.status;
    assert_eq!(
        (status("/readyz").await, status("/healthz").await),
        (200, 200)
    );
    let _stopping = gateway.start_shutdown();
    let status = async |path| gateway.client().at(path).request("GET").send().await.status;
    wait_until("the gateway to be unready", || async {
        status("/readyz").await == 503
    })
    .await;
    assert_eq!(status("/healthz").await, 200);
    expect_echo(&gateway).await;
    gateway.client().initialize(NEWEST_LEGACY).await;
}

/// Its headers arrived before the shutdown, its body arrives after it.
#[tokio::test]
async fn a_partly_received_request_still_gets_a_response() {
    let source = FakeSource::standard();
    let mut gateway = without_shutdown_timeout(&source).start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let requests = [
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .request(),
        session.call("fake__echo", json!({})),
    ];
    let mut halves = Vec::new();
    for request in requests {
        let (bytes, head) = (request.bytes(), request.head_bytes().len());
        let mut connection = gateway.client().connect().await;
        connection.write(&bytes[..head + 1]).await;
        halves.push((connection, bytes[head + 1..].to_vec()));
    }
    // A round trip on a later connection, so that the gateway has received the halves.
    expect_pong(&gateway).await;
    let stopping = gateway.start_shutdown();
    wait_until_closed(&gateway).await;
    for (mut connection, rest) in halves {
        connection.write(&rest).await;
        let response = connection.response().await;
        assert!(matches!(response.status, 200 | 503));
        let message = response.message().await;
        assert!(
            message.get("id").is_some(),
            "every request gets a response: {message}"
        );
    }
    stopping.stopped().await;
}

#[tokio::test]
async fn a_legacy_sse_stream_ends_after_its_calls() {
    let source = FakeSource::standard();
    let mut gateway = without_shutdown_timeout(&source).legacy_sse().start().await;
    let mut events = gateway.client().at("/sse").get().send().await.events();
    let endpoint = events.next().await.unwrap().data;
    let hello = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } });
    let post = gateway.client().at(&endpoint);
    post.post(&bare_request("initialize", hello)).send().await;
    events.message().await;
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "fake__hold" } });
    post.post(&call).send().await;
    source.started("hold", 1).await;
    let stopping = gateway.start_shutdown();
    wait_until_closed(&gateway).await;
    source.release("hold", 1);
    let messages = events.remaining().await;
    assert_eq!(
        methods(&messages),
        ["response"],
        "the call in flight finishes, then the stream ends"
    );
    stopping.stopped().await;
}

#[tokio::test]
async fn a_silent_legacy_sse_stream_does_not_delay_the_shutdown() {
    let source = FakeSource::standard();
    let mut gateway = without_shutdown_timeout(&source).legacy_sse().start().await;
    let mut events = gateway.client().at("/sse").get().send().await.events();
    events.next().await.unwrap();
    let stopping = gateway.start_shutdown();
    assert!(events.remaining().await.is_empty());
    stopping.stopped().await;
}

#[tokio::test]
async fn after_the_shutdown_connections_are_refused() {
    let (gateway, _) = standard().await;
    let client = gateway.client();
    expect_error(client.at("/nothing").get().send().await, 404, -32600).await;
    let address = gateway.address();
    gateway.stop().await;
    assert!(TcpStream::connect(address).await.is_err());
}
