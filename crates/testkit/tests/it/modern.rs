//! The modern era: multi round trips, request states, subscriptions and headers.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Announcement, Fixture, Received, RunningFixture};
use tidegate_testkit::{Client, MODERN, ModernRequest, NEWEST_LEGACY, wait_until};

use crate::support::text;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

async fn start() -> (RunningFixture, Client) {
    let running = Fixture::modern().start().await;
    let client = running.client();
    (running, client)
}

/// A call by a client with all capabilities.
fn call(client: &Client, tool: &str, members: Value) -> ModernRequest {
    let mut params = json!({ "name": tool, "arguments": {} });
    if let Value::Object(members) = members {
        params.as_object_mut().unwrap().extend(members);
    }
    let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    client
        .modern("tools/call", params)
        .meta(CAPABILITIES, capabilities)
}

#[tokio::test]
async fn rounds_continue_until_every_question_is_answered() {
    let (_running, client) = start().await;
    let tool = "test_input_required_result_multiple_inputs";
    let first = &call(&client, tool, json!({})).message().await["result"];
    assert_eq!(first["inputRequests"].as_object().unwrap().len(), 3);
    let state = &first["requestState"];
    let part = json!({ "user_name": { "action": "accept", "content": { "name": "Ada" } } });
    let retry = json!({ "requestState": state, "inputResponses": part });
    let second = &call(&client, tool, retry).message().await["result"];
    assert_eq!(second["inputRequests"].as_object().unwrap().len(), 2);
    assert_ne!(&second["requestState"], state);
    let rest = json!({
        "greeting": { "role": "assistant", "model": "m", "content": { "type": "text", "text": "Hi" } },
        "client_roots": { "roots": [] },
    });
    let retry = json!({ "requestState": second["requestState"], "inputResponses": rest });
    let done = call(&client, tool, retry).message().await;
    assert!(text(&done).contains("Ada"), "{done}");
}

#[tokio::test]
async fn request_state_is_valid_only_unmodified_and_for_its_own_call() {
    let (_running, client) = start().await;
    let tool = "test_input_required_result_tampered_state";
    let first = &call(&client, tool, json!({})).message().await["result"];
    let state = first["requestState"].as_str().unwrap();
    let other = "test_input_required_result_request_state";
    for (tool, state) in [
        (tool, format!("{state}x")),
        (tool, String::new()),
        (other, state.to_owned()),
    ] {
        let retry = json!({ "requestState": state, "inputResponses": {} });
        let refused = call(&client, tool, retry).message().await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn prompts_and_resources_can_require_input() {
    let (_running, client) = start().await;
    let capabilities = json!({ "elicitation": {} });
    for (method, params) in [
        (
            "prompts/get",
            json!({ "name": "test_input_required_result_prompt" }),
        ),
        ("resources/read", json!({ "uri": "test://input-required" })),
    ] {
        let asked = client
            .modern(method, params)
            .meta(CAPABILITIES, capabilities.clone());
        let asked = &asked.message().await["result"];
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert!(asked.get("ttlMs").is_none());
    }
}

#[tokio::test]
async fn clients_are_not_asked_without_the_capability() {
    let (_running, client) = start().await;
    let answer = client
        .modern_call("test_input_required_result_sampling", json!({}))
        .send()
        .await;
    assert_eq!(answer.status, 400);
    let error = &answer.json().await["error"];
    assert_eq!(error["code"], -32021);
    assert_eq!(
        error["data"]["requiredCapabilities"],
        json!({ "sampling": {} })
    );
}

#[tokio::test]
async fn subscriptions_get_only_requested_changes_with_their_id() {
    let (running, client) = start().await;
    let watched = json!(["test://watched-resource"]);
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": watched });
    let mut stream = client.listen("7", filter.clone()).await;
    let ack = stream.message().await;
    assert_eq!(ack["params"]["notifications"], filter);
    running.announce(Announcement::Prompts);
    running.update("test://static-text");
    running.update("test://watched-resource");
    running.add_tool("new");
    let update = stream.message().await;
    assert_eq!(update["params"]["uri"], "test://watched-resource");
    assert_eq!(
        update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        7
    );
    assert_eq!(
        stream.message().await["method"],
        "notifications/tools/list_changed"
    );
    let called = client.modern_call("new", json!({})).message().await;
    assert_eq!(text(&called), "This is new.");
    running.end_subscriptions();
    let end = stream.message().await;
    assert_eq!(
        (&end["id"], &end["result"]["resultType"]),
        (&json!(7), &json!("complete"))
    );
    wait_until("the subscription to end", async || running.listeners() == 0).await;
}

#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    let (running, client) = start().await;
    let slow = client
        .modern_call("test_slow", json!({ "steps": 1000 }))
        .progress(json!(1));
    let mut events = slow.events().await;
    events.message().await;
    drop(events);
    let cancelled = || {
        running
            .received()
            .iter()
            .any(|received| matches!(received, Received::Cancelled { .. }))
    };
    wait_until("the call to be cancelled", async || cancelled()).await;
    let stream = client
        .listen("1", json!({ "toolsListChanged": true }))
        .await;
    wait_until("the subscription to start", async || {
        running.listeners() == 1
    })
    .await;
    drop(stream);
    wait_until("the subscription to end", async || running.listeners() == 0).await;
}

#[tokio::test]
async fn headers_must_match_the_body() {
    let (_running, client) = start().await;
    let arguments = json!({ "region": "süd", "count": 7, "dry": true, "inner": { "zone": "a" } });
    let good = client
        .modern_call("test_custom_header", arguments)
        .request()
        .header("Mcp-Param-Region", "=?base64?c8O8ZA==?=")
        .header("mcp-param-count", "7")
        .header("Mcp-Param-Dry", "true")
        .header("Mcp-Param-Zone", "a");
    assert_eq!(good.clone().send().await.status, 200);
    for bad in [
        good.clone().set("Mcp-Param-Count", "8"),
        good.clone().without("Mcp-Param-Zone"),
        good.clone().set("Mcp-Param-Region", "sud"),
        good.clone().set("Mcp-Name", "echo"),
        good.clone().header("Mcp-Name", "test_custom_header"),
        good.clone().without("Mcp-Method"),
        good.clone().set("MCP-Protocol-Version", NEWEST_LEGACY),
    ] {
        let answer = bad.send().await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.json().await["error"]["code"], -32020);
    }
    let lax = Fixture::modern()
        .with(|settings| settings.no_header_checks = true)
        .start()
        .await;
    let bare = lax.client().modern_call("echo", json!({})).request();
    assert_eq!(
        bare.without("Mcp-Name")
            .without("Mcp-Method")
            .send()
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn initialize_is_rejected_with_the_supported_revisions() {
    let (running, client) = start().await;
    let answer = client.initialize_request(NEWEST_LEGACY).send().await;
    assert_eq!(answer.status, 400);
    let error = &answer.json().await["error"];
    assert_eq!(
        (&error["code"], &error["data"]["supported"]),
        (&json!(-32022), &json!([MODERN]))
    );
    assert_eq!(client.get().send().await.status, 405);
    assert_eq!(running.sessions(), 0);
}
