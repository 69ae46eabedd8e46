//! Steps 5b and 7 to 9: handshakes, sessions, and who says nothing; and the other ways in.

use serde_json::json;
use tidegate_testkit::{LEGACY, MODERN, NEWEST_LEGACY};

use crate::support::{echoed, plain, refused, served, standard};

#[tokio::test]
async fn step_5b_a_handshake_is_a_handshake_whatever_the_header_says() {
    let (gateway, _) = standard().await;
    for version in [MODERN, "2025-06-18", "v999"] {
        let hello = gateway
            .client()
            .initialize_request("2025-06-18")
            .header("MCP-Protocol-Version", version);
        let answer = hello.send().await;
        assert!(answer.header("mcp-session-id").is_some());
        assert_eq!(
            answer.json().await["result"]["protocolVersion"],
            "2025-06-18"
        );
    }
}

#[tokio::test]
async fn step_7_a_handshake_gets_what_it_asks_for_or_the_newest_of_its_era() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        assert_eq!(
            session.initialize_response["result"]["protocolVersion"],
            revision
        );
    }
    for unknown in [MODERN, "2030-01-01", "1999-01-01", "latest"] {
        let answer = gateway
            .client()
            .initialize_request(unknown)
            .header("Mcp-Session-Id", "stale")
            .send()
            .await;
        assert!(
            answer
                .header("mcp-session-id")
                .is_some_and(|id| id != "stale")
        );
        assert_eq!(
            answer.json().await["result"]["protocolVersion"],
            NEWEST_LEGACY
        );
    }
}

#[tokio::test]
async fn step_8_a_session_must_be_known_and_its_version_one_that_is_spoken() {
    let (gateway, _) = standard().await;
    let ping = plain("ping", json!({}));
    let unknown = gateway
        .client()
        .post(&ping)
        .header("Mcp-Session-Id", "unknown");
    refused(unknown.send().await, 404, -32600).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let post = || session.post(&ping);
    refused(
        post().set("MCP-Protocol-Version", "v999").send().await,
        400,
        -32600,
    )
    .await;
    served(post().send().await).await;
    served(post().without("MCP-Protocol-Version").send().await).await;
}

#[tokio::test]
async fn step_9_who_says_nothing_is_served_alone_and_a_bare_version_is_not_enough() {
    let (gateway, _) = standard().await;
    let post = |method, params| gateway.client().post(&plain(method, params));
    served(post("tools/list", json!({})).send().await).await;
    served(post("ping", json!({})).send().await).await;
    let call = json!({ "name": "fake__echo", "arguments": { "a": 1 } });
    let result = served(post("tools/call", call).send().await).await;
    assert_eq!(echoed(&result), json!({ "a": 1 }));
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": "fake://note" })),
        ("logging/setLevel", json!({ "level": "info" })),
    ] {
        refused(post(method, params).send().await, 400, -32600).await;
    }
    for revision in LEGACY {
        let bare = post("tools/list", json!({})).header("MCP-Protocol-Version", revision);
        refused(bare.send().await, 400, -32600).await;
    }
}

#[tokio::test]
async fn a_refusal_names_the_request_that_it_refuses() {
    let (gateway, _) = standard().await;
    let ping = plain("ping", json!({}));
    let bare = gateway
        .client()
        .post(&ping)
        .header("MCP-Protocol-Version", NEWEST_LEGACY);
    assert_eq!(refused(bare.send().await, 400, -32600).await["id"], 1);
    let gone = gateway
        .client()
        .post(&ping)
        .header("Mcp-Session-Id", "gone");
    assert_eq!(refused(gone.send().await, 404, -32600).await["id"], 1);
}

#[tokio::test]
async fn without_a_session_there_is_only_post() {
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
            let answer = request.send().await;
            assert_eq!(answer.status, 405, "{method} {version:?}");
            let allowed = answer.header("allow").unwrap();
            assert!(allowed.contains("POST") && !allowed.contains(method));
        }
    }
    let unknown = gateway
        .client()
        .request("DELETE")
        .header("Mcp-Session-Id", "unknown");
    refused(unknown.send().await, 404, -32600).await;
}

#[tokio::test]
async fn a_source_has_an_endpoint_of_its_own_with_native_names() {
    let (gateway, _) = standard().await;
    let at = |path: &str| gateway.client().at(path);
    let list = served(at("/mcp/fake").modern("tools/list", json!({})).send().await).await;
    assert_eq!(list["tools"][0]["name"], "echo");
    let result = served(
        at("/mcp/fake")
            .modern_call("echo", json!({ "b": 2 }))
            .send()
            .await,
    )
    .await;
    assert_eq!(echoed(&result), json!({ "b": 2 }));
    let list = served(at("/mcp").modern("tools/list", json!({})).send().await).await;
    assert_eq!(list["tools"][0]["name"], "fake__echo");
    for path in [
        "/mcp/nothing",
        "/mcp/FAKE",
        "/mcp/",
        "/mcp/fake/x",
        "/mcp/%ff",
        "/mcp/fake%2f",
        "/mcp/../mcp",
        "/",
        "/sse",
        "/messages",
    ] {
        let answer = at(path).modern("tools/list", json!({})).send().await;
        refused(answer, 404, -32600).await;
    }
}

#[tokio::test]
async fn health_can_only_be_read() {
    let (gateway, _) = standard().await;
    for path in ["/healthz", "/readyz"] {
        for method in ["POST", "PUT", "DELETE"] {
            let answer = gateway.client().at(path).request(method).send().await;
            assert_eq!(answer.header("allow"), Some("GET"));
            refused(answer, 405, -32600).await;
        }
    }
}
