//! A program that is killed while a thousand calls are under way: each is answered once, the program
//! is back, and so are the subscriptions.

use std::time::Duration;

use futures_util::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tidegate_testkit::fixture::{self, Fixture};
use tidegate_testkit::{Client, Events, NEWEST_LEGACY, Request};
use tidegate_upstream::{Command, TransportConfig};

use crate::support::{Behind, wait_until};

const WITHOUT_SESSION: usize = 700;
const IN_SESSION: usize = 300;
const WATCHED: &str = "test://watched-resource";

/// A gateway over a program that speaks like this.
async fn behind(era: &str) -> Behind {
    let unused = Fixture::modern().start().await;
    let args = ["--era", era, "--faults"].map(str::to_owned).to_vec();
    let stdio = TransportConfig::Stdio(Command {
        program: fixture::program().display().to_string(),
        args,
        env: Vec::new(),
        folder: None,
        child_guard: None,
    });
    let change = |config: &mut tidegate_upstream::RemoteConfig| config.transport = stdio;
    Behind::before(&unused, Vec::new(), change, |gateway| {
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

/// How many calls the program has got.
async fn under_way(client: &Client) -> usize {
    let heard = text(
        client,
        "received_messages",
        json!({ "method": "tools/call" }),
    )
    .await;
    heard.map_or(0, |heard| heard.matches("fault_hang").count())
}

/// Exactly one answer, and it says whose fault it is.
async fn answered_once(call: Request) {
    let answers = Box::pin(call.send()).await;
    let answers = Box::pin(answers.messages()).await;
    let answers: Vec<_> = answers
        .iter()
        .filter(|one| one.get("method").is_none())
        .collect();
    let [answer] = &answers[..] else {
        panic!("{} answers: {answers:?}", answers.len())
    };
    assert_eq!(answer["error"]["data"]["kind"], "source_failed", "{answer}");
}

async fn updated(events: &mut Events) {
    loop {
        let message = events.message().await;
        if message["method"] == "notifications/resources/updated" {
            assert_eq!(message["params"]["uri"], WATCHED);
            return;
        }
    }
}

async fn is_killed(era: &str) {
    let behind = Box::pin(behind(era)).await;
    let client = behind.client();
    let session = Box::pin(client.initialize(NEWEST_LEGACY)).await;
    let mut in_session = Box::pin(session.stream()).await;
    let subscribed = session.exchange("resources/subscribe", json!({ "uri": WATCHED }));
    assert!(Box::pin(subscribed).await["result"].is_object());
    let filter = json!({ "notifications": { "resourceSubscriptions": [WATCHED] } });
    let listen = client.modern("subscriptions/listen", filter);
    let mut without_session = Box::pin(listen.send()).await.events();
    without_session.message().await;

    let first = process(&client).await.expect("the program answers");
    let none = || json!({});
    let stateless =
        (0..WITHOUT_SESSION).map(|_| client.modern_call("fault_hang", none()).request());
    let with_session = (0..IN_SESSION).map(|_| session.call("fault_hang", none()));
    let calls = stateless.chain(with_session);
    let calls: Vec<_> = calls
        .map(|call| tokio::spawn(Box::pin(answered_once(call))))
        .collect();
    wait_until("all calls are under way", || async {
        under_way(&client).await == WITHOUT_SESSION + IN_SESSION
    })
    .await;
    kill_process(first, Signal::KILL).unwrap();
    for answered in join_all(calls).await {
        answered.unwrap();
    }
    wait_until("the program is back", || async {
        process(&client).await.is_some_and(|now| now != first)
    })
    .await;
    // One update is made up for what may have been missed, and then they come again.
    for events in [&mut in_session, &mut without_session] {
        updated(events).await;
    }
    let trigger = async {
        loop {
            text(&client, "test_trigger_resource_update", json!({})).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::select! {
        () = trigger => {}
        () = async { updated(&mut in_session).await; updated(&mut without_session).await } => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_has_sessions() {
    Box::pin(is_killed("legacy")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_has_none() {
    Box::pin(is_killed("modern")).await;
}
