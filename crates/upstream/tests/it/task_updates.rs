//! Task updates on change streams: only the client that started a task receives them.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, program};
use tidegate_testkit::{Client, Events, wait_until};
use tidegate_upstream::{Command, TransportConfig};

use crate::support::RemoteGateway;
use crate::tasks::{CAPABILITIES, modern, poll_until, request, start_task, tasks_extension};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Opens a change stream for tasks. Returns the stream and the acknowledged ids.
async fn listen(client: &Client, ids: &[&str]) -> (Events, Vec<String>) {
    let params = json!({ "notifications": { "taskIds": ids } });
    let listen = client.modern("subscriptions/listen", params).id("\"mine\"");
    let listen = listen.meta(CAPABILITIES, tasks_extension());
    let mut events = Box::pin(listen.events()).await;
    let first = Box::pin(events.message()).await;
    assert_eq!(first["method"], ACKNOWLEDGED, "{first}");
    let acknowledged = first["params"]["notifications"].get("taskIds").cloned();
    let acknowledged = acknowledged.map(|ids| serde_json::from_value(ids).unwrap());
    (events, acknowledged.unwrap_or_default())
}

/// Starts a task that waits for input.
async fn start_with_question(client: &Client, tool: &str) -> String {
    let id = Box::pin(start_task(client, tool, json!({ "filename": "f" }))).await;
    Box::pin(poll_until(client, &id, "input_required")).await;
    id
}

async fn answer(client: &Client, id: &str) {
    let answers = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    let params = json!({ "taskId": id, "inputResponses": answers });
    let updated = Box::pin(request(client, "tasks/update", params)).await;
    assert_eq!(updated["result"]["resultType"], "complete", "{updated}");
}

/// Reads updates until the task is completed. All of them must be about it.
async fn read_until_completed(events: &mut Events, id: &str) -> Value {
    loop {
        let message = Box::pin(events.message()).await;
        assert_eq!(message["method"], "notifications/tasks", "{message}");
        let task = &message["params"];
        assert_eq!(task["taskId"], id, "{message}");
        assert_eq!(task["_meta"], json!({ SUBSCRIPTION: "mine" }), "{message}");
        assert!(task.get("resultType").is_none(), "{message}");
        if task["status"] == "completed" {
            return task.clone();
        }
    }
}

#[tokio::test]
async fn the_client_that_started_a_task_receives_its_updates() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    for (client, tool) in [
        (gateway.client(), "confirm_delete"),
        (gateway.client_of_all_sources(), "server__confirm_delete"),
    ] {
        let id = start_with_question(&client, tool).await;
        let (mut events, acknowledged) = listen(&client, &[&id]).await;
        assert_eq!(acknowledged, [id.as_str()]);
        answer(&client, &id).await;
        let done = read_until_completed(&mut events, &id).await;
        assert!(done["result"].to_string().contains("accept"), "{done}");
        let seen = poll_until(&client, &id, "completed").await;
        assert_eq!(done["result"], seen["result"]);
    }
}

#[tokio::test]
async fn task_updates_arrive_over_stdio() {
    let unused = modern().await;
    let gateway = RemoteGateway::with(&unused, Vec::new(), |config| {
        config.transport = TransportConfig::Stdio(Command::new(
            program().to_str().unwrap().to_owned(),
            ["--era", "modern", "--tasks"].map(str::to_owned).into(),
        ));
    })
    .await;
    let client = gateway.client();
    let ids = [
        start_with_question(&client, "confirm_delete").await,
        start_with_question(&client, "confirm_delete").await,
    ];
    let (mut first, _) = listen(&client, &[&ids[0]]).await;
    let (mut second, acknowledged) = listen(&client, &[&ids[1]]).await;
    assert_eq!(acknowledged, [ids[1].as_str()]);
    for id in &ids {
        answer(&client, id).await;
    }
    read_until_completed(&mut first, &ids[0]).await;
    read_until_completed(&mut second, &ids[1]).await;
}

/// Ids of other principals and tampered ids are not acknowledged, and not sent to the server.
#[tokio::test]
async fn another_principal_receives_no_updates() {
    let fixture = modern().await;
    let keys = [("ada", "key-of-ada"), ("bob", "key-of-bob")];
    let gateway = RemoteGateway::for_principals(keys, &fixture, |_| {}).await;
    let ada = gateway.client().with_key("key-of-ada");
    let bob = gateway.client().with_key("key-of-bob");
    let of_ada = start_with_question(&ada, "confirm_delete").await;
    let of_bob = start_with_question(&bob, "confirm_delete").await;
    fixture.clear_received();
    let tampered = format!("{of_bob}x");
    let foreign = [of_ada.as_str(), &tampered, "task-1", ""];
    let (_nothing, acknowledged) = listen(&bob, &foreign).await;
    assert!(acknowledged.is_empty(), "{acknowledged:?}");
    let asked = fixture.received_for("subscriptions/listen");
    assert!(asked.is_empty(), "the server is not asked");

    let all = [of_ada.as_str(), &of_bob, &tampered];
    let (mut events_of_bob, acknowledged) = listen(&bob, &all).await;
    assert_eq!(acknowledged, [of_bob.as_str()]);
    let (mut events_of_ada, acknowledged) = listen(&ada, &all).await;
    assert_eq!(acknowledged, [of_ada.as_str()]);
    for request in fixture.received_for("subscriptions/listen") {
        let ids = &request.message()["params"]["notifications"]["taskIds"];
        assert_eq!(ids.as_array().unwrap().len(), 1, "{ids}");
    }
    answer(&ada, &of_ada).await;
    read_until_completed(&mut events_of_ada, &of_ada).await;
    answer(&bob, &of_bob).await;
    read_until_completed(&mut events_of_bob, &of_bob).await;
    // The task does not exist at the endpoint of another source.
    let elsewhere = gateway
        .client_of_all_sources()
        .with_key("key-of-bob")
        .at("/mcp/fake");
    let (_nothing, acknowledged) = listen(&elsewhere, &[&of_bob]).await;
    assert!(acknowledged.is_empty(), "{acknowledged:?}");
}

#[tokio::test]
async fn only_tasks_that_the_server_acknowledges_are_acknowledged() {
    let fixture = Fixture::modern().with(|settings| {
        settings.tasks = true;
        settings.no_task_notifications = true;
    });
    let fixture = fixture.start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let id = start_with_question(&client, "confirm_delete").await;
    let (_events, acknowledged) = listen(&client, &[&id]).await;
    assert!(acknowledged.is_empty(), "{acknowledged:?}");
}

#[tokio::test]
async fn a_client_without_the_extension_cannot_subscribe_to_tasks() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let params = json!({ "notifications": { "taskIds": ["t"] } });
    let mut refused = client.modern("subscriptions/listen", params).send().await;
    assert_eq!(refused.status, 400);
    let refused: Value = serde_json::from_str(&refused.text().await).unwrap();
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

/// The stream to the server is open while a client listens and the task runs.
#[tokio::test]
async fn the_stream_to_the_server_is_closed_when_nobody_listens() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let id = start_with_question(&client, "confirm_delete").await;
    let usual = fixture.listeners();
    let (events, _) = listen(&client, &[&id]).await;
    assert_eq!(fixture.listeners(), usual + 1);
    drop(events);
    wait_until("the stream is closed", || async {
        fixture.listeners() == usual
    })
    .await;
    let (mut events, _) = listen(&client, &[&id]).await;
    answer(&client, &id).await;
    read_until_completed(&mut events, &id).await;
    wait_until("the stream is closed", || async {
        fixture.listeners() == usual
    })
    .await;
}

/// Updates that happened without a stream are fetched when it is open again.
#[tokio::test]
async fn a_stream_that_ended_is_reopened_and_no_update_is_missed() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let (first, other) = (
        start_with_question(&client, "confirm_delete").await,
        start_with_question(&client, "confirm_delete").await,
    );
    let (mut events, _) = listen(&client, &[&first]).await;
    let (mut others, _) = listen(&client, &[&other]).await;
    fixture.end_subscriptions();
    answer(&client, &first).await;
    read_until_completed(&mut events, &first).await;
    // Later updates arrive as before.
    let seen = others.message().await;
    assert_eq!(seen["params"]["status"], "input_required", "{seen}");
    answer(&client, &other).await;
    read_until_completed(&mut others, &other).await;
}
