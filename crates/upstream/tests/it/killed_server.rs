//! A server process is killed with a thousand calls in flight: each gets one response, the process is
//! restarted, and subscriptions are restored.

use std::time::Duration;

use futures_util::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tidegate_testkit::fixture::{self, Fixture};
use tidegate_testkit::{Client, Events, NEWEST_LEGACY, Request, wait_until};
use tidegate_upstream::{Command, Sharing, TransportConfig};

use crate::support::RemoteGateway;

const WITHOUT_SESSION: usize = 700;
const IN_SESSION: usize = 300;
const RESOURCE: &str = "test://watched-resource";

/// A gateway over a server process of this era.
async fn start(era: &str) -> RemoteGateway {
    let unused = Fixture::modern().start().await;
    let args = ["--era", era, "--faults"].map(str::to_owned).to_vec();
    let stdio =
        TransportConfig::Stdio(Command::new(fixture::program().display().to_string(), args));
    let change = |config: &mut tidegate_upstream::RemoteConfig| {
        config.transport = stdio;
        config.sharing = Sharing::Shared;
    };
    RemoteGateway::build(&unused, Vec::new(), change, |gateway| {
        gateway.limits(|limits| limits.max_concurrent_calls_per_session = 2 * IN_SESSION)
    })
    .await
}

async fn text(client: &Client, tool: &str, arguments: Value) -> Option<String> {
    let call = Box::pin(client.modern_call(tool, arguments).send()).await;
    let answer = Box::pin(call.message()).await;
    let text = answer["result"]["content"][0]["text"].as_str();
    text.map(str::to_owned)
}

async fn process(client: &Client) -> Option<Pid> {
    let id = text(client, "process_id", json!({})).await?;
    Pid::from_raw(id.parse().unwrap())
}

/// How many calls the process has received.
async fn in_flight(client: &Client) -> usize {
    let received = text(
        client,
        "received_messages",
        json!({ "method": "tools/call" }),
    )
    .await;
    received.map_or(0, |received| received.matches("fault_hang").count())
}

/// Expects exactly one response, an error of the source.
async fn expect_one_error(call: Request) {
    let answers = Box::pin(call.send()).await;
    let answers = Box::pin(answers.messages()).await;
    let answers: Vec<_> = answers
        .iter()
        .filter(|settings| settings.get("method").is_none())
        .collect();
    let [answer] = &answers[..] else {
        panic!("{} answers: {answers:?}", answers.len())
    };
    assert_eq!(answer["error"]["data"]["kind"], "source_failed", "{answer}");
}

async fn expect_update(events: &mut Events) {
    loop {
        let message = events.message().await;
        if message["method"] == "notifications/resources/updated" {
            assert_eq!(message["params"]["uri"], RESOURCE);
            return;
        }
    }
}

async fn kill_with_calls_in_flight(era: &str) {
    let gateway = Box::pin(start(era)).await;
    let client = gateway.client();
    let session = Box::pin(client.initialize(NEWEST_LEGACY)).await;
    let mut in_session = Box::pin(session.stream()).await;
    let subscribed = session.exchange("resources/subscribe", json!({ "uri": RESOURCE }));
    assert!(Box::pin(subscribed).await["result"].is_object());
    let filter = json!({ "notifications": { "resourceSubscriptions": [RESOURCE] } });
    let listen = client.modern("subscriptions/listen", filter);
    let mut without_session = Box::pin(listen.send()).await.events();
    without_session.message().await;

    let first = process(&client).await.expect("the process responds");
    let none = || json!({});
    let stateless =
        (0..WITHOUT_SESSION).map(|_| client.modern_call("fault_hang", none()).request());
    let with_session = (0..IN_SESSION).map(|_| session.call("fault_hang", none()));
    let calls = stateless.chain(with_session);
    let calls: Vec<_> = calls
        .map(|call| tokio::spawn(Box::pin(expect_one_error(call))))
        .collect();
    wait_until("all calls are in flight", || async {
        in_flight(&client).await == WITHOUT_SESSION + IN_SESSION
    })
    .await;
    kill_process(first, Signal::KILL).unwrap();
    for call in join_all(calls).await {
        call.unwrap();
    }
    wait_until("the process is restarted", || async {
        process(&client).await.is_some_and(|now| now != first)
    })
    .await;
    // One update covers what may have been missed; then updates arrive again.
    for events in [&mut in_session, &mut without_session] {
        expect_update(events).await;
    }
    let trigger = async {
        loop {
            text(&client, "test_trigger_resource_update", json!({})).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::select! {
        () = trigger => {}
        () = async { expect_update(&mut in_session).await; expect_update(&mut without_session).await } => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_legacy_server_is_restarted_and_every_call_gets_one_response() {
    Box::pin(kill_with_calls_in_flight("legacy")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_modern_server_is_restarted_and_every_call_gets_one_response() {
    Box::pin(kill_with_calls_in_flight("modern")).await;
}
