//! Headers that repeat arguments: they say what the body says, or the call is not made.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, Request, ScriptedTool, TestGateway};

use crate::support::{echoed, refused, served};

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
async fn headers_that_say_what_the_arguments_say_are_fine() {
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
        let result = served(call(&gateway, arguments.clone(), headers).send().await).await;
        assert_eq!(echoed(&result), arguments);
    }
}

#[tokio::test]
async fn headers_that_say_something_else_are_refused_before_the_call() {
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
        let answer = call(&gateway, arguments.clone(), headers).send().await;
        refused(answer, 400, -32020).await;
    }
    assert_eq!(source.counts("place").started, 0);
}

/// At the endpoint of the source, where the tool has another name, the same holds.
#[tokio::test]
async fn the_check_follows_the_tool_whatever_it_is_called() {
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
        refused(call.clone().send().await, 400, -32020).await;
        served(call.header("Mcp-Param-Region", "eu").send().await).await;
    }
    assert_eq!(source.counts("place").started, 3);
}

#[tokio::test]
async fn clients_without_such_headers_are_not_asked_for_them() {
    let (gateway, source) = gateway().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let arguments = json!({ "region": "eu" });
    served(session.call("fake__place", arguments.clone()).send().await).await;
    let wrong = session
        .call("fake__place", arguments.clone())
        .header("Mcp-Param-Region", "us");
    served(wrong.send().await).await;
    let mut pipe = TestGateway::with(source).stdio().await;
    let id = pipe
        .modern(
            "tools/call",
            json!({ "name": "fake__place", "arguments": arguments }),
        )
        .await;
    assert!(pipe.response(&json!(id)).await["result"].is_object());
}
