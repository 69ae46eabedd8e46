//! How a POST is told apart: each step of the order, with its status and its code, and that an
//! earlier step wins over a later one.

use serde_json::{Value, json};
use tidegate_core::Code;
use tidegate_testkit::{
    Answer, Client, FakeSource, LEGACY, MODERN, NEWEST_LEGACY, TestGateway, Tool,
};

use crate::support::{echoed, plain, refused, served, standard};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A `tools/list` with these headers and this `_meta`.
async fn list_with(client: &Client, headers: &[(&str, &str)], meta: Value) -> Answer {
    let request = client.post(&plain("tools/list", json!({ "_meta": meta })));
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    request.send().await
}

#[tokio::test]
async fn step_0_a_foreign_origin_is_refused_before_anything_else() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .start()
        .await;
    let request = gateway
        .client()
        .request("POST")
        .header("Origin", "http://evil.example");
    refused(request.send().await, 403, -31403).await;
    let request = gateway.client().request("POST").set("Host", "evil.example");
    refused(request.send().await, 403, -31403).await;
}

#[tokio::test]
async fn step_1_a_missing_or_wrong_key_is_refused_before_anything_is_read() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .start()
        .await;
    for client in [gateway.client(), gateway.client().with_key("wrong")] {
        let answer = client
            .request("POST")
            .header("Accept", "text/html")
            .send()
            .await;
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        refused(answer, 401, -31401).await;
    }
}

#[tokio::test]
async fn step_2_what_is_not_accepted_or_not_json_is_refused_before_it_is_read() {
    let (gateway, _) = standard().await;
    let post = || gateway.client().post_text("not json");
    for accept in ["application/json", "text/event-stream", "text/html", ""] {
        let request = post()
            .set("Accept", accept)
            .set("Content-Type", "text/plain");
        refused(request.send().await, 406, -32600).await;
    }
    for content in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ] {
        refused(
            post().set("Content-Type", content).send().await,
            415,
            -32600,
        )
        .await;
    }
    refused(post().without("Content-Type").send().await, 415, -32600).await;
    refused(
        post().header("Content-Encoding", "gzip").send().await,
        415,
        -32600,
    )
    .await;
}

#[tokio::test]
async fn step_2_both_forms_may_be_accepted_in_other_words() {
    let (gateway, _) = standard().await;
    let post = || gateway.client().modern("tools/list", json!({})).request();
    for accept in [
        "*/*",
        "application/*",
        "APPLICATION/JSON;q=0.9,Text/Event-Stream",
        "text/*, application/json",
    ] {
        served(post().set("Accept", accept).send().await).await;
    }
    served(post().without("Accept").send().await).await;
    let twice = post()
        .set("Accept", "application/json")
        .header("Accept", "text/event-stream");
    served(twice.send().await).await;
    served(
        post()
            .set("Content-Type", "application/json; charset=utf-8")
            .send()
            .await,
    )
    .await;
}

#[tokio::test]
async fn step_3_what_is_not_json_is_a_parse_error_whatever_the_headers_say() {
    let (gateway, _) = standard().await;
    for body in ["{", "nope", "{\"jsonrpc\":\"2.0\"", "\u{feff}{}", "{} {}"] {
        let request = gateway
            .client()
            .post_text(body)
            .header("MCP-Protocol-Version", MODERN);
        let message = refused(request.send().await, 400, -32700).await;
        assert!(
            message.get("id").is_none(),
            "an unknown id is left out: {message}"
        );
    }
    let request = gateway
        .client()
        .post_text("")
        .body(b"{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}");
    refused(request.send().await, 400, -32700).await;
}

#[tokio::test]
async fn step_4_an_array_is_for_one_revision_alone() {
    let (gateway, _) = standard().await;
    let batch = json!([plain("ping", json!({}))]);
    refused(gateway.client().post(&batch).send().await, 400, -32600).await;
    let modern = gateway
        .client()
        .post(&batch)
        .header("MCP-Protocol-Version", MODERN);
    refused(modern.send().await, 400, -32600).await;
    for revision in LEGACY
        .into_iter()
        .filter(|revision| *revision != "2025-03-26")
    {
        let session = gateway.client().initialize(revision).await;
        refused(session.post(&batch).send().await, 400, -32600).await;
    }
}

#[tokio::test]
async fn step_5b_a_handshake_is_a_handshake_whatever_the_header_says() {
    let (gateway, _) = standard().await;
    for version in [MODERN, "2025-06-18", "v999"] {
        let hello = gateway
            .client()
            .hello("2025-06-18")
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
async fn step_6a_what_a_stateless_request_must_say_is_asked_for_first() {
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
        refused(
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
    let message = refused(request.send().await, 400, -32602).await;
    assert_eq!(message["id"], 1);
    // Before the header is looked at: half a `_meta` without any header.
    refused(
        list_with(&gateway.client(), &[], json!({ VERSION: MODERN })).await,
        400,
        -32602,
    )
    .await;
    refused(
        list_with(&gateway.client(), &[], json!({ CAPABILITIES: {} })).await,
        400,
        -32602,
    )
    .await;
}

#[tokio::test]
async fn step_6b_then_the_version_header_must_be_the_one_in_the_body() {
    let (gateway, _) = standard().await;
    let meta = |version: &str| json!({ VERSION: version, CAPABILITIES: {} });
    let client = gateway.client();
    refused(list_with(&client, &[], meta(MODERN)).await, 400, -32020).await;
    let header = [("MCP-Protocol-Version", MODERN)];
    refused(list_with(&client, &header, meta("v999")).await, 400, -32020).await;
    let header = [("MCP-Protocol-Version", "2025-11-25")];
    refused(list_with(&client, &header, meta(MODERN)).await, 400, -32020).await;
    let twice = [
        ("MCP-Protocol-Version", MODERN),
        ("mcp-protocol-version", MODERN),
    ];
    refused(list_with(&client, &twice, meta(MODERN)).await, 400, -32020).await;
}

#[tokio::test]
async fn step_6c_then_the_version_must_be_one_that_is_spoken() {
    let (gateway, _) = standard().await;
    for version in ["v999", "2027-01-01", "2025-11-25", "1.0"] {
        let header = [("MCP-Protocol-Version", version)];
        let meta = json!({ VERSION: version, CAPABILITIES: {} });
        // Without `Mcp-Method`: that would be looked at later.
        let message = refused(
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
async fn step_6d_then_method_and_name_must_be_those_of_the_body() {
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
        refused(request.send().await, 400, -32020).await;
    }
    assert_eq!(
        source.counts("echo").started,
        0,
        "nothing refused was dispatched"
    );
    served(
        call()
            .set("Mcp-Name", "=?base64?ZmFrZV9fZWNobw==?=")
            .send()
            .await,
    )
    .await;
    served(call().set("mcp-name", "  fake__echo\t").send().await).await;
    let read = gateway
        .client()
        .modern("resources/read", json!({ "uri": "fake://note" }))
        .request();
    refused(
        read.clone().set("Mcp-Name", "fake://other").send().await,
        400,
        -32020,
    )
    .await;
    served(read.send().await).await;
}

#[tokio::test]
async fn step_6e_then_the_method_must_be_one_of_the_revision() {
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
        let message = refused(request.send().await, 404, -32601).await;
        assert_eq!(message["id"], 1);
        let wrong = request.request().set("Mcp-Method", "tools/list");
        refused(wrong.send().await, 400, -32020).await;
    }
}

#[tokio::test]
async fn step_6f_then_the_headers_of_parameters_must_be_those_of_the_arguments() {
    let tool = Tool::named("region").defined(
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
    served(call().header("Mcp-Param-Region", "eu").send().await).await;
    refused(
        call().header("Mcp-Param-Region", "us").send().await,
        400,
        -32020,
    )
    .await;
    refused(call().send().await, 400, -32020).await;
}

#[tokio::test]
async fn step_6g_then_a_capability_that_is_needed_must_be_declared() {
    let source = FakeSource::empty().tool(Tool::named("needy").fails(Code::MissingCapability));
    let gateway = TestGateway::with(source).start().await;
    let call = gateway.client().modern_call("fake__needy", json!({}));
    refused(call.send().await, 400, -32021).await;
}

#[tokio::test]
async fn step_6_a_stateless_request_has_no_session_and_gets_none() {
    let (gateway, _) = standard().await;
    let request = gateway.client().modern("tools/list", json!({})).request();
    let answer = request
        .header("Mcp-Session-Id", "never-minted")
        .header("Last-Event-ID", "1-1")
        .send()
        .await;
    assert_eq!(answer.header("mcp-session-id"), None);
    served(answer).await;
}

#[tokio::test]
async fn step_6_what_the_called_one_refuses_stays_200() {
    let (gateway, _) = standard().await;
    let client = gateway.client();
    refused(
        client.modern_call("fake__nothing", json!({})).send().await,
        200,
        -32602,
    )
    .await;
    refused(
        client.modern("tools/call", json!({})).send().await,
        200,
        -32602,
    )
    .await;
    refused(
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
    let message = refused(missing, 200, -32602).await;
    assert_eq!(message["error"]["data"]["uri"], "fake://none");
}

#[tokio::test]
async fn step_6_a_stateless_notification_is_taken_and_a_response_is_not() {
    let (gateway, _) = standard().await;
    let post = |body: Value| {
        gateway
            .client()
            .post(&body)
            .header("MCP-Protocol-Version", MODERN)
    };
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/whatever" });
    let mut answer = post(noted).send().await;
    assert_eq!((answer.status, answer.text().await.as_str()), (202, ""));
    let response = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    refused(post(response).send().await, 400, -32600).await;
}

#[tokio::test]
async fn step_7_a_handshake_gets_what_it_asks_for_or_the_newest_of_its_era() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        assert_eq!(session.hello["result"]["protocolVersion"], revision);
    }
    for unknown in [MODERN, "2030-01-01", "1999-01-01", "latest"] {
        let answer = gateway
            .client()
            .hello(unknown)
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
            assert_eq!(answer.header("allow"), Some("POST"));
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
        "/",
        "/sse",
        "/messages",
    ] {
        let answer = at(path).modern("tools/list", json!({})).send().await;
        refused(answer, 404, -32600).await;
    }
}
