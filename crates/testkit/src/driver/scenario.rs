//! What a client does in each scenario. Several say no more than: use what is there.
//!
//! Must not know: how a request goes out.

use serde_json::{Value, json};

use super::Task;
use super::answers::next_round;
use super::peer::Peer;
use crate::Client;

/// Plays the client's part.
pub(super) async fn play(task: &Task, client: &Client) {
    let open = |capabilities| Peer::new(client, &task.revision, capabilities);
    let peer = open(json!({})).await;
    match task.scenario.as_str() {
        "initialize" | "json-schema-ref-no-deref" => drop(peer.list("tools").await),
        "tools_call" => add(&peer).await,
        "elicitation-sep1034-client-defaults" => {
            let able = open(json!({ "elicitation": { "form": {} } })).await;
            each_tool(&able).await;
        }
        "sse-retry" | "http-invalid-tool-headers" => each_tool(&peer).await,
        "request-metadata" => {
            each_tool(&peer).await;
            // Nothing is listed there, and yet a client may know a name.
            peer.call(&json!({ "name": "unlisted" }), json!({})).await;
        }
        "sep-2322-client-request-state" => rounds(&peer).await,
        "http-standard-headers" => everything(&peer).await,
        "http-custom-headers" => named_calls(&peer, &task.context["toolCalls"]).await,
        "json-schema-2020-12-preservation" => echo(&peer).await,
        other => panic!("there is no part for a client in {other}"),
    }
}

/// Calls every tool on the list, with something for each argument it must have.
async fn each_tool(peer: &Peer) {
    for tool in peer.list("tools").await {
        let required = tool["inputSchema"]["required"].as_array();
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let arguments: Value = names.map(|name| (name.to_owned(), "something")).collect();
        peer.call(&tool, arguments).await;
    }
}

async fn add(peer: &Peer) {
    let tools = peer.list("tools").await;
    let sum = peer.call(&tools[0], json!({ "a": 5, "b": 3 })).await;
    let text = sum["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.ends_with('8'), "{sum}");
}

/// Goes through the rounds of one tool, and calls another in between.
async fn rounds(peer: &Peer) {
    let params = |name: &str| json!({ "name": name, "arguments": {} });
    let (call, other) = ("tools/call", params("test_mrtr_unrelated"));
    for name in ["test_mrtr_echo_state", "test_mrtr_no_state"] {
        let first = params(name);
        let asked = peer.once(call, &first, &[]).await;
        let second = next_round(&first, &asked).expect("it asks");
        peer.once(call, &other, &[]).await;
        let done = peer.once(call, &second, &[]).await;
        assert_eq!(done["resultType"], "complete", "{done}");
    }
    let untyped = peer
        .once(call, &params("test_mrtr_no_result_type"), &[])
        .await;
    assert_eq!(untyped["resultType"], "complete", "{untyped}");
}

/// Lists everything and uses everything.
async fn everything(peer: &Peer) {
    each_tool(peer).await;
    for resource in peer.list("resources").await {
        let uri = json!({ "uri": resource["uri"] });
        peer.ask("resources/read", uri).await;
    }
    for prompt in peer.list("prompts").await {
        let name = json!({ "name": prompt["name"] });
        peer.ask("prompts/get", name).await;
    }
}

/// Makes the calls that the suite names.
async fn named_calls(peer: &Peer, calls: &Value) {
    let tools = peer.list("tools").await;
    for call in calls.as_array().expect("the suite names calls") {
        let tool = tools.iter().find(|tool| tool["name"] == call["name"]);
        let tool = tool.unwrap_or_else(|| panic!("not listed: {call}"));
        peer.call(tool, call["arguments"].clone()).await;
    }
}

/// Sends the schema of one tool to the other, as it came.
async fn echo(peer: &Peer) {
    let tools = peer.list("tools").await;
    let schema = json!({ "schema": tools[0]["inputSchema"] });
    peer.call(&tools[1], schema).await;
}
