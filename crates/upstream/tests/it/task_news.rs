//! What changes of tasks, on streams of changes: told to those who began them, and to nobody else.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, program};
use tidegate_testkit::{Client, Events};
use tidegate_upstream::{Command, TransportConfig};

use crate::support::{Behind, wait_until};
use crate::tasks::{CAPABILITIES, ask, begin, knows_tasks, modern, until};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Listens for tasks; gives the stream, and the ids that are agreed to.
async fn listen(client: &Client, ids: &[&str]) -> (Events, Vec<String>) {
    let params = json!({ "notifications": { "taskIds": ids } });
    let listen = client.modern("subscriptions/listen", params).id("\"mine\"");
    let listen = listen.meta(CAPABILITIES, knows_tasks());
    let mut events = Box::pin(listen.events()).await;
    let first = Box::pin(events.message()).await;
    assert_eq!(first["method"], ACKNOWLEDGED, "{first}");
    let agreed = first["params"]["notifications"].get("taskIds").cloned();
    let agreed = agreed.map(|ids| serde_json::from_value(ids).unwrap());
    (events, agreed.unwrap_or_default())
}

/// Begins a task that waits for an answer.
async fn begin_asking(client: &Client, tool: &str) -> String {
    let id = Box::pin(begin(client, tool, json!({ "filename": "f" }))).await;
    Box::pin(until(client, &id, "input_required")).await;
    id
}

async fn answer(client: &Client, id: &str) {
    let answers = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    let params = json!({ "taskId": id, "inputResponses": answers });
    let told = Box::pin(ask(client, "tasks/update", params)).await;
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
}

/// Hears of a task until it is done. All that is heard is about it.
async fn hears_the_end(events: &mut Events, id: &str) -> Value {
    loop {
        let heard = Box::pin(events.message()).await;
        assert_eq!(heard["method"], "notifications/tasks", "{heard}");
        let task = &heard["params"];
        assert_eq!(task["taskId"], id, "{heard}");
        assert_eq!(task["_meta"], json!({ SUBSCRIPTION: "mine" }), "{heard}");
        assert!(task.get("resultType").is_none(), "{heard}");
        if task["status"] == "completed" {
            return task.clone();
        }
    }
}

#[tokio::test]
async fn whoever_began_a_task_hears_of_it() {
    let fixture = modern().await;
    let behind = Behind::of(&fixture).await;
    for (client, tool) in [
        (behind.client(), "confirm_delete"),
        (behind.everywhere(), "server__confirm_delete"),
    ] {
        let id = begin_asking(&client, tool).await;
        let (mut events, agreed) = listen(&client, &[&id]).await;
        assert_eq!(agreed, [id.as_str()]);
        answer(&client, &id).await;
        let done = hears_the_end(&mut events, &id).await;
        assert!(done["result"].to_string().contains("accept"), "{done}");
        let seen = until(&client, &id, "completed").await;
        assert_eq!(done["result"], seen["result"]);
    }
}

#[tokio::test]
async fn a_program_tells_of_tasks_too() {
    let unused = modern().await;
    let behind = Behind::with(&unused, Vec::new(), |config| {
        config.transport = TransportConfig::Stdio(Command {
            program: program().to_str().unwrap().to_owned(),
            args: ["--era", "modern", "--tasks"].map(str::to_owned).into(),
            env: Vec::new(),
            folder: None,
            child_guard: None,
        });
    })
    .await;
    let client = behind.client();
    let ids = [
        begin_asking(&client, "confirm_delete").await,
        begin_asking(&client, "confirm_delete").await,
    ];
    let (mut first, _) = listen(&client, &[&ids[0]]).await;
    let (mut second, agreed) = listen(&client, &[&ids[1]]).await;
    assert_eq!(agreed, [ids[1].as_str()]);
    for id in &ids {
        answer(&client, id).await;
    }
    hears_the_end(&mut first, &ids[0]).await;
    hears_the_end(&mut second, &ids[1]).await;
}

/// An id is good for the one who got it, as it was given out: others are left out of what is agreed
/// to, and the server is not asked about them.
#[tokio::test]
async fn nobody_else_hears_of_a_task() {
    let fixture = modern().await;
    let keys = [("ada", "key-of-ada"), ("bob", "key-of-bob")];
    let behind = Behind::for_principals(keys, &fixture, |_| {}).await;
    let ada = behind.client().with_key("key-of-ada");
    let bob = behind.client().with_key("key-of-bob");
    let of_ada = begin_asking(&ada, "confirm_delete").await;
    let of_bob = begin_asking(&bob, "confirm_delete").await;
    fixture.clear_received();
    let tampered = format!("{of_bob}x");
    let foreign = [of_ada.as_str(), &tampered, "task-1", ""];
    let (_nothing, agreed) = listen(&bob, &foreign).await;
    assert!(agreed.is_empty(), "{agreed:?}");
    let asked = fixture.received_for("subscriptions/listen");
    assert!(asked.is_empty(), "the server is not asked");

    let all = [of_ada.as_str(), &of_bob, &tampered];
    let (mut heard_by_bob, agreed) = listen(&bob, &all).await;
    assert_eq!(agreed, [of_bob.as_str()]);
    let (mut heard_by_ada, agreed) = listen(&ada, &all).await;
    assert_eq!(agreed, [of_ada.as_str()]);
    for heard in fixture.received_for("subscriptions/listen") {
        let ids = &heard.message()["params"]["notifications"]["taskIds"];
        assert_eq!(ids.as_array().unwrap().len(), 1, "{ids}");
    }
    answer(&ada, &of_ada).await;
    hears_the_end(&mut heard_by_ada, &of_ada).await;
    answer(&bob, &of_bob).await;
    hears_the_end(&mut heard_by_bob, &of_bob).await;
    // Another source's endpoint has none of it.
    let elsewhere = behind.everywhere().with_key("key-of-bob").at("/mcp/fake");
    let (_nothing, agreed) = listen(&elsewhere, &[&of_bob]).await;
    assert!(agreed.is_empty(), "{agreed:?}");
}

#[tokio::test]
async fn what_the_server_does_not_tell_of_is_not_agreed_to() {
    let fixture = Fixture::modern().with(|settings| {
        settings.tasks = true;
        settings.no_task_notifications = true;
    });
    let fixture = fixture.start().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
    let id = begin_asking(&client, "confirm_delete").await;
    let (_events, agreed) = listen(&client, &[&id]).await;
    assert!(agreed.is_empty(), "{agreed:?}");
}

#[tokio::test]
async fn whoever_does_not_know_tasks_is_not_told_of_any() {
    let fixture = modern().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
    let params = json!({ "notifications": { "taskIds": ["t"] } });
    let mut refused = client.modern("subscriptions/listen", params).send().await;
    assert_eq!(refused.status, 400);
    let refused: Value = serde_json::from_str(&refused.text().await).unwrap();
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

/// The server is listened to for as long as somebody wants to know, or there is something to tell.
#[tokio::test]
async fn the_server_is_let_be_when_nobody_listens() {
    let fixture = modern().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
    let id = begin_asking(&client, "confirm_delete").await;
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
    hears_the_end(&mut events, &id).await;
    wait_until("the stream is closed", || async {
        fixture.listeners() == usual
    })
    .await;
}

/// What happens while there is no stream to the server is seen when there is one again.
#[tokio::test]
async fn a_stream_that_ended_is_opened_again_and_nothing_is_missed() {
    let fixture = modern().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client();
    let (one, other) = (
        begin_asking(&client, "confirm_delete").await,
        begin_asking(&client, "confirm_delete").await,
    );
    let (mut events, _) = listen(&client, &[&one]).await;
    let (mut others, _) = listen(&client, &[&other]).await;
    fixture.end_subscriptions();
    answer(&client, &one).await;
    hears_the_end(&mut events, &one).await;
    // And it is heard on as before.
    let seen = others.message().await;
    assert_eq!(seen["params"]["status"], "input_required", "{seen}");
    answer(&client, &other).await;
    hears_the_end(&mut others, &other).await;
}
