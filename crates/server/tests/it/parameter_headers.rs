//! Headers that repeat arguments must match them.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, Request, ScriptedTool, TestGateway};

use crate::support::{echoed, expect_error, expect_result};

const DEFINITION: &str = r#"{"name":"place","description":"d","inputSchema":{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "count":{"type":"integer","x-mcp-header":"Count"},
    "dry":{"type":"boolean","x-mcp-header":"Dry-Run"},
    "inner":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}},
    "free":{"type":"string"}}}}"#;

async fn gateway() -> (TestGateway, FakeSource) {
    let source = FakeSource::empty().tool(ScriptedTool::new("place").with_definition(DEFINITION));
    let gateway = TestGateway::with(source.clone()).start().await;
    (gateway, source)
}

fn call(gateway: &TestGateway, arguments: Value, headers: &[(&str, &str)]) -> Request {
    let request = gateway
        .client()
        .modern_call("fake__place", arguments)
        .request();
    headers.iter().fold(request, |request, (name, value)| {
        request.header(&format!("Mcp-Param-{name}"), value)
    })
}

#[tokio::test]
async fn accepts_headers_that_match_the_arguments() {
    let (gateway, _) = gateway().await;
    let good: [(Value, &[(&str, &str)]); 9] = [
        (json!({}), &[]),
        (json!({ "free": "x" }), &[]),
        (json!({ "region": null }), &[]),
        (json!({ "region": "eu" }), &[("REGION", " eu ")]),
        (json!({ "region": "" }), &[("Region", "")]),
        (json!({ "region": "é" }), &[("Region", "=?base64?w6k=?=")]),
        (
            json!({ "count": 42, "dry": false }),
            &[("Count", "42"), ("Dry-Run", "false")],
        ),
        (json!({ "inner": { "zone": "z" } }), &[("Zone", "z")]),
        (
            json!({ "region": "eu" }),
            &[("Region", "eu"), ("Unheard-Of", "x")],
        ),
    ];
    for (arguments, headers) in good {
        let result = expect_result(call(&gateway, arguments.clone(), headers).send().await).await;
        assert_eq!(echoed(&result), arguments);
    }
}

#[tokio::test]
async fn rejects_headers_that_do_not_match_the_arguments() {
    let (gateway, source) = gateway().await;
    let bad: [(Value, &[(&str, &str)]); 11] = [
        (json!({ "region": "eu" }), &[]),
        (json!({ "region": "" }), &[]),
        (json!({ "region": "eu" }), &[("Region", "us")]),
        (json!({ "region": "eu" }), &[("Region", "EU")]),
        (
            json!({ "region": "eu" }),
            &[("Region", "eu"), ("region", "eu")],
        ),
        (json!({ "region": "eu" }), &[("Region", "=?base64?ZXU?=")]),
        (json!({ "region": "é" }), &[("Region", "=?base64?6Q==?=")]),
        (json!({ "count": 42 }), &[("Count", "43")]),
        (json!({ "count": 42 }), &[("Count", "forty-two")]),
        (json!({ "dry": true }), &[("Dry-Run", "TRUE")]),
        (json!({ "inner": { "zone": "z" } }), &[]),
    ];
    for (arguments, headers) in bad {
        let response = call(&gateway, arguments.clone(), headers).send().await;
        expect_error(response, 400, -32020).await;
    }
    assert_eq!(source.counts("place").started, 0);
}

#[tokio::test]
async fn the_check_applies_under_every_name_of_the_tool() {
    let (gateway, source) = gateway().await;
    for (path, name) in [
        ("/mcp/fake", "place"),
        ("/mcp", "place"),
        ("/mcp", "fake.place"),
    ] {
        let client = gateway.client().at(path);
        let call = client
            .modern_call(name, json!({ "region": "eu" }))
            .request();
        expect_error(call.clone().send().await, 400, -32020).await;
        expect_result(call.header("Mcp-Param-Region", "eu").send().await).await;
    }
    assert_eq!(source.counts("place").started, 3);
}

#[tokio::test]
async fn legacy_and_stdio_clients_need_no_headers() {
    let (gateway, source) = gateway().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let arguments = json!({ "region": "eu" });
    expect_result(session.call("fake__place", arguments.clone()).send().await).await;
    let wrong = session
        .call("fake__place", arguments.clone())
        .header("Mcp-Param-Region", "us");
    expect_result(wrong.send().await).await;
    let mut stdio = TestGateway::with(source).stdio().await;
    let id = stdio
        .modern(
            "tools/call",
            json!({ "name": "fake__place", "arguments": arguments }),
        )
        .await;
    assert!(stdio.response(&json!(id)).await["result"].is_object());
}
