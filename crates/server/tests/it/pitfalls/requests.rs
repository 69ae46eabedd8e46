//! Pitfalls in requests: order of checks, eras, headers, sessions, origins.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, LEGACY, MODERN, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{bare_request, echoed, expect_error, expect_result, standard};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// -32602, -32020, -32022 and -32601 in this order, with 400, 400, 400 and 404; and 200 for errors of
/// the called source.
#[tokio::test]
async fn pitfall_01_validation_order() {
    let (gateway, _) = standard().await;
    let ask = async |header: &str, meta: Value, method: &str, named: &str| {
        let post = gateway
            .client()
            .post(&bare_request(method, json!({ "_meta": meta })));
        post.header("MCP-Protocol-Version", header)
            .header("Mcp-Method", named)
            .send()
            .await
    };
    let meta = |version: &str| json!({ VERSION: version, CAPABILITIES: {} });
    expect_error(
        ask(MODERN, json!({}), "no/such", "wrong").await,
        400,
        -32602,
    )
    .await;
    expect_error(
        ask(MODERN, meta("v999"), "no/such", "wrong").await,
        400,
        -32020,
    )
    .await;
    expect_error(
        ask("v999", meta("v999"), "no/such", "wrong").await,
        400,
        -32022,
    )
    .await;
    expect_error(
        ask(MODERN, meta(MODERN), "no/such", "wrong").await,
        400,
        -32020,
    )
    .await;
    expect_error(
        ask(MODERN, meta(MODERN), "no/such", "no/such").await,
        404,
        -32601,
    )
    .await;
    let unknown = gateway.client().modern_call("fake__nothing", json!({}));
    expect_error(unknown.send().await, 200, -32602).await;
}

/// `initialize` with modern metadata is not a handshake. Without it, it is one even if it requests the
/// newest revision or has its header.
#[tokio::test]
async fn pitfall_02_era_routing_of_initialize() {
    let (gateway, _) = standard().await;
    let dressed = gateway.client().modern("initialize", json!({}));
    let response = dressed.send().await;
    assert_eq!(response.header("mcp-session-id"), None);
    expect_error(response, 404, -32601).await;
    let dressed = gateway
        .client()
        .modern("initialize", json!({ "protocolVersion": NEWEST_LEGACY }));
    expect_error(dressed.send().await, 404, -32601).await;
    for hello in [
        gateway.client().initialize_request(MODERN),
        gateway
            .client()
            .initialize_request(MODERN)
            .header("MCP-Protocol-Version", MODERN),
    ] {
        let response = hello.send().await;
        assert!(response.header("mcp-session-id").is_some());
        assert_eq!(
            response.json().await["result"]["protocolVersion"],
            NEWEST_LEGACY
        );
    }
    // The following requests of the session are legacy.
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    assert!(
        session.exchange("tools/list", json!({})).await["result"]
            .get("resultType")
            .is_none()
    );
}

/// Whichever era a client tries first, the response leads it to the right one.
#[tokio::test]
async fn pitfall_03_answers_to_an_era_probe() {
    let (gateway, _) = standard().await;
    let probe = gateway.client().modern("server/discover", json!({}));
    let result = expect_result(probe.send().await).await;
    assert!(
        result["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    // A newer client learns from the modern error that the gateway is modern.
    let newer = json!({ VERSION: "2027-01-01", CAPABILITIES: {} });
    let newer = gateway
        .client()
        .post(&bare_request("server/discover", json!({ "_meta": newer })));
    let newer = newer
        .header("MCP-Protocol-Version", "2027-01-01")
        .header("Mcp-Method", "server/discover");
    let refusal = expect_error(newer.send().await, 400, -32022).await;
    assert!(
        refusal["error"]["data"]["supported"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    // A legacy client starts with a handshake.
    gateway.client().initialize(NEWEST_LEGACY).await;
    let mut stdio = TestGateway::with(FakeSource::standard()).stdio().await;
    let id = stdio.modern("server/discover", json!({})).await;
    let response = stdio.response(&json!(id)).await;
    assert!(
        response["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    let hello = stdio.initialize(NEWEST_LEGACY).await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST_LEGACY);
    let mut stdio = TestGateway::with(FakeSource::standard()).stdio().await;
    stdio
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }))
        .await;
    assert_eq!(
        stdio.message().await["error"]["code"],
        -32601,
        "a request always gets a response"
    );
    stdio.initialize("2024-11-05").await;
}

/// `requestState` is not trusted, not required, and does not leak into other calls.
#[tokio::test]
async fn pitfall_06_request_state() {
    let (gateway, _) = standard().await;
    let call = |state: Option<&str>| {
        let mut params = json!({ "name": "fake__echo", "arguments": { "a": 1 } });
        params["inputResponses"] = json!({ "k": { "action": "accept" } });
        if let Some(state) = state {
            params["requestState"] = json!(state);
        }
        gateway.client().modern("tools/call", params)
    };
    // Input responses on a first call without a state are allowed.
    let result = expect_result(call(None).send().await).await;
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        echoed(&result),
        json!({ "a": 1 }),
        "input responses are not arguments"
    );
    let plain = expect_result(
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await,
    )
    .await;
    assert_eq!(echoed(&plain), json!({}));
    // A forged state resumes nothing.
    let mut made_up = call(Some("gw1.made.up")).send().await;
    assert_eq!(made_up.status, 200);
    assert!(!made_up.text().await.contains("made.up"));
}

/// Headers that repeat the body: Base64, white space, case, duplicates, missing names.
#[tokio::test]
async fn pitfall_08_header_mirroring() {
    let source = FakeSource::empty()
        .tool(ScriptedTool::new("grüße"))
        .tool(ScriptedTool::new(" padded "))
        .tool(ScriptedTool::new("=?base64?Zm9v?="));
    let gateway = TestGateway::with(source).start().await;
    let client = gateway.client().at("/mcp/fake");
    let call = |name: &str| client.modern_call(name, json!({})).request();
    for (name, header) in [
        ("grüße", "=?base64?Z3LDvMOfZQ==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("=?base64?Zm9v?=", "=?base64?PT9iYXNlNjQ/Wm05dj89?="),
    ] {
        expect_result(call(name).set("Mcp-Name", header).send().await).await;
        for wrong in [
            name,
            "=?base64?Z3LDvMOfZQ?=",
            "=?BASE64?Z3LDvMOfZQ==?=",
            "=?base64?!!!?=",
        ] {
            let response = call(name).set("Mcp-Name", wrong).send().await;
            // Raw UTF-8 in the header is compared with the name.
            let is_itself = name == "grüße" && wrong == name;
            if !is_itself {
                expect_error(response, 400, -32020).await;
            }
        }
        let good = call(name).set("Mcp-Name", header);
        expect_error(good.header("Mcp-Name", header).send().await, 400, -32020).await;
    }
    let list = client.modern("tools/list", json!({})).request();
    expect_result(
        list.clone()
            .set("MCP-METHOD", " \ttools/list ")
            .send()
            .await,
    )
    .await;
    expect_error(
        list.set("Mcp-Method", "Tools/List").send().await,
        400,
        -32020,
    )
    .await;
    // A name that is missing in the body is an error of the body, not of the header.
    let nameless = client.modern("tools/call", json!({})).request();
    expect_error(nameless.send().await, 200, -32602).await;
    // Older revisions do not have these headers, so they are not checked.
    let session = client.initialize(NEWEST_LEGACY).await;
    let call = session
        .call("grüße", json!({}))
        .header("Mcp-Method", "x")
        .header("Mcp-Name", "y");
    expect_result(call.send().await).await;
}

/// 400, 404 and 202 where the protocol requires them; sessions are bound to their principal and allow
/// concurrent calls.
#[tokio::test]
async fn pitfall_12_session_handling() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .start()
        .await;
    let client = gateway.client().with_key("key-of-ada");
    for revision in LEGACY {
        let session = client.initialize(revision).await;
        let noted = session.notify("notifications/initialized", json!({})).await;
        assert_eq!(noted.status, 202);
        let none = client
            .post(&bare_request("ping", json!({})))
            .header("MCP-Protocol-Version", NEWEST_LEGACY);
        expect_error(none.send().await, 400, -32600).await;
        let thief = session.with_client(&gateway.client().with_key("key-of-bob"));
        expect_error(thief.request("ping", json!({})).send().await, 404, -32600).await;
        // A call that waits does not block others of the same session.
        let started = source.counts("hold").started;
        let waiting = session.call("fake__hold", json!({})).send_only().await;
        source.started("hold", started + 1).await;
        expect_result(session.call("fake__echo", json!({})).send().await).await;
        source.release("hold", 1);
        expect_result(waiting.response().await).await;
        assert_eq!(session.delete().await.status, 204);
        expect_error(session.request("ping", json!({})).send().await, 404, -32600).await;
    }
}

/// Default ports, `Origin: null`, 403; and a wrong key is rejected before the body is parsed.
#[tokio::test]
async fn pitfall_14_origin_and_auth() {
    let gateway = TestGateway::with(FakeSource::standard())
        .http(|http| http.allowed_hosts = vec!["gate.example".to_owned()])
        .keys([("ada", "key-of-ada")])
        .start()
        .await;
    let client = gateway.client().with_key("key-of-ada");
    let ping = || {
        client
            .post(&bare_request("ping", json!({})))
            .set("Host", "gate.example")
    };
    for origin in [
        "http://gate.example",
        "http://gate.example:80",
        "https://gate.example:443",
    ] {
        expect_result(ping().header("Origin", origin).send().await).await;
    }
    expect_result(
        ping()
            .set("Host", "gate.example:443")
            .header("Origin", "https://gate.example")
            .send()
            .await,
    )
    .await;
    for origin in [
        "null",
        "http://gate.example:8080",
        "http://gate.example.evil",
        "https://evil.example",
    ] {
        expect_error(ping().header("Origin", origin).send().await, 403, -31403).await;
    }
    for host in ["evil.example", "gate.example.evil", "10.0.0.1"] {
        expect_error(ping().set("Host", host).send().await, 403, -31403).await;
    }
    let nobody = gateway
        .client()
        .post_text("not json")
        .header("MCP-Protocol-Version", MODERN);
    let response = nobody.send().await;
    assert_eq!(response.header("www-authenticate"), Some("Bearer"));
    expect_error(response, 401, -31401).await;
}
