//! Malformed answers of clients, and malformed messages of servers.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, RunningFixture};
use tidegate_testkit::{Client, NEWEST_LEGACY};

use crate::support::RemoteGateway;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn all_capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

async fn faulty() -> RunningFixture {
    let legacy = Fixture::legacy(NEWEST_LEGACY);
    legacy.with(|settings| settings.faults = true).start().await
}

async fn call(client: &Client, tool: &str, arguments: Value, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    params
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let call = client.modern("tools/call", params);
    call.meta(CAPABILITIES, all_capabilities())
        .send()
        .await
        .message()
        .await
}

/// Protocol 4.4(a): a malformed answer is rejected, and the client may retry.
#[tokio::test]
async fn a_malformed_answer_is_rejected_and_its_call_stays_parked() {
    let fixture = faulty().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let arguments = json!({ "message": "who?" });
    let asked = call(&client, "test_elicitation", arguments.clone(), json!({})).await;
    let state = asked["result"]["requestState"].clone();
    for wrong in [json!({ "foo": 1 }), json!({ "action": "yes" })] {
        let more = json!({ "inputResponses": { "k1": wrong }, "requestState": state });
        let refused = call(&client, "test_elicitation", arguments.clone(), more).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("`k1`") && message.contains("`action`"),
            "{message}"
        );
    }
    let good = json!({ "k1": { "action": "accept", "content": { "username": "ada" } } });
    let more = json!({ "inputResponses": good, "requestState": state });
    let done = call(&client, "test_elicitation", arguments, more).await;
    assert!(done["result"].to_string().contains("ada"), "{done}");
}

#[tokio::test]
async fn a_server_gets_an_error_for_a_malformed_answer_in_a_session() {
    let fixture = faulty().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let session = gateway
        .client()
        .initialize_with(NEWEST_LEGACY, &all_capabilities())
        .await;
    for wrong in [json!(5), json!({ "foo": 1 })] {
        let call = session.call("test_elicitation", json!({}));
        let mut events = call.send().await.events();
        let question = events.message().await;
        let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": wrong });
        assert_eq!(session.post(&response).send().await.status, 202);
        let done = events.message().await;
        assert_eq!(done["result"]["isError"], true, "{done}");
        assert!(done.to_string().contains("malformed"), "{done}");
    }
}

/// Protocol 4.4, -32042: a declined URL elicitation makes the call fail.
#[tokio::test]
async fn a_declined_url_elicitation_is_a_tool_error() {
    let fixture = faulty().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let arguments = json!({ "mark": "m" });
    let asked = call(&client, "needs_page", arguments.clone(), json!({})).await;
    let state = asked["result"]["requestState"].clone();
    let answered =
        |answer: Value| json!({ "inputResponses": { "k1": answer }, "requestState": state });
    let wrong = answered(json!({ "foo": 1 }));
    let refused = call(&client, "needs_page", arguments.clone(), wrong).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let declined = answered(json!({ "action": "decline" }));
    let done = call(&client, "needs_page", arguments, declined).await;
    assert_eq!(done["result"]["isError"], true, "{done}");
}

/// A malformed question gets an error at once, so that the server need not wait for its own timeout.
#[tokio::test]
async fn a_malformed_question_gets_an_error() {
    let fixture = faulty().await;
    let over_http = RemoteGateway::over(&fixture).await;
    let over_stdio = RemoteGateway::over_stdio(&fixture, &["--era", "legacy", "--faults"]).await;
    for gateway in [&over_http, &over_stdio] {
        let arguments = json!({ "method": "elicitation/create", "params": 5 });
        let client = gateway.client();
        let done = call(&client, "fault_ask", arguments.clone(), json!({})).await;
        assert_eq!(done["result"]["isError"], true, "{done}");
        assert!(done.to_string().contains("`params`"), "{done}");
    }
}

/// X4: the client gets the cancellation with the id of the question.
#[tokio::test]
async fn a_withdrawn_question_is_withdrawn_from_the_client() {
    let fixture = faulty().await;
    let over_http = RemoteGateway::over(&fixture).await;
    let over_stdio = RemoteGateway::over_stdio(&fixture, &["--era", "legacy", "--faults"]).await;
    for gateway in [&over_http, &over_stdio] {
        let session = gateway
            .client()
            .initialize_with(NEWEST_LEGACY, &all_capabilities())
            .await;
        let called = session.call("fault_withdraw", json!({}));
        let mut events = called.send().await.events();
        let question = events.message().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let cancellation = events.message().await;
        assert_eq!(
            cancellation["method"], "notifications/cancelled",
            "{cancellation}"
        );
        assert_eq!(
            cancellation["params"]["requestId"], question["id"],
            "{cancellation}"
        );
        let done = events.message().await;
        assert!(done.to_string().contains("Question cancelled"), "{done}");
        let done = call(&gateway.client(), "fault_withdraw", json!({}), json!({})).await;
        assert!(done.to_string().contains("Question cancelled"), "{done}");
    }
}

#[tokio::test]
async fn a_malformed_result_is_a_failure_of_the_source() {
    let fixture = faulty().await;
    let gateway = RemoteGateway::over(&fixture).await;
    for result in [json!(null), json!(5), json!([])] {
        let arguments = json!({ "result": result });
        let failed = call(&gateway.client(), "fault_result", arguments, json!({})).await;
        assert_eq!(failed["error"]["data"]["kind"], "source_failed", "{failed}");
    }
}

/// Protocol 4.7: progress must increase.
#[tokio::test]
async fn progress_that_does_not_increase_is_dropped() {
    let fixture = faulty().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let arguments = json!({ "steps": [1, 3, 2, 3, 5] });
    let params = json!({ "name": "fault_progress", "arguments": arguments });
    let called = gateway.client().modern("tools/call", params);
    let called = called.meta("progressToken", json!("p"));
    let mut events = called.send().await.events();
    let mut received = Vec::new();
    loop {
        let message = events.message().await;
        match message["params"]["progress"].as_u64() {
            Some(progress) => received.push(progress),
            None => break,
        }
    }
    assert_eq!(received, [1, 3, 5]);
}

/// Protocol 3: since 2026-07-28, a resource without contents is not found.
#[tokio::test]
async fn an_empty_read_is_not_found_for_a_modern_client() {
    let fixture = faulty().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let uri = "test://nothing";
    let read = client.modern("resources/read", json!({ "uri": uri }));
    let refused = read.send().await.message().await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(refused["error"]["data"]["uri"], uri, "{refused}");
    let session = client.initialize(NEWEST_LEGACY).await;
    let read = session
        .exchange("resources/read", json!({ "uri": uri }))
        .await;
    assert_eq!(read["result"]["contents"], json!([]), "{read}");
}
