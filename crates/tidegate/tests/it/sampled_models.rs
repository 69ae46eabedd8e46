//! `resource://system/models` counts the models of sampling results that pass through the gateway
//! (S4.8), between clients and servers of both eras.

use serde_json::{Value, json};

use crate::support::fixture::{Fixture, before};
use crate::support::messages::{MODELS, Modern, handshake, request, watching};
use crate::support::{Events, Post, Server};

fn sampling_result(model: &str) -> Value {
    let content = json!({ "type": "text", "text": "Paris" });
    json!({ "role": "assistant", "content": content, "model": model, "stopReason": "endTurn" })
}

/// The tool that asks for sampling, by the era of the server.
fn sampling_tool(era: &str) -> &'static str {
    match era {
        "legacy" => "test_sampling",
        _ => "test_input_required_result_sampling",
    }
}

fn models(gateway: &Server) -> Value {
    let read = gateway
        .modern("resources/read", json!({ "uri": MODELS }))
        .result();
    let text = read["contents"][0]["text"].as_str().unwrap();
    serde_json::from_str(text).unwrap()
}

/// A legacy client calls the tool and answers its sampling request with this model.
fn sample_in_session(gateway: &Server, tool: &str, model: &str) {
    let mut initialize = handshake("2025-11-25");
    initialize["capabilities"] = json!({ "sampling": {} });
    let post = || gateway.post().at("/mcp/fixture").with_mcp_headers();
    let opened = post().send(request(1, "initialize", &initialize).to_string().as_bytes());
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let post = || -> Post { post().header("Mcp-Session-Id", &session) };
    let call = request(2, "tools/call", &json!({ "name": tool, "arguments": {} })).to_string();
    let mut events = Events::of(post().open(call.as_bytes()));
    let question = events.find("sampling/createMessage");
    let result = sampling_result(model);
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(post().send(answer.to_string().as_bytes()).status, 202);
    let done = events.next().unwrap();
    assert!(done["result"].is_object(), "{done}");
}

/// A modern client does the same in two requests.
fn sample_in_two_requests(gateway: &Server, tool: &str, model: &str) {
    let send = |params: Value| {
        let mut call = Modern::new("tools/call", params);
        let capabilities = json!({ "sampling": {} });
        call.set_meta("io.modelcontextprotocol/clientCapabilities", capabilities);
        call.post(gateway.post().at("/mcp/fixture")).result()
    };
    let asked = send(json!({ "name": tool, "arguments": {} }));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let questions = asked["inputRequests"].as_object().unwrap();
    let answers: serde_json::Map<_, _> = questions
        .keys()
        .map(|key| (key.clone(), sampling_result(model)))
        .collect();
    let mut params = json!({ "name": tool, "arguments": {}, "inputResponses": answers });
    if let Some(state) = asked.get("requestState") {
        params["requestState"] = state.clone();
    }
    let done = send(params);
    assert_eq!(done["resultType"], "complete", "{done}");
}

#[test]
fn models_of_sampling_results_are_counted_in_every_direction() {
    for era in ["legacy", "modern"] {
        let fixture = Fixture::start(&["--era", era]);
        let gateway = before(&fixture);
        assert_eq!(models(&gateway)["totalModels"], 0);
        let mut changes = Events::of(
            Modern::new("subscriptions/listen", watching(&[MODELS])).open(gateway.post()),
        );
        changes.find("notifications/subscriptions/acknowledged");
        let tool = sampling_tool(era);
        sample_in_session(&gateway, tool, "model-a");
        sample_in_two_requests(&gateway, tool, "model-b");
        sample_in_two_requests(&gateway, tool, "model-a");
        let report = models(&gateway);
        let expected = json!([
            { "name": "model-a", "samplingCount": 2 },
            { "name": "model-b", "samplingCount": 1 },
        ]);
        assert_eq!(report["models"], expected, "{era}: {report}");
        assert_eq!(report["totalModels"], 2, "{report}");
        let updated = changes.find("notifications/resources/updated");
        assert_eq!(updated["params"]["uri"], MODELS);
        gateway.stop();
        fixture.stop();
    }
}
