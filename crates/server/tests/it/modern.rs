//! Responses to modern clients: result types, server info, cache hints.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, LEGACY, MODERN, NEWEST_LEGACY, TestGateway};

use crate::support::{expect_result, standard};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// All requests of the revision, and whether their results are cacheable.
fn requests() -> Vec<(&'static str, Value, bool)> {
    let reference = json!({ "type": "ref/prompt", "name": "fake/hello" });
    vec![
        ("server/discover", json!({}), true),
        ("tools/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({ "uri": "fake://note" }), true),
        (
            "tools/call",
            json!({ "name": "fake__echo", "arguments": {} }),
            false,
        ),
        ("prompts/get", json!({ "name": "fake/hello" }), false),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "a", "value": "" } }),
            false,
        ),
    ]
}

#[tokio::test]
async fn every_result_has_its_type_and_the_server_info() {
    let (gateway, _) = standard().await;
    for (method, params, keepable) in requests() {
        let result = expect_result(gateway.client().modern(method, params).send().await).await;
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"][SERVER_INFO]["name"], "tidegate", "{method}");
        assert_eq!(result["ttlMs"].is_u64(), keepable, "{method}: {result}");
        assert_eq!(result["cacheScope"].is_string(), keepable, "{method}");
    }
}

#[tokio::test]
async fn legacy_results_have_no_modern_members() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        for (method, params, _) in requests().into_iter().skip(1) {
            let response = session.exchange(method, params).await;
            let result = response["result"].as_object().unwrap();
            for key in ["resultType", "ttlMs", "cacheScope"] {
                assert!(!result.contains_key(key), "{revision} {method}");
            }
        }
        assert_eq!(
            session.exchange("server/discover", json!({})).await["error"]["code"],
            -32601
        );
    }
}

#[tokio::test]
async fn discovery_has_versions_and_capabilities() {
    let (gateway, _) = standard().await;
    let result = expect_result(
        gateway
            .client()
            .modern("server/discover", json!({}))
            .send()
            .await,
    )
    .await;
    let versions = result["supportedVersions"].as_array().unwrap();
    assert_eq!(versions[0], MODERN);
    assert!(
        LEGACY
            .into_iter()
            .all(|revision| versions.contains(&json!(revision)))
    );
    for capability in ["tools", "prompts", "resources", "completions", "logging"] {
        assert!(
            result["capabilities"][capability].is_object(),
            "{capability}: {result}"
        );
    }
    assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
    assert!(result["instructions"].is_string());
    assert!(result.get("serverInfo").is_none());
}

#[tokio::test]
async fn a_handshake_has_server_info_and_capabilities() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let result = &session.initialize_response["result"];
        assert_eq!(result["serverInfo"]["name"], "tidegate");
        assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
        let has_completions = result["capabilities"].get("completions").is_some();
        assert_eq!(has_completions, revision != "2024-11-05");
        for modern in ["supportedVersions", "resultType", "ttlMs", "_meta"] {
            assert!(result.get(modern).is_none(), "{revision}: {modern}");
        }
    }
}

#[tokio::test]
async fn only_lists_of_public_sources_have_a_public_cache_scope() {
    let public = FakeSource::standard().public();
    let gateway = TestGateway::with(public)
        .fake_source("own", FakeSource::empty())
        .start()
        .await;
    for (path, scope) in [
        ("/mcp", "private"),
        ("/mcp/fake", "public"),
        ("/mcp/own", "private"),
    ] {
        let list = gateway.client().at(path).modern("tools/list", json!({}));
        assert_eq!(
            expect_result(list.send().await).await["cacheScope"],
            scope,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_request_does_not_affect_the_next_on_its_connection() {
    let (gateway, _) = standard().await;
    let full = gateway
        .client()
        .modern_call("fake__logs", json!({}))
        .log_level("debug");
    let mut response = full.send().await;
    response.text().await;
    let mut connection = response.into_connection();
    let bare = gateway
        .client()
        .post(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let bare = bare
        .header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", "tools/list");
    connection.write(&bare.bytes()).await;
    let mut response = connection.response().await;
    assert_eq!(response.status, 400);
    let message: Value = serde_json::from_str(&response.text().await).unwrap();
    assert_eq!(message["error"]["code"], -32602);
    let mut connection = response.into_connection();
    let quiet = gateway
        .client()
        .modern_call("fake__logs", json!({}))
        .request();
    connection.write(&quiet.bytes()).await;
    assert!(
        !connection.response().await.is_stream(),
        "the log level only applied to one request"
    );
}

#[tokio::test]
async fn client_info_is_optional() {
    let (gateway, _) = standard().await;
    let with = gateway
        .client()
        .modern("tools/list", json!({}))
        .meta(
            "io.modelcontextprotocol/clientInfo",
            json!({ "name": "x", "version": "1" }),
        )
        .meta(
            "traceparent",
            json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        );
    let without = gateway.client().modern("tools/list", json!({}));
    assert_eq!(
        expect_result(with.send().await).await,
        expect_result(without.send().await).await
    );
}

#[tokio::test]
async fn older_revisions_get_no_structured_content() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let response = session
            .call("fake__echo", json!({ "a": 1 }))
            .send()
            .await
            .message()
            .await;
        let has_structure = response["result"].get("structuredContent").is_some();
        assert_eq!(has_structure, revision >= "2025-06-18", "{revision}");
    }
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    assert!(session.exchange("ping", json!({})).await["result"].is_object());
}
