//! Mistakes in taking requests: order, eras, headers, sessions, origins.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, LEGACY, MODERN, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{echoed, plain, refused, served, standard};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// -32602, -32020, -32022 and -32601 in that order, with 400, 400, 400 and 404; and 200 for what the
/// called one refuses.
#[tokio::test]
async fn mistake_01_validation_order() {
    let (gateway, _) = standard().await;
    let ask = async |header: &str, meta: Value, method: &str, named: &str| {
        let post = gateway
            .client()
            .post(&plain(method, json!({ "_meta": meta })));
        post.header("MCP-Protocol-Version", header)
            .header("Mcp-Method", named)
            .send()
            .await
    };
    let meta = |version: &str| json!({ VERSION: version, CAPABILITIES: {} });
    refused(
        ask(MODERN, json!({}), "no/such", "wrong").await,
        400,
        -32602,
    )
    .await;
    refused(
        ask(MODERN, meta("v999"), "no/such", "wrong").await,
        400,
        -32020,
    )
    .await;
    refused(
        ask("v999", meta("v999"), "no/such", "wrong").await,
        400,
        -32022,
    )
    .await;
    refused(
        ask(MODERN, meta(MODERN), "no/such", "wrong").await,
        400,
        -32020,
    )
    .await;
    refused(
        ask(MODERN, meta(MODERN), "no/such", "no/such").await,
        404,
        -32601,
    )
    .await;
    let unknown = gateway.client().modern_call("fake__nothing", json!({}));
    refused(unknown.send().await, 200, -32602).await;
}

/// A handshake in modern dress is not one; a legacy handshake is one even if it asks for the newest
/// revision or comes under its header.
#[tokio::test]
async fn mistake_02_era_routing_of_initialize() {
    let (gateway, _) = standard().await;
    let dressed = gateway.client().modern("initialize", json!({}));
    let answer = dressed.send().await;
    assert_eq!(answer.header("mcp-session-id"), None);
    refused(answer, 404, -32601).await;
    let dressed = gateway
        .client()
        .modern("initialize", json!({ "protocolVersion": NEWEST_LEGACY }));
    refused(dressed.send().await, 404, -32601).await;
    for hello in [
        gateway.client().initialize_request(MODERN),
        gateway
            .client()
            .initialize_request(MODERN)
            .header("MCP-Protocol-Version", MODERN),
    ] {
        let answer = hello.send().await;
        assert!(answer.header("mcp-session-id").is_some());
        assert_eq!(
            answer.json().await["result"]["protocolVersion"],
            NEWEST_LEGACY
        );
    }
    // And what follows in that session is legacy.
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    assert!(
        session.exchange("tools/list", json!({})).await["result"]
            .get("resultType")
            .is_none()
    );
}

/// Whichever era a client probes for first, our answer makes a correct client choose right.
#[tokio::test]
async fn mistake_03_answers_to_an_era_probe() {
    let (gateway, _) = standard().await;
    let probe = gateway.client().modern("server/discover", json!({}));
    let result = served(probe.send().await).await;
    assert!(
        result["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    // A newer client learns from a modern error that it may stay modern.
    let newer = json!({ VERSION: "2027-01-01", CAPABILITIES: {} });
    let newer = gateway
        .client()
        .post(&plain("server/discover", json!({ "_meta": newer })));
    let newer = newer
        .header("MCP-Protocol-Version", "2027-01-01")
        .header("Mcp-Method", "server/discover");
    let refusal = refused(newer.send().await, 400, -32022).await;
    assert!(
        refusal["error"]["data"]["supported"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    // A legacy client's first request is a handshake, and that works too.
    gateway.client().initialize(NEWEST_LEGACY).await;
    let mut pipe = TestGateway::with(FakeSource::standard()).stdio().await;
    let id = pipe.modern("server/discover", json!({})).await;
    let answer = pipe.response(&json!(id)).await;
    assert!(
        answer["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    let hello = pipe.initialize(NEWEST_LEGACY).await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST_LEGACY);
    let mut pipe = TestGateway::with(FakeSource::standard()).stdio().await;
    pipe.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }))
        .await;
    assert_eq!(
        pipe.message().await["error"]["code"],
        -32601,
        "an answer, never silence"
    );
    pipe.initialize("2024-11-05").await;
}

/// `requestState` is not trusted, not required, and does not leak into other calls.
#[tokio::test]
async fn mistake_06_request_state() {
    let (gateway, _) = standard().await;
    let call = |state: Option<&str>| {
        let mut params = json!({ "name": "fake__echo", "arguments": { "a": 1 } });
        params["inputResponses"] = json!({ "k": { "action": "accept" } });
        if let Some(state) = state {
            params["requestState"] = json!(state);
        }
        gateway.client().modern("tools/call", params)
    };
    // Answers on a first call, without any state, are processed as usual.
    let result = served(call(None).send().await).await;
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        echoed(&result),
        json!({ "a": 1 }),
        "the answers are not arguments"
    );
    let plain = served(
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await,
    )
    .await;
    assert_eq!(echoed(&plain), json!({}));
    // A state that we never gave out opens nothing: this source has none to open.
    let mut made_up = call(Some("gw1.made.up")).send().await;
    assert_eq!(made_up.status, 200);
    assert!(!made_up.text().await.contains("made.up"));
}

/// Base64, white space, case, duplicates, absent names.
#[tokio::test]
async fn mistake_08_header_mirroring() {
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
        served(call(name).set("Mcp-Name", header).send().await).await;
        for wrong in [
            name,
            "=?base64?Z3LDvMOfZQ?=",
            "=?BASE64?Z3LDvMOfZQ==?=",
            "=?base64?!!!?=",
        ] {
            let answer = call(name).set("Mcp-Name", wrong).send().await;
            // The raw letters are the name itself where they are plain text, and it is compared.
            let is_itself = name == "grüße" && wrong == name;
            if !is_itself {
                refused(answer, 400, -32020).await;
            }
        }
        let good = call(name).set("Mcp-Name", header);
        refused(good.header("Mcp-Name", header).send().await, 400, -32020).await;
    }
    let list = client.modern("tools/list", json!({})).request();
    served(
        list.clone()
            .set("MCP-METHOD", " \ttools/list ")
            .send()
            .await,
    )
    .await;
    refused(
        list.set("Mcp-Method", "Tools/List").send().await,
        400,
        -32020,
    )
    .await;
    // A name that is absent from the body is the body's mistake, not the header's.
    let nameless = client.modern("tools/call", json!({})).request();
    refused(nameless.send().await, 200, -32602).await;
    // Older revisions have no such headers: they are not looked at.
    let session = client.initialize(NEWEST_LEGACY).await;
    let call = session
        .call("grüße", json!({}))
        .header("Mcp-Method", "x")
        .header("Mcp-Name", "y");
    served(call.send().await).await;
}

/// 400, 404 and 202 each in their place; a session is bound to its user; nothing is locked.
#[tokio::test]
async fn mistake_12_session_handling() {
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
            .post(&plain("ping", json!({})))
            .header("MCP-Protocol-Version", NEWEST_LEGACY);
        refused(none.send().await, 400, -32600).await;
        let thief = session.with_client(&gateway.client().with_key("key-of-bob"));
        refused(thief.request("ping", json!({})).send().await, 404, -32600).await;
        // While one call waits, others of the same session do not.
        let started = source.counts("hold").started;
        let waiting = session.call("fake__hold", json!({})).send_only().await;
        source.started("hold", started + 1).await;
        served(session.call("fake__echo", json!({})).send().await).await;
        source.release("hold", 1);
        served(waiting.response().await).await;
        assert_eq!(session.delete().await.status, 204);
        refused(session.request("ping", json!({})).send().await, 404, -32600).await;
    }
}

/// Default ports, a null origin, 403; and a wrong key is told before anything else is.
#[tokio::test]
async fn mistake_14_origin_and_auth() {
    let gateway = TestGateway::with(FakeSource::standard())
        .http(|http| http.allowed_hosts = vec!["gate.example".to_owned()])
        .keys([("ada", "key-of-ada")])
        .start()
        .await;
    let client = gateway.client().with_key("key-of-ada");
    let ping = || {
        client
            .post(&plain("ping", json!({})))
            .set("Host", "gate.example")
    };
    for origin in [
        "http://gate.example",
        "http://gate.example:80",
        "https://gate.example:443",
    ] {
        served(ping().header("Origin", origin).send().await).await;
    }
    served(
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
        refused(ping().header("Origin", origin).send().await, 403, -31403).await;
    }
    for host in ["evil.example", "gate.example.evil", "10.0.0.1"] {
        refused(ping().set("Host", host).send().await, 403, -31403).await;
    }
    let nobody = gateway
        .client()
        .post_text("not json")
        .header("MCP-Protocol-Version", MODERN);
    let answer = nobody.send().await;
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    refused(answer, 401, -31401).await;
}
