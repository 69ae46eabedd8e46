//! What the client does in each scenario.
//!
//! Must not know: how requests are sent.

use serde_json::{Value, json};

use super::ScenarioRun;
use super::answers::continuation_params;
use super::client::DriverClient;
use crate::Client;

/// Runs the client's part of a scenario.
pub(super) async fn run(scenario: &ScenarioRun, client: &Client) {
    let open = |capabilities| DriverClient::new(client, &scenario.revision, capabilities);
    let client = open(json!({})).await;
    match scenario.name.as_str() {
        "initialize" | "json-schema-ref-no-deref" => drop(client.list("tools").await),
        "tools_call" => add(&client).await,
        "elicitation-sep1034-client-defaults" => {
            let answering = open(json!({ "elicitation": { "form": {} } })).await;
            each_tool(&answering).await;
        }
        "sse-retry" | "http-invalid-tool-headers" => each_tool(&client).await,
        "request-metadata" => {
            each_tool(&client).await;
            // The tool is not listed, but a client may still call it.
            client.call(&json!({ "name": "unlisted" }), json!({})).await;
        }
        "sep-2322-client-request-state" => rounds(&client).await,
        "http-standard-headers" => everything(&client).await,
        "http-custom-headers" => named_calls(&client, &scenario.context["toolCalls"]).await,
        "json-schema-2020-12-preservation" => echo(&client).await,
        other => panic!("unknown scenario: {other}"),
    }
}

/// Calls every listed tool, with a value for each required argument.
async fn each_tool(client: &DriverClient) {
    for tool in client.list("tools").await {
        let required = tool["inputSchema"]["required"].as_array();
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let arguments: Value = names.map(|name| (name.to_owned(), "something")).collect();
        client.call(&tool, arguments).await;
    }
}

async fn add(client: &DriverClient) {
    let tools = client.list("tools").await;
    let sum = client.call(&tools[0], json!({ "a": 5, "b": 3 })).await;
    let text = sum["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.ends_with('8'), "{sum}");
}

/// Completes the rounds of each tool, with a call of another tool in between.
async fn rounds(client: &DriverClient) {
    let params = |name: &str| json!({ "name": name, "arguments": {} });
    let (call, other) = ("tools/call", params("test_mrtr_unrelated"));
    for name in ["test_mrtr_echo_state", "test_mrtr_no_state"] {
        let first = params(name);
        let asked = client.exchange_once(call, &first, &[]).await;
        let second = continuation_params(&first, &asked).expect("a result that requires input");
        client.exchange_once(call, &other, &[]).await;
        let done = client.exchange_once(call, &second, &[]).await;
        assert_eq!(done["resultType"], "complete", "{done}");
    }
    let untyped = client
        .exchange_once(call, &params("test_mrtr_no_result_type"), &[])
        .await;
    assert_eq!(untyped["resultType"], "complete", "{untyped}");
}

/// Lists everything and uses everything.
async fn everything(client: &DriverClient) {
    each_tool(client).await;
    for resource in client.list("resources").await {
        let uri = json!({ "uri": resource["uri"] });
        client.request("resources/read", uri).await;
    }
    for prompt in client.list("prompts").await {
        let name = json!({ "name": prompt["name"] });
        client.request("prompts/get", name).await;
    }
}

/// Makes the calls that the suite lists.
async fn named_calls(client: &DriverClient, calls: &Value) {
    let tools = client.list("tools").await;
    for call in calls.as_array().expect("`toolCalls` is an array") {
        let tool = tools.iter().find(|tool| tool["name"] == call["name"]);
        let tool = tool.unwrap_or_else(|| panic!("tool not listed: {call}"));
        client.call(tool, call["arguments"].clone()).await;
    }
}

/// Sends the schema of one tool to the other, unchanged.
async fn echo(client: &DriverClient) {
    let tools = client.list("tools").await;
    let schema = json!({ "schema": tools[0]["inputSchema"] });
    client.call(&tools[1], schema).await;
}
