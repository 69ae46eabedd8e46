//! Bounds of size and number: what is one over is refused, and everything else goes on.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, HttpResponse, MODERN, NEWEST_LEGACY, TestGateway, wait_until};

use crate::support::{plain, refused, served, standard};

/// A ping of exactly that many bytes.
fn ping_of(bytes: usize) -> String {
    let start = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#;
    format!("{start}{}\"}}}}", "x".repeat(bytes - start.len() - 3))
}

#[tokio::test]
async fn a_body_one_byte_over_is_refused_however_it_is_sent() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.max_message_bytes = 1000)
        .start()
        .await;
    let post = |bytes: usize| gateway.client().post_text(&ping_of(bytes));
    assert_eq!(ping_of(1000).len(), 1000);
    served(post(1000).send().await).await;
    served(post(1000).chunked().send().await).await;
    refused(post(1001).send().await, 413, -32600).await;
    refused(post(1001).chunked().send().await, 413, -32600).await;
    refused(post(100_000).chunked().send().await, 413, -32600).await;
    // An announced length is refused before a byte of the body has come.
    let announced = gateway
        .client()
        .request("POST")
        .header("Content-Type", "application/json");
    let announced = announced.header("Content-Length", "1001");
    refused(announced.send().await, 413, -32600).await;
}

#[tokio::test]
async fn a_body_that_nests_too_deep_is_refused() {
    let (gateway, _) = standard().await;
    let nested = |depth: usize| {
        let inner = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{inner}}}}}"#)
    };
    served(gateway.client().post_text(&nested(64)).send().await).await;
    refused(
        gateway.client().post_text(&nested(65)).send().await,
        400,
        -32600,
    )
    .await;
    let bomb = "[".repeat(2_000_000);
    refused(gateway.client().post_text(&bomb).send().await, 400, -32600).await;
}

#[tokio::test]
async fn headers_that_are_too_large_are_refused() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.max_header_bytes = 8192)
        .start()
        .await;
    let post = |bytes: usize| {
        let post = gateway.client().post(&plain("ping", json!({})));
        post.header("X-Padding", &"x".repeat(bytes))
    };
    served(post(4000).send().await).await;
    assert_eq!(post(20_000).send().await.status, 431);
    let many = (0..200).fold(
        gateway.client().post(&plain("ping", json!({}))),
        |post, _| post.header("X", "y"),
    );
    assert_eq!(many.send().await.status, 431);
}

#[tokio::test]
async fn too_many_calls_are_told_to_come_back() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.max_concurrent_calls = 2)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let held = [
        gateway
            .client()
            .modern_call("fake__hold", json!({}))
            .request()
            .send_only()
            .await,
        session.call("fake__hold", json!({})).send_only().await,
    ];
    source.started("hold", 2).await;
    let modern = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .send()
        .await;
    let legacy = session.call("fake__echo", json!({})).send().await;
    for answer in [modern, legacy] {
        assert_eq!(answer.header("retry-after"), Some("1"));
        let message = refused(answer, 503, -31503).await;
        assert!(message["id"].is_number(), "{message}");
    }
    source.release("hold", 2);
    for connection in held {
        served(connection.response().await).await;
    }
    wait_until("room", || async {
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await
            .status
            == 200
    })
    .await;
}

#[tokio::test]
async fn too_many_calls_in_one_session_are_told_to_come_back() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.max_concurrent_calls_per_session = 1)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let other = gateway.client().initialize(NEWEST_LEGACY).await;
    let held = session.call("fake__hold", json!({})).send_only().await;
    source.started("hold", 1).await;
    let answer = session.call("fake__echo", json!({})).send().await;
    assert_eq!(answer.header("retry-after"), Some("1"));
    let message = refused(answer, 503, -31503).await;
    assert!(message["id"].is_number(), "{message}");
    served(other.call("fake__echo", json!({})).send().await).await;
    source.release("hold", 1);
    served(held.response().await).await;
}

#[tokio::test]
async fn too_many_streams_are_told_to_come_back() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.max_streams = 1)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let wanted = json!({ "toolsListChanged": true });
    let listening = gateway.client().listen("1", wanted.clone()).await;
    let listen = gateway
        .client()
        .modern("subscriptions/listen", json!({ "notifications": wanted }));
    for answer in [listen.send().await, session.get().send().await] {
        assert_eq!(answer.header("retry-after"), Some("1"));
        refused(answer, 503, -31503).await;
    }
    // Calls have room of their own.
    served(
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await,
    )
    .await;
    drop(listening);
    wait_until("room", || async {
        session.get().send().await.status == 200
    })
    .await;
}

/// The next connections wait, and are served when there is room.
#[tokio::test]
async fn too_many_connections_wait_their_turn() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.max_connections = 2)
        .start()
        .await;
    let idle = [
        gateway.client().connect().await,
        gateway.client().connect().await,
    ];
    let waiting = gateway
        .client()
        .post(&plain("ping", json!({})))
        .send_only()
        .await;
    drop(idle);
    served(waiting.response().await).await;
}

/// T26: two readers must not be able to read two things.
#[tokio::test]
async fn a_key_that_stands_twice_is_refused() {
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
        let answer = request.body(body.as_bytes()).send().await;
        let message = answer.json().await;
        let code = message["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32600 | -32602)), "{body}: {message}");
    }
    assert_eq!(source.counts("echo").started, 0, "nothing was dispatched");
}

#[tokio::test]
async fn keys_are_exact() {
    let (gateway, _) = standard().await;
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
        r#"{"jsonrpc":"2.0","ID":1,"method":"ping","Id":1,"iD":1,"result":1}"#,
        r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"PING"}"#,
    ] {
        let answer = gateway.client().post_text(body).send().await;
        assert!(matches!(answer.status, 200 | 202 | 400), "{body}");
        if answer.status != 202 {
            let message = answer.json().await;
            assert!(message["error"].is_object(), "{body}: {message}");
        }
    }
}

async fn bad(answer: HttpResponse) {
    assert_eq!(answer.status, 400);
    let message = answer.json().await;
    let code = message["error"]["code"].as_i64();
    assert!(matches!(code, Some(-32600 | -32020)), "{message}");
}

#[tokio::test]
async fn a_header_that_stands_twice_is_refused() {
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
        bad(modern().header(name, value).send().await).await;
    }
    for (name, value) in [
        ("MCP-Protocol-Version", NEWEST_LEGACY),
        ("Mcp-Session-Id", session.id()),
        ("Content-Type", "application/json"),
        ("Authorization", "Bearer key"),
        ("Host", "localhost"),
    ] {
        bad(legacy().header(name, value).send().await).await;
    }
    bad(modern()
        .header("Origin", "http://localhost")
        .header("Origin", "http://localhost")
        .send()
        .await)
    .await;
    assert_eq!(source.counts("echo").started, 0, "nothing was dispatched");
}

#[tokio::test]
async fn a_long_uri_in_a_header_is_fine() {
    let uri = format!("fake://{}", "long/".repeat(1000));
    let source = FakeSource::empty().resource(&uri, "far away");
    let gateway = TestGateway::with(source).start().await;
    let read = gateway
        .client()
        .modern("resources/read", json!({ "uri": uri }));
    let result: Value = served(read.send().await).await;
    assert_eq!(result["contents"][0]["text"], "far away");
}
