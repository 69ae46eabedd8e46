//! Clients that answer what is no answer, and servers that ask what is no question.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, RunningFixture};
use tidegate_testkit::{Client, NEWEST_LEGACY};

use crate::support::Behind;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

async fn faulty() -> RunningFixture {
    let legacy = Fixture::legacy(NEWEST_LEGACY);
    legacy.with(|one| one.faults = true).start().await
}

async fn call(client: &Client, tool: &str, arguments: Value, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    params
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let call = client.modern("tools/call", params);
    call.meta(CAPABILITIES, able()).send().await.message().await
}

/// Protocol 4.4(a): a bad shape is told, and the client may bring a good one.
#[tokio::test]
async fn a_malformed_answer_is_refused_and_its_call_waits_on() {
    let fixture = faulty().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
    let arguments = json!({ "message": "who?" });
    let asked = call(&client, "test_elicitation", arguments.clone(), json!({})).await;
    let state = asked["result"]["requestState"].clone();
    for wrong in [json!({ "foo": 1 }), json!({ "action": "yes" })] {
        let more = json!({ "inputResponses": { "k1": wrong }, "requestState": state });
        let refused = call(&client, "test_elicitation", arguments.clone(), more).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.contains("`k1`") && told.contains("`action`"), "{told}");
    }
    let good = json!({ "k1": { "action": "accept", "content": { "username": "ada" } } });
    let more = json!({ "inputResponses": good, "requestState": state });
    let done = call(&client, "test_elicitation", arguments, more).await;
    assert!(done["result"].to_string().contains("ada"), "{done}");
}

#[tokio::test]
async fn a_server_is_told_that_an_answer_in_a_session_is_malformed() {
    let fixture = faulty().await;
    let behind = Behind::of(&fixture).await;
    let session = behind
        .client()
        .initialize_with(NEWEST_LEGACY, &able())
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

/// Protocol 4.4, -32042: who does not want to go to the page gets a result that says so.
#[tokio::test]
async fn a_page_that_is_declined_is_a_failed_result() {
    let fixture = faulty().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
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

/// A question that cannot be read is answered at once: the server need not wait for its own patience.
#[tokio::test]
async fn a_malformed_question_is_refused() {
    let fixture = faulty().await;
    let over_http = Behind::of(&fixture).await;
    let on_a_pipe = Behind::on_a_pipe(&fixture, &["--era", "legacy", "--faults"]).await;
    for behind in [&over_http, &on_a_pipe] {
        let arguments = json!({ "method": "elicitation/create", "params": 5 });
        let client = behind.client();
        let done = call(&client, "fault_ask", arguments.clone(), json!({})).await;
        assert_eq!(done["result"]["isError"], true, "{done}");
        assert!(done.to_string().contains("`params`"), "{done}");
    }
}

/// X4: who was asked hears that it is not asked any more, under the id it was asked under.
#[tokio::test]
async fn a_question_that_is_withdrawn_is_taken_back() {
    let fixture = faulty().await;
    let over_http = Behind::of(&fixture).await;
    let on_a_pipe = Behind::on_a_pipe(&fixture, &["--era", "legacy", "--faults"]).await;
    for behind in [&over_http, &on_a_pipe] {
        let session = behind
            .client()
            .initialize_with(NEWEST_LEGACY, &able())
            .await;
        let called = session.call("fault_withdraw", json!({}));
        let mut events = called.send().await.events();
        let question = events.message().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let word = events.message().await;
        assert_eq!(word["method"], "notifications/cancelled", "{word}");
        assert_eq!(word["params"]["requestId"], question["id"], "{word}");
        let done = events.message().await;
        assert!(done.to_string().contains("Question cancelled"), "{done}");
        let done = call(&behind.client(), "fault_withdraw", json!({}), json!({})).await;
        assert!(done.to_string().contains("Question cancelled"), "{done}");
    }
}

/// A result that is none is the server's fault, and said to be.
#[tokio::test]
async fn a_result_that_is_none_is_a_failure_of_the_source() {
    let fixture = faulty().await;
    let behind = Behind::of(&fixture).await;
    for result in [json!(null), json!(5), json!([])] {
        let arguments = json!({ "result": result });
        let failed = call(&behind.client(), "fault_result", arguments, json!({})).await;
        assert_eq!(failed["error"]["data"]["kind"], "source_failed", "{failed}");
    }
}

/// Protocol 4.7: progress increases, or is not told.
#[tokio::test]
async fn progress_that_is_none_is_not_told() {
    let fixture = faulty().await;
    let behind = Behind::of(&fixture).await;
    let arguments = json!({ "steps": [1, 3, 2, 3, 5] });
    let params = json!({ "name": "fault_progress", "arguments": arguments });
    let called = behind.client().modern("tools/call", params);
    let called = called.meta("progressToken", json!("p"));
    let mut events = called.send().await.events();
    let mut told = Vec::new();
    loop {
        let message = events.message().await;
        match message["params"]["progress"].as_u64() {
            Some(progress) => told.push(progress),
            None => break,
        }
    }
    assert_eq!(told, [1, 3, 5]);
}

/// Protocol 3: since 2026-07-28, what has no contents is not found.
#[tokio::test]
async fn a_read_of_nothing_is_not_found_where_it_must_not_be_empty() {
    let fixture = faulty().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
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
