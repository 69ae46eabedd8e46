//! Host and origin checks: on every route, before anything else.

use serde_json::json;
use tidegate_testkit::{FakeSource, Request, TestGateway};

use crate::support::{bare_request, expect_error, expect_result};

/// Every route, and one that does not exist.
const ROUTES: [&str; 7] = [
    "/mcp",
    "/mcp/fake",
    "/healthz",
    "/readyz",
    "/sse",
    "/messages?sessionId=x",
    "/nothing",
];

async fn gateway(source: &FakeSource) -> TestGateway {
    TestGateway::with(source.clone())
        .http(|http| {
            http.legacy_sse = true;
            http.allowed_hosts = vec!["gate.example".to_owned()];
            http.allowed_origins = vec!["https://app.example".to_owned()];
        })
        .start()
        .await
}

/// T1: foreign web pages and DNS rebinding.
#[tokio::test]
async fn foreign_hosts_and_origins_reach_no_route() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let hostile: [&[(&str, &str)]; 12] = [
        &[("Host", "evil.example")],
        &[("Host", "evil.example:8080")],
        &[("Host", "192.168.1.7")],
        &[("Host", "localhost.evil.example")],
        &[("Host", "evil.example"), ("Origin", "http://evil.example")],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "http://localhost:3000")],
        &[("Origin", "http://app.example")],
        &[("Origin", "https://app.example.evil.example")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
    ];
    for route in ROUTES {
        for headers in hostile {
            for method in ["GET", "POST", "DELETE", "OPTIONS"] {
                let request = gateway.client().at(route).request(method);
                let request = with_headers(request, headers);
                let response = request.send().await;
                assert_eq!(response.header("access-control-allow-origin"), None);
                expect_error(response, 403, -31403).await;
            }
        }
    }
}

fn with_headers(request: Request, headers: &[(&str, &str)]) -> Request {
    headers
        .iter()
        .fold(request, |request, (name, value)| request.set(name, value))
}

#[tokio::test]
async fn rejects_an_invalid_host() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    for host in [
        "localhost/x",
        "localhost?x",
        "a@localhost",
        "localhost:80a",
        "local host",
        "",
    ] {
        let request = gateway
            .client()
            .at("/healthz")
            .request("GET")
            .set("Host", host);
        let status = request.send().await.status;
        assert_eq!(status, 400, "{host}");
    }
    let none = gateway
        .client()
        .at("/healthz")
        .request("GET")
        .without("Host");
    assert_eq!(none.send().await.status, 400);
}

#[tokio::test]
async fn allows_own_hosts_and_allowed_origins() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let own = format!("http://{}", gateway.address());
    let port = gateway.address().port();
    let (by_name, by_name_origin) = (
        format!("localhost:{port}"),
        format!("http://LocalHost:{port}"),
    );
    let friendly: [&[(&str, &str)]; 8] = [
        &[],
        &[("Origin", &own)],
        &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none")],
        &[("Host", &by_name), ("Origin", &by_name_origin)],
        &[("Host", "gate.example"), ("Origin", "https://gate.example")],
        &[
            ("Host", "gate.example"),
            ("Origin", "http://gate.example:80"),
        ],
        &[
            ("Origin", "https://app.example"),
            ("Sec-Fetch-Site", "cross-site"),
        ],
    ];
    for headers in friendly {
        let request = gateway.client().post(&bare_request("ping", json!({})));
        expect_result(with_headers(request, headers).send().await).await;
    }
}

#[tokio::test]
async fn an_allowed_origin_gets_cors_headers() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let page = "https://app.example";
    let asked = "authorization, content-type, mcp-method, mcp-name, mcp-param-region";
    let preflight = gateway
        .client()
        .request("OPTIONS")
        .header("Origin", page)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", asked)
        .send()
        .await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some(page));
    assert_eq!(preflight.header("access-control-allow-credentials"), None);
    let allowed = preflight.header("access-control-allow-headers").unwrap();
    assert!(
        asked.split(", ").all(|header| allowed.contains(header)),
        "{allowed}"
    );
    let hello = gateway
        .client()
        .initialize_request("2025-11-25")
        .header("Origin", page)
        .send()
        .await;
    assert_eq!(hello.header("access-control-allow-origin"), Some(page));
    assert!(
        hello
            .header("access-control-expose-headers")
            .unwrap()
            .contains("mcp-session-id")
    );
    assert_eq!(hello.header("vary"), Some("Origin"));
    let own = gateway
        .client()
        .initialize_request("2025-11-25")
        .send()
        .await;
    assert_eq!(own.header("access-control-allow-origin"), None);
}

/// T2: requests that a page can send without a CORS preflight.
#[tokio::test]
async fn rejects_simple_cross_origin_requests() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let call = bare_request(
        "tools/call",
        json!({ "name": "fake__echo", "arguments": {} }),
    );
    for content in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let post = gateway.client().post(&call).set("Content-Type", content);
        expect_error(post.clone().send().await, 415, -32600).await;
        let with_origin = post.header("Origin", "http://evil.example");
        expect_error(with_origin.send().await, 403, -31403).await;
    }
    assert_eq!(source.counts("echo").started, 0);
}
