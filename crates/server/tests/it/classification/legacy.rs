//! Steps 5b and 7 to 9: handshakes, sessions, requests without metadata; and other HTTP methods.

use serde_json::json;
use tidegate_testkit::{LEGACY, MODERN, NEWEST_LEGACY};

use crate::support::{bare_request, echoed, expect_error, expect_result, standard};

#[tokio::test]
async fn step_5b_initialize_is_a_handshake_despite_its_version_header() {
    let (gateway, _) = standard().await;
    for version in [MODERN, "2025-06-18", "v999"] {
        let hello = gateway
            .client()
            .initialize_request("2025-06-18")
            .header("MCP-Protocol-Version", version);
        let response = hello.send().await;
        assert!(response.header("mcp-session-id").is_some());
        assert_eq!(
            response.json().await["result"]["protocolVersion"],
            "2025-06-18"
        );
    }
}

#[tokio::test]
async fn step_7_a_handshake_gets_its_revision_or_the_newest_legacy_one() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        assert_eq!(
            session.initialize_response["result"]["protocolVersion"],
            revision
        );
    }
    for unknown in [MODERN, "2030-01-01", "1999-01-01", "latest"] {
        let response = gateway
            .client()
            .initialize_request(unknown)
            .header("Mcp-Session-Id", "stale")
            .send()
            .await;
        assert!(
            response
                .header("mcp-session-id")
                .is_some_and(|id| id != "stale")
        );
        assert_eq!(
            response.json().await["result"]["protocolVersion"],
            NEWEST_LEGACY
        );
    }
}

#[tokio::test]
async fn step_8_the_session_must_exist_and_the_version_be_supported() {
    let (gateway, _) = standard().await;
    let ping = bare_request("ping", json!({}));
    let unknown = gateway
        .client()
        .post(&ping)
        .header("Mcp-Session-Id", "unknown");
    expect_error(unknown.send().await, 404, -32600).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let post = || session.post(&ping);
    expect_error(
        post().set("MCP-Protocol-Version", "v999").send().await,
        400,
        -32600,
    )
    .await;
    expect_result(post().send().await).await;
    expect_result(post().without("MCP-Protocol-Version").send().await).await;
}

#[tokio::test]
async fn step_9_requests_without_metadata_are_served_without_a_session() {
    let (gateway, _) = standard().await;
    let post = |method, params| gateway.client().post(&bare_request(method, params));
    expect_result(post("tools/list", json!({})).send().await).await;
    expect_result(post("ping", json!({})).send().await).await;
    let call = json!({ "name": "fake__echo", "arguments": { "a": 1 } });
    let result = expect_result(post("tools/call", call).send().await).await;
    assert_eq!(echoed(&result), json!({ "a": 1 }));
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": "fake://note" })),
        ("logging/setLevel", json!({ "level": "info" })),
    ] {
        expect_error(post(method, params).send().await, 400, -32600).await;
    }
    for revision in LEGACY {
        let bare = post("tools/list", json!({})).header("MCP-Protocol-Version", revision);
        expect_error(bare.send().await, 400, -32600).await;
    }
}

#[tokio::test]
async fn an_error_response_has_the_id_of_its_request() {
    let (gateway, _) = standard().await;
    let ping = bare_request("ping", json!({}));
    let bare = gateway
        .client()
        .post(&ping)
        .header("MCP-Protocol-Version", NEWEST_LEGACY);
    assert_eq!(expect_error(bare.send().await, 400, -32600).await["id"], 1);
    let gone = gateway
        .client()
        .post(&ping)
        .header("Mcp-Session-Id", "gone");
    assert_eq!(expect_error(gone.send().await, 404, -32600).await["id"], 1);
}

#[tokio::test]
async fn without_a_session_only_post_is_allowed() {
    let (gateway, _) = standard().await;
    for method in ["GET", "DELETE", "PUT", "PATCH", "HEAD"] {
        for version in [None, Some(MODERN)] {
            let request = gateway
                .client()
                .request(method)
                .header("Accept", "text/event-stream");
            let request = match version {
                Some(version) => request
                    .header("MCP-Protocol-Version", version)
                    .header("Mcp-Session-Id", "ignored"),
                None => request,
            };
            let response = request.send().await;
            assert_eq!(response.status, 405, "{method} {version:?}");
            let allowed = response.header("allow").unwrap();
            assert!(allowed.contains("POST") && !allowed.contains(method));
        }
    }
    let unknown = gateway
        .client()
        .request("DELETE")
        .header("Mcp-Session-Id", "unknown");
    expect_error(unknown.send().await, 404, -32600).await;
}

#[tokio::test]
async fn the_endpoint_of_a_source_uses_native_names() {
    let (gateway, _) = standard().await;
    let at = |path: &str| gateway.client().at(path);
    let list = expect_result(at("/mcp/fake").modern("tools/list", json!({})).send().await).await;
    assert_eq!(list["tools"][0]["name"], "echo");
    let result = expect_result(
        at("/mcp/fake")
            .modern_call("echo", json!({ "b": 2 }))
            .send()
            .await,
    )
    .await;
    assert_eq!(echoed(&result), json!({ "b": 2 }));
    let list = expect_result(at("/mcp").modern("tools/list", json!({})).send().await).await;
    assert_eq!(list["tools"][0]["name"], "fake__echo");
    for path in [
        "/mcp/nothing",
        "/mcp/FAKE",
        "/mcp//",
        "/mcp/fake/x",
        "/mcp/%ff",
        "/mcp/fake%2f",
        "/mcp/../mcp",
        "/",
        "/sse",
        "/messages",
    ] {
        let response = at(path).modern("tools/list", json!({})).send().await;
        expect_error(response, 404, -32600).await;
    }
}

#[tokio::test]
async fn health_endpoints_only_allow_get() {
    let (gateway, _) = standard().await;
    for path in ["/healthz", "/readyz"] {
        for method in ["POST", "PUT", "DELETE"] {
            let response = gateway.client().at(path).request(method).send().await;
            assert_eq!(response.header("allow"), Some("GET"));
            expect_error(response, 405, -32600).await;
        }
    }
}
