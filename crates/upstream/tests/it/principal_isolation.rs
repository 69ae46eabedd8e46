//! Two principals at one server that sends questions: no question and no answer reaches the wrong one
//! (X5, security T18 and T21).

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use tidegate_testkit::fixture::{self, Fixture};
use tidegate_testkit::{Client, NEWEST_LEGACY, Session};
use tidegate_upstream::{Command, TransportConfig};

use crate::support::RemoteGateway;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const KEYS: [(&str, &str); 2] = [("ada", "the-key-of-ada-00"), ("bob", "the-key-of-bob-00")];

/// Calls per principal and era of the client.
const CALLS: usize = 250;
const CONCURRENCY: usize = 40;

fn all_capabilities() -> Value {
    json!({ "elicitation": {}, "sampling": {} })
}

/// Checks that the question belongs to the call with this marker, and answers it.
fn answer(marker: &str, question: &Value) -> Value {
    let params = question["params"].to_string();
    assert!(params.contains(marker), "{marker} was asked {question}");
    json!({ "action": "accept", "content": { "username": marker, "email": "x@y.z" } })
}

async fn stateless(client: &Client, marker: &str) -> Value {
    let ask = |more: Value| {
        let mut params = json!({ "name": "test_elicitation", "arguments": { "message": marker } });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        let request = client.modern("tools/call", params);
        request.meta(CAPABILITIES, all_capabilities())
    };
    let asked = ask(json!({})).send().await.message().await;
    let questions = asked["result"]["inputRequests"].as_object();
    let questions = questions.unwrap_or_else(|| panic!("{marker}: {asked}"));
    let answers: serde_json::Map<_, _> = questions
        .iter()
        .map(|(key, question)| (key.clone(), answer(marker, question)))
        .collect();
    let state = &asked["result"]["requestState"];
    let more = json!({ "inputResponses": answers, "requestState": state });
    ask(more).send().await.message().await
}

async fn in_session(session: &Session, marker: &str) -> Value {
    let call = session.call("test_elicitation", json!({ "message": marker }));
    let mut events = call.send().await.events();
    loop {
        let message = events.message().await;
        if message.get("method").is_none() {
            return message;
        }
        if let Some(id) = message.get("id") {
            let result = answer(marker, &message);
            let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            assert_eq!(session.post(&response).send().await.status, 202);
        }
    }
}

async fn many_calls(gateway: &RemoteGateway) {
    let clients = KEYS.map(|(who, key)| (who, gateway.client().with_key(key)));
    let mut sessions = Vec::new();
    for (who, client) in &clients {
        let session = client
            .initialize_with(NEWEST_LEGACY, &all_capabilities())
            .await;
        sessions.push((*who, Arc::new(session)));
    }
    let calls = (0..CALLS).flat_map(|number| {
        let stateless = clients.iter().map(move |(who, client)| {
            let marker = format!("{who}-without-{number}-end");
            let client = client.clone();
            Box::pin(async move { (stateless(&client, &marker).await, marker) }) as Call
        });
        let in_session = sessions.iter().map(move |(who, session)| {
            let marker = format!("{who}-within-{number}-end");
            let session = Arc::clone(session);
            Box::pin(async move { (in_session(&session, &marker).await, marker) }) as Call
        });
        stateless.chain(in_session).collect::<Vec<_>>()
    });
    let mut answered = stream::iter(calls).buffer_unordered(CONCURRENCY);
    let mut count = 0;
    while let Some((done, marker)) = answered.next().await {
        let text = done["result"]["content"].to_string();
        assert!(text.contains(&marker), "{marker}: {done}");
        count += 1;
    }
    assert_eq!(count, 4 * CALLS);
}

type Call = std::pin::Pin<Box<dyn Future<Output = (Value, String)> + Send>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_over_http_get_their_own_questions() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let gateway = RemoteGateway::for_principals(KEYS, &fixture, |_| {}).await;
    many_calls(&gateway).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_over_stdio_get_their_own_questions() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let gateway = RemoteGateway::for_principals(KEYS, &fixture, |config| {
        config.transport = TransportConfig::Stdio(Command::new(
            fixture::program().display().to_string(),
            vec!["--era".to_owned(), "legacy".to_owned()],
        ));
    })
    .await;
    many_calls(&gateway).await;
}

#[tokio::test]
async fn a_request_state_is_rejected_for_another_principal() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let gateway = RemoteGateway::for_principals(KEYS, &fixture, |_| {}).await;
    let [ada, bob] = KEYS.map(|(_, key)| gateway.client().with_key(key));
    let call = |client: &Client, more: &Value| {
        let mut params = json!({ "name": "test_elicitation", "arguments": { "message": "m" } });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        client
            .modern("tools/call", params)
            .meta(CAPABILITIES, all_capabilities())
    };
    let asked = call(&ada, &json!({})).send().await.message().await;
    let answers = json!({ "k1": { "action": "accept", "content": {} } });
    let more = json!({
        "inputResponses": answers, "requestState": asked["result"]["requestState"],
    });
    let stolen = call(&bob, &more).send().await.message().await;
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    let own = call(&ada, &more).send().await.message().await;
    assert!(own["result"]["content"].is_array(), "{own}");
}
