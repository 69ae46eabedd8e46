//! Calls through `gateway__call_tool` are relayed unchanged: JSON, questions and progress.

use serde_json::{Value, json};

use super::{before, call, text};
use crate::support::fixture::Fixture;
use crate::support::messages::{MODERN, request};
use crate::support::{Answer, Events, Server};

/// Sends a call as a client with form elicitation.
fn send_call(server: &Server, params: Value) -> Answer {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "it", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "progressToken": 7,
    });
    let post = server.post().with_mcp_headers();
    let post = post.header("MCP-Protocol-Version", MODERN);
    let post = post.header("Mcp-Method", "tools/call");
    let post = post.header("Mcp-Name", "gateway__call_tool");
    post.send(request(1, "tools/call", &params).to_string().as_bytes())
}

/// Numbers keep their digits, and unknown members are kept.
#[test]
fn json_is_relayed_unchanged() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let server = before(&fixture, &json!({}));
    let body = r#"{"name":"gateway__call_tool","arguments":{"name":"fixture__echo","arguments":{"a":1.50,"b":12345678901234567890123}}}"#;
    let mut params = crate::support::messages::with_modern_meta(json!({})).to_string();
    params.truncate(params.len() - 1);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params},{}}}"#,
        &body[1..]
    );
    let post = server.post().with_mcp_headers();
    let post = post.header("MCP-Protocol-Version", MODERN);
    let post = post.header("Mcp-Method", "tools/call");
    let post = post.header("Mcp-Name", "gateway__call_tool");
    let answer = post.send(body.as_bytes()).result();
    let received = fixture.received_for("tools/call");
    assert!(
        received
            .iter()
            .any(|message| message["params"]["name"] == "echo")
    );
    let echoed = text(&answer);
    assert!(echoed.contains("1.50"), "{echoed}");
    assert!(echoed.contains("12345678901234567890123"), "{echoed}");
    server.stop();
    fixture.stop();
}

/// Questions of servers of either era reach the client, and its answers the server.
#[test]
fn questions_reach_the_client() {
    for (era, tool) in [
        ("legacy", "test_elicitation"),
        ("modern", "test_input_required_result_elicitation"),
    ] {
        let fixture = Fixture::start(&["--era", era]);
        let server = before(&fixture, &json!({}));
        let inner =
            json!({ "name": format!("fixture__{tool}"), "arguments": { "message": "Who?" } });
        let params = json!({ "name": "gateway__call_tool", "arguments": inner });
        let asked = send_call(&server, params.clone()).result();
        assert_eq!(asked["resultType"], "input_required", "{era}: {asked}");
        let questions = asked["inputRequests"].as_object().unwrap();
        let answers = questions.keys().map(|key| {
            let content = json!({ "username": "ada", "email": "a@b.c", "name": "ada" });
            (
                key.clone(),
                json!({ "action": "accept", "content": content }),
            )
        });
        let mut retry = params;
        retry["inputResponses"] = Value::Object(answers.collect());
        if let Some(state) = asked.get("requestState") {
            retry["requestState"] = state.clone();
        }
        let done = send_call(&server, retry).result();
        assert!(text(&done).contains("ada"), "{era}: {done}");
        server.stop();
        fixture.stop();
    }
}

#[test]
fn progress_reaches_the_client() {
    let fixture = Fixture::start(&["--era", "legacy"]);
    let server = before(&fixture, &json!({}));
    let inner = json!({ "name": "fixture__test_tool_with_progress" });
    let mut params = json!({ "name": "gateway__call_tool", "arguments": inner });
    params["_meta"] = json!({ "progressToken": "p" });
    let call = crate::support::messages::Modern::new("tools/call", params);
    let mut events = Events::of(call.open(server.post()));
    let progress = events.find("notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "p");
    server.stop();
    fixture.stop();
}

#[test]
fn prompt_messages_are_returned_as_text() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let server = before(&fixture, &json!({}));
    let arguments = json!({ "name": "fixture/test_prompt_with_arguments", "arguments": { "arg1": "x1", "arg2": "x2" } });
    let got = call(&server, "gateway__get_prompt", &arguments);
    assert_eq!(text(&got), "[user]");
    let message = got["content"][1]["text"].as_str().unwrap();
    assert!(message.contains("x1") && message.contains("x2"), "{got}");
    server.stop();
    fixture.stop();
}
