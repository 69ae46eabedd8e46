//! The HTTP transport over HTTP/2, where the host is in `:authority`.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::{Client, FakeSource, TestGateway, wait_until};

use crate::support::{bare_request, expect_error, expect_result, standard, standard_with};

const LARGE: usize = 600_000;
const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(3600);

fn large_echo(client: &Client) -> tidegate_testkit::Request {
    let text = "x".repeat(LARGE);
    client
        .modern_call("fake__echo", json!({ "text": text }))
        .request()
}

/// A client can block a response by flow control, and still answer pings.
#[tokio::test]
async fn ends_a_response_that_its_client_does_not_read() {
    let (gateway, _) = standard_with(|limits| {
        limits.max_unread_bytes = 2 * LARGE;
        limits.write_timeout = SHORT;
        limits.header_timeout = LONG;
    })
    .await;
    let unread = large_echo(&gateway.client()).send_http2_unread().await;
    wait_until("the memory of the response to be free", || async {
        large_echo(&gateway.client()).send().await.status == 200
    })
    .await;
    drop(unread);
}

#[tokio::test]
async fn responses_over_the_limit_of_unread_bytes_become_errors() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| {
            limits.max_unread_bytes = 5 * LARGE;
            limits.write_timeout = LONG;
        })
        .keys([("ada", "ada-key"), ("bob", "bob-key")])
        .start()
        .await;
    let [ada, bob] = ["ada-key", "bob-key"].map(|key| gateway.client().with_key(key));
    let unread = large_echo(&ada).send_http2_unread().await;
    let response = large_echo(&ada).send().await;
    let error = expect_error(response, 503, -31503).await;
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("bytes of unread responses"), "{message}");
    expect_result(large_echo(&bob).send().await).await;
    drop(unread);
    wait_until("ada's share to be free", || async {
        large_echo(&ada).send().await.status == 200
    })
    .await;
}

#[tokio::test]
async fn closes_idle_connections() {
    let (gateway, _) = standard_with(|limits| {
        limits.write_timeout = SHORT;
        limits.header_timeout = SHORT;
    })
    .await;
    let ping = gateway.client().post(&bare_request("ping", json!({})));
    ping.send_http2_unread().await.closed_by_server().await;
}

#[tokio::test]
async fn serves_a_call_over_http2() {
    let (gateway, _) = standard().await;
    let own = gateway.address().to_string();
    let call = gateway
        .client()
        .modern_call("fake__echo", json!({ "a": 1 }))
        .request();
    let (status, body) = call.send_http2(&own).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains(r#""structuredContent":{"a":1}"#), "{body}");
}

/// T1 and pitfall 14.
#[tokio::test]
async fn checks_the_authority_like_a_host() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source)
        .http(|http| http.allowed_hosts = vec!["gate.example".to_owned()])
        .start()
        .await;
    let ping = || gateway.client().post(&bare_request("ping", json!({})));
    let own = gateway.address().to_string();
    for (authority, origin, expected) in [
        (own.as_str(), None, 200),
        ("localhost", Some("http://localhost:80"), 200),
        ("gate.example", Some("https://gate.example"), 200),
        ("evil.example", None, 403),
        ("evil.example:80", None, 403),
        ("192.168.1.7", None, 403),
        ("localhost", Some("http://evil.example"), 403),
        ("localhost", Some("null"), 403),
    ] {
        let request = match origin {
            Some(origin) => ping().header("Origin", origin),
            None => ping(),
        };
        let (status, body) = request.send_http2(authority).await;
        assert_eq!(status, expected, "{authority} {origin:?}: {body}");
    }
    let (status, body) = ping()
        .header("Host", "evil.example")
        .send_http2("localhost")
        .await;
    assert!(status >= 400, "two hosts: {status} {body}");
}
