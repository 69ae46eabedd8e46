//! Pitfalls in responses: result types, cache hints, lossy copies.

use serde_json::json;
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{expect_error, expect_result, standard};

/// `resultType` is in every result for modern clients, and in none for legacy clients.
#[tokio::test]
async fn pitfall_04_result_type() {
    let careless = r#"{"content":[],"resultType":"complete","ttlMs":5,"cacheScope":"public"}"#;
    let source = FakeSource::standard().tool(ScriptedTool::new("careless").returns(careless));
    let gateway = TestGateway::with(source).start().await;
    for tool in ["fake__echo", "fake__careless", "fake__progress"] {
        let call = gateway
            .client()
            .modern_call(tool, json!({}))
            .progress(json!(1));
        let message = call.message().await;
        assert_eq!(message["result"]["resultType"], "complete", "{tool}");
        for revision in LEGACY {
            let session = gateway.client().initialize(revision).await;
            let response = session
                .call_with_progress(tool, json!(1))
                .send()
                .await
                .message()
                .await;
            for key in ["resultType", "ttlMs", "cacheScope"] {
                assert!(
                    response["result"].get(key).is_none(),
                    "{revision} {tool} {key}"
                );
            }
        }
    }
}

/// Cache hints are in the six results that need them, with one scope per list, and not in calls.
#[tokio::test]
async fn pitfall_05_cache_hints() {
    let gateway = TestGateway::with(FakeSource::standard().many_tools(20))
        .page_size(10)
        .start()
        .await;
    let client = gateway.client();
    let uri = json!({ "uri": "fake://note" });
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", uri),
    ] {
        let result = expect_result(client.modern(method, params).send().await).await;
        assert!(result["ttlMs"].is_u64(), "{method}");
        assert!(
            ["public", "private"].contains(&result["cacheScope"].as_str().unwrap()),
            "{method}"
        );
    }
    let first = expect_result(client.modern("tools/list", json!({})).send().await).await;
    let params = json!({ "cursor": first["nextCursor"] });
    let second = expect_result(client.modern("tools/list", params).send().await).await;
    assert_eq!(first["cacheScope"], second["cacheScope"]);
    for (method, params) in [
        ("tools/call", json!({ "name": "fake__echo" })),
        ("prompts/get", json!({ "name": "fake/hello" })),
    ] {
        let result = expect_result(client.modern(method, params).send().await).await;
        assert!(
            result.get("ttlMs").is_none() && result.get("cacheScope").is_none(),
            "{method}"
        );
    }
}

/// Unknown members, member order, numbers, nulls and schemas pass unchanged.
#[tokio::test]
async fn pitfall_15_lossy_models() {
    let definition = r#"{"name":"odd","description":"d","zeta":1.50,"inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"e":{"type":"string","enum":["a"],"enumNames":["A"]},"n":{"default":95.5}},"$defs":{"x":{"oneOf":[{"const":1}]}}},"alpha":null,"n":12345678901234567890}"#;
    let result = r#"{"content":[{"type":"unheard-of","x":1e2}],"structuredContent":null,"huge":12345678901234567890,"price":1.50,"b":{"z":1,"a":2},"isError":true}"#;
    let source = FakeSource::standard().tool(
        ScriptedTool::new("odd")
            .with_definition(definition)
            .returns(result),
    );
    let gateway = TestGateway::with(source).start().await;
    let client = gateway.client().at("/mcp/fake");
    let session = client.initialize(NEWEST_LEGACY).await;
    let listed = [
        client
            .modern("tools/list", json!({}))
            .send()
            .await
            .text()
            .await,
        session
            .request("tools/list", json!({}))
            .send()
            .await
            .text()
            .await,
    ];
    assert!(
        listed.iter().all(|text| text.contains(definition)),
        "{listed:?}"
    );
    let inner = result.trim_matches(['{', '}']);
    let called = [
        client
            .modern_call("odd", json!({}))
            .send()
            .await
            .text()
            .await,
        session.call("odd", json!({})).send().await.text().await,
    ];
    assert!(called[0].contains(inner), "{called:?}");
    // Older revisions only allow objects as structured content; the other members are unchanged.
    let wrapped = inner.replace(
        r#""structuredContent":null"#,
        r#""structuredContent":{"result":null}"#,
    );
    assert!(called[1].contains(&wrapped), "{called:?}");
    // Arguments reach the source unchanged.
    let arguments = r#"{"n":12345678901234567890,"f":1.50,"z":null,"a":"\u00e9"}"#;
    let body = client.modern_call("echo", json!("*")).request().bytes();
    let body = String::from_utf8(body).unwrap();
    let (_, body) = body.split_once("\r\n\r\n").unwrap();
    let body = body.replace(r#""*""#, arguments);
    let call = client
        .modern_call("echo", json!({}))
        .request()
        .body(body.as_bytes());
    let text = call.send().await.text().await;
    assert!(
        text.contains(&format!(r#""structuredContent":{arguments}"#)),
        "{text}"
    );
    // An empty cursor is not a missing one, and a missing resource is not an empty one.
    let empty = client.modern("tools/list", json!({ "cursor": "" }));
    expect_error(empty.send().await, 200, -32602).await;
    let missing = client.modern("resources/read", json!({ "uri": "fake://nothing" }));
    let message = expect_error(missing.send().await, 200, -32602).await;
    assert_eq!(message["error"]["data"]["uri"], "fake://nothing");
    let missing = session.request("resources/read", json!({ "uri": "fake://nothing" }));
    expect_error(missing.send().await, 200, -32002).await;
}

/// Modern clients get logs and progress only if requested, on the stream of their call. They are never
/// lost because the response is JSON.
#[tokio::test]
async fn pitfall_10_logs_and_progress() {
    let (gateway, _) = standard().await;
    let client = gateway.client();
    assert!(
        !client
            .modern_call("fake__logs", json!({}))
            .send()
            .await
            .is_stream()
    );
    let session = client.initialize(NEWEST_LEGACY).await;
    assert!(
        !session
            .call("fake__progress", json!({}))
            .send()
            .await
            .is_stream()
    );
    let asked = client
        .modern_call("fake__logs", json!({}))
        .log_level("error");
    assert_eq!(asked.send().await.messages().await.len(), 5);
    for token in [json!("1"), json!(1)] {
        let call = client
            .modern_call("fake__progress", json!({}))
            .progress(token.clone());
        let messages = call.send().await.messages().await;
        assert_eq!(messages.len(), 4, "progress is not lost");
        assert!(
            messages[..3]
                .iter()
                .all(|message| message["params"]["progressToken"] == token)
        );
        let messages = session
            .call_with_progress("fake__progress", token.clone())
            .send()
            .await;
        let messages = messages.messages().await;
        assert!(
            messages[..3]
                .iter()
                .all(|message| message["params"]["progressToken"] == token)
        );
    }
    let without = client.modern_call("fake__progress", json!({})).send().await;
    assert!(!without.is_stream(), "no token, no progress");
}
