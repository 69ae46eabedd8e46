//! Authentication by bearer keys, on every route.

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use crate::support::{bare_request, expect_error, expect_result, principal_of, standard};

async fn gateway_with_keys() -> TestGateway {
    TestGateway::with(FakeSource::standard())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .legacy_sse()
        .start()
        .await
}

#[tokio::test]
async fn a_key_identifies_its_principal_in_both_eras() {
    let gateway = gateway_with_keys().await;
    for (key, name) in [("key-of-ada", "ada"), ("key-of-bob", "bob")] {
        let client = gateway.client().with_key(key);
        let result = expect_result(client.modern_call("fake__echo", json!({})).send().await).await;
        assert_eq!(principal_of(&result), name);
        let alone = client.post(&bare_request("tools/call", json!({ "name": "fake__echo" })));
        assert_eq!(principal_of(&expect_result(alone.send().await).await), name);
    }
}

#[tokio::test]
async fn rejects_missing_and_wrong_keys_on_every_route() {
    let gateway = gateway_with_keys().await;
    let client = gateway.client();
    let requests = [
        client.post(&bare_request("ping", json!({}))),
        client.modern("server/discover", json!({})).request(),
        client.initialize_request(NEWEST_LEGACY),
        client.get().header("Mcp-Session-Id", "x"),
        client.request("DELETE").header("Mcp-Session-Id", "x"),
        client
            .at("/mcp/fake")
            .post(&bare_request("ping", json!({}))),
        client.at("/sse").get(),
        client
            .at("/messages?sessionId=x")
            .post(&bare_request("ping", json!({}))),
    ];
    for request in requests {
        for credential in [
            None,
            Some("Bearer "),
            Some("Bearer key-of-ad"),
            Some("Bearer KEY-OF-ADA"),
            Some("Basic key-of-ada"),
            Some("key-of-ada"),
            Some("Bearer ada"),
        ] {
            let request = match credential {
                Some(value) => request.clone().header("Authorization", value),
                None => request.clone(),
            };
            let response = request.send().await;
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
            let message = expect_error(response, 401, -31401).await;
            assert!(!message.to_string().contains("key-of"), "{message}");
        }
    }
}

#[tokio::test]
async fn the_scheme_is_case_insensitive() {
    let gateway = gateway_with_keys().await;
    for value in [
        "bearer key-of-ada",
        "BEARER key-of-ada",
        "Bearer  key-of-ada",
    ] {
        let request = gateway
            .client()
            .post(&bare_request("ping", json!({})))
            .header("Authorization", value);
        expect_result(request.send().await).await;
    }
}

#[tokio::test]
async fn every_request_of_a_session_needs_the_key() {
    let gateway = gateway_with_keys().await;
    let session = gateway
        .client()
        .with_key("key-of-ada")
        .initialize(NEWEST_LEGACY)
        .await;
    let without = session.with_client(&gateway.client());
    expect_error(without.request("ping", json!({})).send().await, 401, -31401).await;
    expect_error(without.get().send().await, 401, -31401).await;
    expect_error(without.delete().await, 401, -31401).await;
}

#[tokio::test]
async fn health_endpoints_need_no_key() {
    let gateway = gateway_with_keys().await;
    for path in ["/healthz", "/readyz"] {
        let mut response = gateway.client().at(path).request("GET").send().await;
        assert_eq!(response.status, 200);
        assert!(!response.text().await.is_empty());
    }
}

#[tokio::test]
async fn without_configured_keys_every_caller_is_local() {
    let (gateway, _) = standard().await;
    for client in [gateway.client(), gateway.client().with_key("whatever")] {
        let result = expect_result(client.modern_call("fake__echo", json!({})).send().await).await;
        assert_eq!(principal_of(&result), "local");
    }
}

#[tokio::test]
async fn stdio_needs_no_key() {
    let mut stdio = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .stdio()
        .await;
    let call = json!({ "name": "fake__echo", "arguments": {} });
    let id = stdio.modern("tools/call", call).await;
    let response = stdio.response(&json!(id)).await;
    assert_eq!(principal_of(&response["result"]), "local");
}
