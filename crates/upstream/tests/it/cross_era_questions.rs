//! Questions between clients of one era and servers of the other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, RunningFixture};
use tidegate_testkit::{Client, NEWEST_LEGACY, Request, Session, wait_until};

use crate::support::RemoteGateway;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn all_capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

async fn legacy() -> RunningFixture {
    Fixture::legacy(NEWEST_LEGACY).start().await
}

/// Sends a call as a modern client and returns the response.
async fn modern(client: &Client, tool: &str, arguments: &Value, more: &Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let request = client.modern("tools/call", params);
    let request = request.meta(CAPABILITIES, all_capabilities());
    request.send().await.message().await
}

/// The retry of an `input_required` result, with an answer to each question.
fn answers(asked: &Value, answer: impl Fn(&Value) -> Value) -> Value {
    let questions = asked["result"]["inputRequests"].as_object().unwrap().iter();
    let answers: serde_json::Map<_, _> = questions
        .map(|(key, question)| (key.clone(), answer(question)))
        .collect();
    json!({ "inputResponses": answers, "requestState": asked["result"]["requestState"] })
}

fn accept(_: &Value) -> Value {
    json!({ "action": "accept", "content": { "username": "ada", "email": "a@b.c" } })
}

/// A call of a modern client that is parked until its question is answered.
struct ParkedCall {
    client: Client,
    arguments: Value,
    /// The `input_required` response.
    asked: Value,
}

impl ParkedCall {
    async fn start(gateway: &RemoteGateway) -> Self {
        let client = gateway.client();
        let arguments = json!({ "message": "who?" });
        let asked = modern(&client, "test_elicitation", &arguments, &json!({})).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        Self {
            client,
            arguments,
            asked,
        }
    }

    /// Sends the call again with the answer.
    async fn resume(&self) -> Value {
        let more = answers(&self.asked, accept);
        modern(&self.client, "test_elicitation", &self.arguments, &more).await
    }
}

#[tokio::test]
async fn a_legacy_server_asks_a_modern_client() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let parked = ParkedCall::start(&gateway).await;
    let question = &parked.asked["result"]["inputRequests"]["k1"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "who?");
    let done = parked.resume().await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert!(done.to_string().contains("ada"), "{done}");
}

/// X5 and security T21: a request state is valid once, for one principal, one request and a limited
/// time.
#[tokio::test]
async fn a_request_state_is_valid_once_and_for_its_own_request() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let parked = ParkedCall::start(&gateway).await;
    let valid = answers(&parked.asked, accept);
    let mut tampered = valid.clone();
    let state = valid["requestState"].as_str().unwrap();
    tampered["requestState"] = json!(format!("{state}x"));
    let other = json!({ "message": "other" });
    fixture.clear_received();
    for (arguments, more) in [(&parked.arguments, &tampered), (&other, &valid)] {
        let refused = modern(&parked.client, "test_elicitation", arguments, more).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert!(fixture.received_for("tools/call").is_empty(), "nothing ran");
    let done = parked.resume().await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let again = parked.resume().await;
    assert_eq!(again["error"]["code"], -32602, "{again}");
    let message = again["error"]["message"].as_str().unwrap();
    assert!(message.contains("send a new request"), "{message}");
}

#[tokio::test]
async fn two_questions_can_be_answered_in_two_round_trips() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let none = json!({});
    let asked = modern(&client, "test_two_elicitations", &none, &none).await;
    let questions = asked["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(questions.len(), 2, "{asked}");
    let mut first = answers(&asked, accept);
    let responses = first["inputResponses"].as_object_mut().unwrap();
    let key = responses.keys().next().unwrap().clone();
    responses.remove(&key).unwrap();
    let asked = modern(&client, "test_two_elicitations", &none, &first).await;
    let unanswered = asked["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(
        unanswered.len(),
        1,
        "the other question is asked again: {asked}"
    );
    let second = answers(&asked, accept);
    let done = modern(&client, "test_two_elicitations", &none, &second).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

#[tokio::test]
async fn a_parked_call_is_cancelled_after_its_timeout() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::with(&fixture, Vec::new(), |config| {
        config.parked_call_timeout = Duration::from_secs(1);
    })
    .await;
    let parked = ParkedCall::start(&gateway).await;
    wait_until("the server receives the cancellation", || async {
        !fixture.received_for("notifications/cancelled").is_empty()
    })
    .await;
    let late = parked.resume().await;
    assert_eq!(late["error"]["code"], -32602, "{late}");
}

#[tokio::test]
async fn a_parked_call_fails_when_its_server_dies() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let parked = ParkedCall::start(&gateway).await;
    drop(fixture);
    let failed = parked.resume().await;
    let kind = failed["error"]["data"]["kind"].as_str();
    assert!(
        matches!(kind, Some("source_failed" | "source_down")),
        "{failed}"
    );
}

#[tokio::test]
async fn parked_calls_are_cancelled_when_the_gateway_stops() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let parked = ParkedCall::start(&gateway).await;
    gateway.stop().await;
    wait_until("the server receives the cancellation", || async {
        !fixture.received_for("notifications/cancelled").is_empty()
    })
    .await;
    let late = parked.resume().await;
    assert!(late["error"].is_object(), "{late}");
}

/// A call in a session. Its questions are answered as they arrive.
async fn in_session(session: &Session, tool: &str, answer: impl Fn(&Value) -> Value) -> Value {
    answering(session, session.call(tool, json!({})), answer).await
}

async fn answering(session: &Session, call: Request, answer: impl Fn(&Value) -> Value) -> Value {
    let response = call.send().await;
    if !response.is_stream() {
        return response.message().await;
    }
    let mut events = response.events();
    loop {
        let message = events.message().await;
        if message.get("method").is_none() {
            return message;
        }
        if message.get("id").is_some() {
            let answer = answer(&message);
            let mut response = json!({ "jsonrpc": "2.0", "id": message["id"] });
            let member = if answer.get("code").is_some() {
                "error"
            } else {
                "result"
            };
            response[member] = answer;
            assert_eq!(session.post(&response).send().await.status, 202);
        }
    }
}

#[tokio::test]
async fn a_modern_server_asks_a_legacy_client() {
    let fixture = Fixture::modern().start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let session = gateway
        .client()
        .initialize_with(NEWEST_LEGACY, &all_capabilities())
        .await;
    for (tool, method, answer) in [
        (
            "test_input_required_result_elicitation",
            "elicitation/create",
            json!({ "action": "accept", "content": { "name": "ada" } }),
        ),
        (
            "test_input_required_result_sampling",
            "sampling/createMessage",
            json!({
                "role": "assistant", "model": "m", "content": { "type": "text", "text": "ada" },
            }),
        ),
        (
            "test_input_required_result_list_roots",
            "roots/list",
            json!({ "roots": [{ "uri": "file:///ada" }] }),
        ),
    ] {
        let done = in_session(&session, tool, |question| {
            assert_eq!(question["method"], method, "{question}");
            answer.clone()
        })
        .await;
        assert!(done["result"]["content"].is_array(), "{tool}: {done}");
        assert!(done["result"].get("resultType").is_none(), "{done}");
    }
    let refuse = |_: &Value| json!({ "code": -1, "message": "not today" });
    let tool = "test_input_required_result_sampling";
    let refused = in_session(&session, tool, refuse).await;
    assert_eq!(refused["error"]["data"]["kind"], "declined", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("not today"), "{message}");
}

/// X5: a question outside of a call's response belongs to the only call of its session, so each call
/// of such a server has a session of its own.
#[tokio::test]
async fn a_server_with_unlinked_questions_has_one_call_per_session() {
    let fixture =
        Fixture::legacy(NEWEST_LEGACY).with(|settings| settings.questions_on_session_stream = true);
    let fixture = fixture.start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let capabilities = json!({ "elicitation": {} });
    let client = gateway.client();
    let session = client.initialize_with(NEWEST_LEGACY, &capabilities).await;
    let named = |name: &'static str| move |_: &Value| json!({ "action": "accept", "content": { "name": name } });
    in_session(&session, "ask_form", named("first")).await;
    let other = client.initialize_with(NEWEST_LEGACY, &capabilities).await;
    let mut asked = Vec::new();
    // Both are asked before either answers.
    for session in [&session, &other] {
        let mut events = session.call("ask_form", json!({})).send().await.events();
        let question = events.message().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        asked.push((session, events, question["id"].clone()));
    }
    for ((session, mut events, id), name) in asked.into_iter().zip(["ada", "bob"]) {
        let answer = json!({ "action": "accept", "content": { "name": name } });
        let response = json!({ "jsonrpc": "2.0", "id": id, "result": answer });
        assert_eq!(session.post(&response).send().await.status, 202);
        let done = events.message().await;
        let text = done["result"]["content"][0]["text"].to_string();
        assert!(text.contains(name), "{name}: {done}");
    }
}

/// A server may ask for roots right after the handshake, before the log level is set.
#[tokio::test]
async fn a_roots_question_before_the_first_call_belongs_to_it() {
    let unused = legacy().await;
    let gateway =
        RemoteGateway::over_stdio(&unused, &["--era", "legacy", "--roots-after-handshake"]).await;
    let session = gateway
        .client()
        .initialize_with(NEWEST_LEGACY, &all_capabilities())
        .await;
    let level = session.exchange("logging/setLevel", json!({ "level": "debug" }));
    assert!(level.await["result"].is_object());
    let asked = AtomicUsize::new(0);
    let call = session.call("test_slow", json!({}));
    let done = answering(&session, call, |question| {
        assert_eq!(question["method"], "roots/list", "{question}");
        asked.fetch_add(1, Ordering::Relaxed);
        json!({ "roots": [] })
    })
    .await;
    assert!(done["result"]["content"].is_array(), "{done}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// Or when no call is in flight: the next one is asked.
#[tokio::test]
async fn a_roots_question_between_two_calls_belongs_to_the_next() {
    let fixture = Fixture::legacy(NEWEST_LEGACY);
    let fixture = fixture.with(|settings| settings.roots_after_call = true);
    let fixture = fixture.start().await;
    let over_http = RemoteGateway::over(&fixture).await;
    let over_stdio =
        RemoteGateway::over_stdio(&fixture, &["--era", "legacy", "--roots-after-call"]).await;
    for gateway in [&over_http, &over_stdio] {
        let client = gateway.client();
        let session = client
            .initialize_with(NEWEST_LEGACY, &all_capabilities())
            .await;
        let asked = AtomicUsize::new(0);
        // The server asks after the first call; the question is part of the next call after that.
        wait_until("a later call is asked", async || {
            let call = session.call("test_simple_text", json!({}));
            let done = answering(&session, call, |question| {
                assert_eq!(question["method"], "roots/list", "{question}");
                asked.fetch_add(1, Ordering::Relaxed);
                json!({ "roots": [{ "uri": "file:///home/ada" }] })
            })
            .await;
            assert!(done["result"]["content"].is_array(), "{done}");
            asked.load(Ordering::Relaxed) > 0
        })
        .await;
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }
    wait_until("the server has received the roots", async || {
        let received = fixture.received();
        let mut received = received.iter().map(|request| request.message().to_string());
        received.any(|message| message.contains("file:///home/ada"))
    })
    .await;
}
