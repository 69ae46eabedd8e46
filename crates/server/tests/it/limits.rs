//! Limits of sizes and counts, and requests that are ambiguous.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, HttpResponse, MODERN, NEWEST_LEGACY, TestGateway, wait_until};

use crate::support::{
    bare_request, expect_echo, expect_error, expect_result, hold_two_calls, standard,
    standard_with, wait_until_calls_are_accepted,
};

/// A ping with exactly this many bytes.
fn ping_of(bytes: usize) -> String {
    let start = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#;
    format!("{start}{}\"}}}}", "x".repeat(bytes - start.len() - 3))
}

#[tokio::test]
async fn rejects_a_body_over_the_limit() {
    let (gateway, _) = standard_with(|limits| limits.max_message_bytes = 1000).await;
    let post = |bytes: usize| gateway.client().post_text(&ping_of(bytes));
    assert_eq!(ping_of(1000).len(), 1000);
    expect_result(post(1000).send().await).await;
    expect_result(post(1000).chunked().send().await).await;
    expect_error(post(1001).send().await, 413, -32600).await;
    expect_error(post(1001).chunked().send().await, 413, -32600).await;
    expect_error(post(100_000).chunked().send().await, 413, -32600).await;
    // An announced length is rejected before the body arrives.
    let announced = gateway
        .client()
        .request("POST")
        .header("Content-Type", "application/json");
    let announced = announced.header("Content-Length", "1001");
    expect_error(announced.send().await, 413, -32600).await;
}

#[tokio::test]
async fn rejects_deeply_nested_json() {
    let (gateway, _) = standard().await;
    let nested = |depth: usize| {
        let inner = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{inner}}}}}"#)
    };
    expect_result(gateway.client().post_text(&nested(64)).send().await).await;
    expect_error(
        gateway.client().post_text(&nested(65)).send().await,
        400,
        -32600,
    )
    .await;
    let bomb = "[".repeat(2_000_000);
    expect_error(gateway.client().post_text(&bomb).send().await, 400, -32600).await;
}

#[tokio::test]
async fn rejects_headers_over_the_limit() {
    let (gateway, _) = standard_with(|limits| limits.max_header_bytes = 8192).await;
    let post = |bytes: usize| {
        let post = gateway.client().post(&bare_request("ping", json!({})));
        post.header("X-Padding", &"x".repeat(bytes))
    };
    expect_result(post(4000).send().await).await;
    assert_eq!(post(20_000).send().await.status, 431);
    let many = (0..200).fold(
        gateway.client().post(&bare_request("ping", json!({}))),
        |post, _| post.header("X", "y"),
    );
    assert_eq!(many.send().await.status, 431);
}

#[tokio::test]
async fn rejects_calls_over_the_limit_with_retry_after() {
    let (gateway, source) = standard_with(|limits| limits.max_concurrent_calls = 2).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let held = hold_two_calls(&gateway, &session, &source).await;
    let modern = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .send()
        .await;
    let legacy = session.call("fake__echo", json!({})).send().await;
    for response in [modern, legacy] {
        assert_eq!(response.header("retry-after"), Some("1"));
        let message = expect_error(response, 503, -31503).await;
        assert!(message["id"].is_number(), "{message}");
    }
    source.release("hold", 2);
    for connection in held {
        expect_result(connection.response().await).await;
    }
    wait_until_calls_are_accepted(&gateway).await;
}

#[tokio::test]
async fn rejects_calls_over_the_limit_of_a_session_with_retry_after() {
    let (gateway, source) =
        standard_with(|limits| limits.max_concurrent_calls_per_session = 1).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let other = gateway.client().initialize(NEWEST_LEGACY).await;
    let held = session.call("fake__hold", json!({})).send_only().await;
    source.started("hold", 1).await;
    let response = session.call("fake__echo", json!({})).send().await;
    assert_eq!(response.header("retry-after"), Some("1"));
    let message = expect_error(response, 503, -31503).await;
    assert!(message["id"].is_number(), "{message}");
    expect_result(other.call("fake__echo", json!({})).send().await).await;
    source.release("hold", 1);
    expect_result(held.response().await).await;
}

#[tokio::test]
async fn rejects_streams_over_the_limit_with_retry_after() {
    let (gateway, _) = standard_with(|limits| limits.max_streams = 1).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let filter = json!({ "toolsListChanged": true });
    let listening = gateway.client().listen("1", filter.clone()).await;
    let listen = gateway
        .client()
        .modern("subscriptions/listen", json!({ "notifications": filter }));
    for response in [listen.send().await, session.get().send().await] {
        assert_eq!(response.header("retry-after"), Some("1"));
        expect_error(response, 503, -31503).await;
    }
    // Calls have their own limit.
    expect_echo(&gateway).await;
    drop(listening);
    wait_until("a free permit", || async {
        session.get().send().await.status == 200
    })
    .await;
}

/// One principal cannot use all calls.
#[tokio::test]
async fn a_principal_leaves_calls_for_others() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.max_concurrent_calls = 2)
        .keys([("ada", "ada-key"), ("bob", "bob-key")])
        .start()
        .await;
    let [ada, bob] = ["ada-key", "bob-key"].map(|key| gateway.client().with_key(key));
    let hold = ada.modern_call("fake__hold", json!({}));
    let held = hold.request().send_only().await;
    source.started("hold", 1).await;
    let response = ada.modern_call("fake__echo", json!({})).send().await;
    let error = expect_error(response, 503, -31503).await;
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("1 of 2 for one principal"), "{message}");
    expect_result(bob.modern_call("fake__echo", json!({})).send().await).await;
    source.release("hold", 1);
    expect_result(held.response().await).await;
}

#[tokio::test]
async fn closes_connections_over_the_limit_of_an_address() {
    let (gateway, _) = standard_with(|limits| limits.max_connections_per_address = 1).await;
    let first = gateway.client().connect().await;
    gateway.client().connect().await.closed().await;
    drop(first);
    wait_until("a free place", || async {
        let ping = gateway.client().post(&bare_request("ping", json!({})));
        let response = ping.send_only().await.try_response().await;
        response.is_some_and(|response| response.status == 200)
    })
    .await;
}

/// Further connections wait until another one closes.
#[tokio::test]
async fn connections_over_the_limit_wait() {
    let (gateway, _) = standard_with(|limits| limits.max_connections = 2).await;
    let idle = [
        gateway.client().connect().await,
        gateway.client().connect().await,
    ];
    let waiting = gateway
        .client()
        .post(&bare_request("ping", json!({})))
        .send_only()
        .await;
    drop(idle);
    expect_result(waiting.response().await).await;
}

/// T26: two parsers must not see different messages.
#[tokio::test]
async fn rejects_duplicate_json_keys() {
    let (gateway, source) = standard().await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = |inner: &str| format!(r#""params":{{{inner}}}"#);
    let whole =
        |inner: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call",{inner}}}"#);
    let name = r#""name":"fake__echo""#;
    for body in [
        whole(&format!("{0},{0}", params(&format!("{name},{meta}")))),
        whole(&format!(
            r#"{},"method":"tools/call""#,
            params(&format!("{name},{meta}"))
        )),
        whole(&format!(
            r#"{},"m\u0065thod":"tools/call""#,
            params(&format!("{name},{meta}"))
        )),
        whole(&format!(r#"{},"id":2"#, params(&format!("{name},{meta}")))),
        whole(&format!(
            r#"{},"extra":1,"extra":2"#,
            params(&format!("{name},{meta}"))
        )),
        whole(&params(&format!("{name},{meta},{name}"))),
        whole(&params(&format!(
            r#"{name},{meta},"n\u0061me":"fake__hold""#
        ))),
        whole(&params(&format!("{name},{meta},{meta}"))),
        whole(&params(&format!(
            r#"{name},{meta},"arguments":{{}},"arguments":{{}}"#
        ))),
        whole(&params(&format!(r#"{name},{meta},"uri":"a","uri":"b""#))),
    ] {
        let request = gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .request();
        let response = request.body(body.as_bytes()).send().await;
        let message = response.json().await;
        let code = message["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32600 | -32602)), "{body}: {message}");
    }
    assert_eq!(source.counts("echo").started, 0, "no call was dispatched");
}

#[tokio::test]
async fn json_keys_and_methods_are_case_sensitive() {
    let (gateway, _) = standard().await;
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
        r#"{"jsonrpc":"2.0","ID":1,"method":"ping","Id":1,"iD":1,"result":1}"#,
        r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"PING"}"#,
    ] {
        let response = gateway.client().post_text(body).send().await;
        assert!(matches!(response.status, 200 | 202 | 400), "{body}");
        if response.status != 202 {
            let message = response.json().await;
            assert!(message["error"].is_object(), "{body}: {message}");
        }
    }
}

async fn assert_bad_request(response: HttpResponse) {
    assert_eq!(response.status, 400);
    let message = response.json().await;
    let code = message["error"]["code"].as_i64();
    assert!(matches!(code, Some(-32600 | -32020)), "{message}");
}

#[tokio::test]
async fn rejects_duplicate_headers() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .keys([("ada", "key")])
        .start()
        .await;
    let client = gateway.client().with_key("key");
    let session = client.initialize(NEWEST_LEGACY).await;
    let modern = || client.modern_call("fake__echo", json!({})).request();
    let legacy = || session.call("fake__echo", json!({}));
    for (name, value) in [
        ("MCP-Protocol-Version", MODERN),
        ("mcp-method", "tools/call"),
        ("MCP-NAME", "fake__echo"),
        ("Content-Type", "application/json"),
        ("Authorization", "Bearer key"),
    ] {
        assert_bad_request(modern().header(name, value).send().await).await;
    }
    for (name, value) in [
        ("MCP-Protocol-Version", NEWEST_LEGACY),
        ("Mcp-Session-Id", session.id()),
        ("Content-Type", "application/json"),
        ("Authorization", "Bearer key"),
        ("Host", "localhost"),
    ] {
        assert_bad_request(legacy().header(name, value).send().await).await;
    }
    assert_bad_request(
        modern()
            .header("Origin", "http://localhost")
            .header("Origin", "http://localhost")
            .send()
            .await,
    )
    .await;
    assert_eq!(source.counts("echo").started, 0, "no call was dispatched");
}

#[tokio::test]
async fn accepts_a_long_uri_in_a_header() {
    let uri = format!("fake://{}", "long/".repeat(1000));
    let source = FakeSource::empty().resource(&uri, "far away");
    let gateway = TestGateway::with(source).start().await;
    let read = gateway
        .client()
        .modern("resources/read", json!({ "uri": uri }));
    let result: Value = expect_result(read.send().await).await;
    assert_eq!(result["contents"][0]["text"], "far away");
}
