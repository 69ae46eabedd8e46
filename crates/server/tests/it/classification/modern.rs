//! Step 6: the checks of a modern request, in their order.

use serde_json::{Value, json};
use tidegate_core::Code;
use tidegate_testkit::{Client, FakeSource, HttpResponse, MODERN, ScriptedTool, TestGateway};

use crate::support::{bare_request, expect_error, expect_result, standard};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A `tools/list` with these headers and this `_meta`.
async fn list_with(client: &Client, headers: &[(&str, &str)], meta: Value) -> HttpResponse {
    let request = client.post(&bare_request("tools/list", json!({ "_meta": meta })));
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    request.send().await
}

#[tokio::test]
async fn step_6a_rejects_missing_metadata_first() {
    let (gateway, _) = standard().await;
    let header = [("MCP-Protocol-Version", MODERN)];
    for meta in [
        json!({}),
        json!({ VERSION: MODERN }),
        json!({ CAPABILITIES: {} }),
        json!({ VERSION: 7, CAPABILITIES: {} }),
        json!({ VERSION: MODERN, CAPABILITIES: [] }),
        json!({ VERSION: MODERN, CAPABILITIES: null }),
    ] {
        expect_error(
            list_with(&gateway.client(), &header, meta).await,
            400,
            -32602,
        )
        .await;
    }
    let no_params = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let request = gateway
        .client()
        .post(&no_params)
        .header("MCP-Protocol-Version", MODERN);
    let message = expect_error(request.send().await, 400, -32602).await;
    assert_eq!(message["id"], 1);
    // Before the header is checked: an incomplete `_meta` without a header.
    expect_error(
        list_with(&gateway.client(), &[], json!({ VERSION: MODERN })).await,
        400,
        -32602,
    )
    .await;
    expect_error(
        list_with(&gateway.client(), &[], json!({ CAPABILITIES: {} })).await,
        400,
        -32602,
    )
    .await;
}

#[tokio::test]
async fn step_6b_then_the_version_header_must_match_the_body() {
    let (gateway, _) = standard().await;
    let meta = |version: &str| json!({ VERSION: version, CAPABILITIES: {} });
    let client = gateway.client();
    expect_error(list_with(&client, &[], meta(MODERN)).await, 400, -32020).await;
    let header = [("MCP-Protocol-Version", MODERN)];
    expect_error(list_with(&client, &header, meta("v999")).await, 400, -32020).await;
    let header = [("MCP-Protocol-Version", "2025-11-25")];
    expect_error(list_with(&client, &header, meta(MODERN)).await, 400, -32020).await;
    let twice = [
        ("MCP-Protocol-Version", MODERN),
        ("mcp-protocol-version", MODERN),
    ];
    expect_error(list_with(&client, &twice, meta(MODERN)).await, 400, -32020).await;
}

#[tokio::test]
async fn step_6c_then_the_version_must_be_supported() {
    let (gateway, _) = standard().await;
    for version in ["v999", "2027-01-01", "2025-11-25", "1.0"] {
        let header = [("MCP-Protocol-Version", version)];
        let meta = json!({ VERSION: version, CAPABILITIES: {} });
        // Without `Mcp-Method`, which is checked later.
        let message = expect_error(
            list_with(&gateway.client(), &header, meta).await,
            400,
            -32022,
        )
        .await;
        let data = &message["error"]["data"];
        assert_eq!(data["requested"], version);
        assert!(
            data["supported"]
                .as_array()
                .unwrap()
                .contains(&json!(MODERN))
        );
    }
}

#[tokio::test]
async fn step_6d_then_the_method_and_name_headers_must_match_the_body() {
    let (gateway, source) = standard().await;
    let call = || {
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .request()
    };
    for request in [
        call().without("Mcp-Method"),
        call().set("Mcp-Method", "tools/list"),
        call().set("Mcp-Method", "TOOLS/CALL"),
        call().header("Mcp-Method", "tools/call"),
        call().without("Mcp-Name"),
        call().set("Mcp-Name", "fake__other"),
        call().set("Mcp-Name", "FAKE__ECHO"),
        call().set("Mcp-Name", ""),
        call().header("Mcp-Name", "fake__echo"),
        call().set("Mcp-Name", "=?base64?ZmFrZV9fZWNobw?="),
        call().set("Mcp-Name", "=?base64?b3RoZXI=?="),
    ] {
        expect_error(request.send().await, 400, -32020).await;
    }
    assert_eq!(
        source.counts("echo").started,
        0,
        "rejected calls were not dispatched"
    );
    expect_result(
        call()
            .set("Mcp-Name", "=?base64?ZmFrZV9fZWNobw==?=")
            .send()
            .await,
    )
    .await;
    expect_result(call().set("mcp-name", "  fake__echo\t").send().await).await;
    let read = gateway
        .client()
        .modern("resources/read", json!({ "uri": "fake://note" }))
        .request();
    expect_error(
        read.clone().set("Mcp-Name", "fake://other").send().await,
        400,
        -32020,
    )
    .await;
    expect_result(read.send().await).await;
}

#[tokio::test]
async fn step_6e_then_the_method_must_exist_in_the_revision() {
    let (gateway, _) = standard().await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/result",
        "tasks/list",
        "no/such",
        "Tools/List",
        "notifications/cancelled",
    ] {
        let request = gateway
            .client()
            .modern(method, json!({ "uri": "fake://note", "level": "info" }));
        let message = expect_error(request.send().await, 404, -32601).await;
        assert_eq!(message["id"], 1);
        let wrong = request.request().set("Mcp-Method", "tools/list");
        expect_error(wrong.send().await, 400, -32020).await;
    }
}

#[tokio::test]
async fn step_6f_then_parameter_headers_must_match_the_arguments() {
    let tool = ScriptedTool::new("region").with_definition(
        r#"{"name":"region","description":"d","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}"#,
    );
    let gateway = TestGateway::with(FakeSource::empty().tool(tool))
        .start()
        .await;
    let call = || {
        gateway
            .client()
            .modern_call("fake__region", json!({ "region": "eu" }))
            .request()
    };
    expect_result(call().header("Mcp-Param-Region", "eu").send().await).await;
    expect_error(
        call().header("Mcp-Param-Region", "us").send().await,
        400,
        -32020,
    )
    .await;
    expect_error(call().send().await, 400, -32020).await;
}

#[tokio::test]
async fn step_6g_then_required_capabilities_must_be_declared() {
    let source =
        FakeSource::empty().tool(ScriptedTool::new("needy").fails(Code::MissingCapability));
    let gateway = TestGateway::with(source).start().await;
    let call = gateway.client().modern_call("fake__needy", json!({}));
    expect_error(call.send().await, 400, -32021).await;
}

#[tokio::test]
async fn step_6_a_modern_request_ignores_session_headers() {
    let (gateway, _) = standard().await;
    let request = gateway.client().modern("tools/list", json!({})).request();
    let response = request
        .header("Mcp-Session-Id", "never-minted")
        .header("Last-Event-ID", "1-1")
        .send()
        .await;
    assert_eq!(response.header("mcp-session-id"), None);
    expect_result(response).await;
}

#[tokio::test]
async fn step_6_errors_of_the_called_source_have_status_200() {
    let (gateway, _) = standard().await;
    let client = gateway.client();
    expect_error(
        client.modern_call("fake__nothing", json!({})).send().await,
        200,
        -32602,
    )
    .await;
    expect_error(
        client.modern("tools/call", json!({})).send().await,
        200,
        -32602,
    )
    .await;
    expect_error(
        client
            .modern("prompts/get", json!({ "name": "no" }))
            .send()
            .await,
        200,
        -32602,
    )
    .await;
    let missing = client
        .modern("resources/read", json!({ "uri": "fake://none" }))
        .send()
        .await;
    let message = expect_error(missing, 200, -32602).await;
    assert_eq!(message["error"]["data"]["uri"], "fake://none");
}

#[tokio::test]
async fn step_6_a_modern_notification_is_accepted_and_a_response_is_not() {
    let (gateway, _) = standard().await;
    let post = |body: Value| {
        gateway
            .client()
            .post(&body)
            .header("MCP-Protocol-Version", MODERN)
    };
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/whatever" });
    let mut response = post(noted).send().await;
    assert_eq!((response.status, response.text().await.as_str()), (202, ""));
    let response = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    expect_error(post(response).send().await, 400, -32600).await;
}
