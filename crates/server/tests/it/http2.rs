//! The HTTP transport over HTTP/2, where the host is in `:authority`.

use serde_json::json;
use tidegate_testkit::FakeSource;
use tidegate_testkit::TestGateway;

use crate::support::{bare_request, standard};

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
