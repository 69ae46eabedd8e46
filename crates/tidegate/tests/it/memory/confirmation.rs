//! `clear` asks for confirmation if the client supports it, in both eras.

use serde_json::{Value, json};

use super::{PATH, User};
use crate::support::messages::{MODERN, request, with_modern_meta};
use crate::support::{Answer, Events, Post, Server};

/// Calls `clear` as a modern client with elicitation and additional params.
fn clear(server: &Server, more: &Value) -> Answer {
    let mut params =
        with_modern_meta(json!({ "name": "clear", "arguments": { "namespace": "work" } }));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let post = Post::to(server.address, PATH).with_mcp_headers();
    let post = post.header("MCP-Protocol-Version", MODERN);
    let post = post
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "clear");
    post.send(request(1, "tools/call", &params).to_string().as_bytes())
}

fn server_with_entries() -> Server {
    let server = Server::start_shipped();
    for key in ["a", "b"] {
        let arguments = json!({ "key": key, "value": 1, "namespace": "work" });
        User::of(&server).call("store", arguments);
    }
    User::of(&server).store("other", json!(1));
    server
}

#[test]
fn modern_client_is_asked_and_retries_with_the_answer() {
    let server = server_with_entries();
    let asked = clear(&server, &json!({})).result();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (key, question) = asked["inputRequests"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("all 2 entries") && message.contains("`work`"),
        "{message}"
    );
    let answer = |answer: Value| {
        let mut more = json!({ "inputResponses": { key.as_str(): answer } });
        if let Some(state) = asked.get("requestState") {
            more["requestState"] = state.clone();
        }
        clear(&server, &more).result()
    };
    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "confirm": false } }),
    ] {
        let refused = answer(no);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(
            refused.to_string().contains("nothing was deleted"),
            "{refused}"
        );
    }
    let done = answer(json!({ "action": "accept", "content": { "confirm": true } }));
    assert_eq!(done["structuredContent"]["cleared"], 2, "{done}");
    assert_eq!(User::of(&server).keys(json!({})), ["other"]);
    server.stop();
}

#[test]
fn session_is_asked_on_the_stream_of_its_call() {
    let server = server_with_entries();
    let initialize = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "it", "version": "1.0.0" },
    });
    let initialize = request(0, "initialize", &initialize).to_string();
    let opened = Post::to(server.address, PATH)
        .with_mcp_headers()
        .send(initialize.as_bytes());
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let post = || {
        let post = Post::to(server.address, PATH).with_mcp_headers();
        let post = post.header("Mcp-Session-Id", &id);
        post.header("MCP-Protocol-Version", "2025-06-18")
    };
    let call = |number: u64, answer: Value| {
        let params = json!({ "name": "clear", "arguments": {} });
        let body = request(number, "tools/call", &params).to_string();
        let mut events = Events::of(post().open(body.as_bytes()));
        let question = events.find("elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("all 3 entries"), "{message}");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
        assert_eq!(post().send(answer.to_string().as_bytes()).status, 202);
        events.next().unwrap()["result"].take()
    };
    let refused = call(1, json!({ "action": "decline" }));
    assert_eq!(refused["isError"], true, "{refused}");
    let done = call(
        2,
        json!({ "action": "accept", "content": { "confirm": true } }),
    );
    assert_eq!(done["structuredContent"]["cleared"], 3, "{done}");
    server.stop();
}

#[test]
fn client_without_elicitation_is_not_asked() {
    let server = server_with_entries();
    let user = User::of(&server);
    assert_eq!(
        user.call("clear", json!({ "namespace": "none" }))["cleared"],
        0
    );
    assert_eq!(
        user.call("clear", json!({ "namespace": "work" }))["cleared"],
        2
    );
    assert_eq!(user.call("clear", json!({}))["cleared"], 1);
    assert_eq!(user.stats()["total_entries"], 0);
    server.stop();
}
