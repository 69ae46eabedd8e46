//! Tasks: relayed to clients with the extension, and run to completion for all others.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, RunningFixture, program};
use tidegate_testkit::policy::Deadline;
use tidegate_testkit::{Client, NEWEST_LEGACY, wait_until};
use tidegate_upstream::{Command, TransportConfig};

use crate::support::RemoteGateway;

pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const TASKS: &str = "io.modelcontextprotocol/tasks";
const RELATED: &str = "io.modelcontextprotocol/related-task";

pub(crate) fn tasks_extension() -> Value {
    json!({ "elicitation": {}, "extensions": { TASKS: {} } })
}

pub(crate) async fn modern() -> RunningFixture {
    let fixture = Fixture::modern().with(|settings| settings.tasks = true);
    fixture.start().await
}

async fn legacy() -> RunningFixture {
    let fixture = Fixture::legacy(NEWEST_LEGACY).with(|settings| settings.tasks = true);
    fixture.start().await
}

/// Sends a request as a client with the tasks extension, and returns the response.
pub(crate) async fn request(client: &Client, method: &str, params: Value) -> Value {
    let request = client.modern(method, params);
    request
        .meta(CAPABILITIES, tasks_extension())
        .message()
        .await
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    request(client, "tools/call", params).await
}

/// Starts a task and returns its id.
pub(crate) async fn start_task(client: &Client, tool: &str, arguments: Value) -> String {
    let begun = call(client, tool, arguments).await;
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    begun["result"]["taskId"].as_str().unwrap().to_owned()
}

/// Polls a task until it has this status.
pub(crate) async fn poll_until(client: &Client, id: &str, status: &str) -> Value {
    let seen = Mutex::new(Value::Null);
    wait_until(status, || async {
        let task = request(client, "tasks/get", json!({ "taskId": id })).await;
        assert_eq!(task["result"]["taskId"], id, "{task}");
        let is_so = task["result"]["status"] == status;
        *seen.lock().unwrap() = task["result"].clone();
        is_so
    })
    .await;
    seen.into_inner().unwrap()
}

#[tokio::test]
async fn a_task_is_relayed_with_an_id_of_the_gateway() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let id = start_task(&client, "failing_job", json!({})).await;
    assert!(!id.contains("task-"), "{id}");
    let done = poll_until(&client, &id, "completed").await;
    assert_eq!(done["result"]["isError"], true, "{done}");
    let received = fixture.received_for("tasks/get").pop().unwrap();
    let native = received.message()["params"]["taskId"].clone();
    assert_eq!(received.header("mcp-name"), native.as_str());
    assert!(native.as_str().unwrap().starts_with("task-"), "{native}");
}

#[tokio::test]
async fn a_task_gets_input_and_is_cancelled() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let id = start_task(&client, "confirm_delete", json!({ "filename": "f" })).await;
    let asking = poll_until(&client, &id, "input_required").await;
    assert!(asking["inputRequests"]["confirm"].is_object(), "{asking}");
    let answers = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    let params = json!({ "taskId": id, "inputResponses": answers });
    let updated = request(&client, "tasks/update", params).await;
    assert_eq!(updated["result"]["resultType"], "complete", "{updated}");
    let done = poll_until(&client, &id, "completed").await;
    assert!(done.to_string().contains("accept"), "{done}");

    let id = start_task(&client, "slow_compute", json!({ "seconds": 3600 })).await;
    let ended = request(&client, "tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(ended["result"]["resultType"], "complete", "{ended}");
    poll_until(&client, &id, "cancelled").await;
}

#[tokio::test]
async fn a_task_id_leads_to_its_source() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let (all, server_only) = (gateway.client_of_all_sources(), gateway.client());
    let id = start_task(&all, "server__failing_job", json!({})).await;
    poll_until(&all, &id, "completed").await;
    poll_until(&server_only, &id, "completed").await;
    let elsewhere = all.at("/mcp/fake");
    let unknown = request(&elsewhere, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for client in [&all, &server_only] {
        let about = request(client, "server/discover", json!({})).await;
        let extensions = &about["result"]["capabilities"]["extensions"];
        assert!(extensions[TASKS].is_object(), "{about}");
    }
    let about = request(&elsewhere, "server/discover", json!({})).await;
    let capabilities = &about["result"]["capabilities"];
    assert!(capabilities.get("extensions").is_none(), "{about}");
}

/// A task id is valid only for its principal, and only unchanged.
#[tokio::test]
async fn a_task_of_another_principal_does_not_exist() {
    let fixture = modern().await;
    let gateway = RemoteGateway::build(
        &fixture,
        Vec::new(),
        |_| {},
        |gateway| gateway.keys([("ada", "key-of-ada"), ("bob", "key-of-bob")]),
    )
    .await;
    let ada = gateway.client().with_key("key-of-ada");
    let bob = gateway.client().with_key("key-of-bob");
    let id = start_task(&ada, "slow_compute", json!({ "seconds": 3600 })).await;
    let tampered = format!("{id}x");
    for (client, id) in [(&bob, &id), (&ada, &tampered), (&ada, &"task-1".to_owned())] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let refused = request(client, method, params).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
    }
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert!(fixture.received_for(method).is_empty(), "{method}");
    }
    poll_until(&ada, &id, "working").await;
}

#[tokio::test]
async fn a_client_without_the_extension_gets_no_tasks() {
    let fixture = modern().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let done = client.modern_call("slow_compute", json!({ "seconds": 0 }));
    let done = done.message().await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let received = fixture.received_for("tools/call").pop().unwrap().message();
    assert_eq!(received["params"]["_meta"][CAPABILITIES], json!({}));

    let session = client
        .initialize_with(NEWEST_LEGACY, &tasks_extension())
        .await;
    let done = session.call("slow_compute", json!({ "seconds": 0 }));
    let done = done.send().await.message().await;
    assert!(done["result"]["content"].is_array(), "{done}");
    let received = fixture.received_for("tools/call").pop().unwrap().message();
    let declared = &received["params"]["_meta"][CAPABILITIES];
    assert!(declared["extensions"].get(TASKS).is_none(), "{received}");

    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": "t", "inputResponses": {} });
        let mut answer = client.modern(method, params).send().await;
        assert_eq!(answer.status, 400);
        let refused: Value = serde_json::from_str(&answer.text().await).unwrap();
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        let needed = &refused["error"]["data"]["requiredCapabilities"];
        assert!(needed["extensions"][TASKS].is_object(), "{refused}");
    }
}

#[tokio::test]
async fn a_tool_that_requires_a_task_works_for_every_client() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let session = client.initialize(NEWEST_LEGACY).await;
    let old = client.initialize("2024-11-05").await;
    for tool in ["task_required", "task_optional"] {
        let known = call(&client, tool, json!({})).await;
        let plain = client.modern_call(tool, json!({})).message().await;
        let in_session = session.call(tool, json!({})).send().await.message().await;
        let long_ago = old.call(tool, json!({})).send().await.message().await;
        for done in [known, plain, in_session, long_ago] {
            let text = &done["result"]["content"][0]["text"];
            assert_eq!(*text, format!("{tool} is done."), "{done}");
            let meta = done["result"]["_meta"].get(RELATED);
            assert!(meta.is_none(), "{done}");
        }
    }
    let augmented = fixture.received_for("tools/call");
    let augmented = augmented
        .iter()
        .map(|received| received.message()["params"].clone());
    for params in augmented {
        let is_task = params.get("task").is_some();
        assert_eq!(is_task, params["name"] == "task_required", "{params}");
    }
    let listed = session.exchange("tools/list", json!({})).await.to_string();
    assert!(listed.contains("task_required") && !listed.contains("taskSupport"));
}

/// Runs a task of a legacy server that sends a question and continues with the answer.
async fn answer_question_of_task(client: &Client) {
    let asked = call(client, "task_required", json!({ "asks": true })).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let question = &asked["result"]["inputRequests"]["k1"];
    assert!(question["params"].get("_meta").is_none(), "{asked}");
    let accept = json!({ "action": "accept", "content": { "ok": true } });
    let params = json!({
        "name": "task_required",
        "arguments": { "asks": true },
        "inputResponses": { "k1": accept },
        "requestState": asked["result"]["requestState"],
    });
    let done = request(client, "tools/call", params).await;
    assert!(done["result"].to_string().contains("accept"), "{done}");
}

/// The question of a task belongs to its call, on whichever stream it arrives.
#[tokio::test]
async fn the_question_of_a_task_reaches_the_client_of_its_call() {
    for on_session_stream in [false, true] {
        let fixture = Fixture::legacy(NEWEST_LEGACY).with(|settings| {
            settings.tasks = true;
            settings.questions_on_session_stream = on_session_stream;
        });
        let fixture = fixture.start().await;
        let gateway = RemoteGateway::over(&fixture).await;
        answer_question_of_task(&gateway.client()).await;
    }
}

#[tokio::test]
async fn the_question_of_a_task_arrives_over_stdio() {
    let unused = legacy().await;
    for more in [None, Some("--questions-on-session-stream")] {
        let gateway = RemoteGateway::with(&unused, Vec::new(), |config| {
            let args = ["--era", "legacy", "--tasks"].into_iter().chain(more);
            config.transport = TransportConfig::Stdio(Command::new(
                program().to_str().unwrap().to_owned(),
                args.map(str::to_owned).collect(),
            ));
        })
        .await;
        answer_question_of_task(&gateway.client()).await;
    }
}

#[tokio::test]
async fn a_task_is_cancelled_with_its_call() {
    let fixture = legacy().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let begun = client.modern_call("task_required", json!({ "ms": 3_600_000 }));
    let begun = begun.request().send_only().await;
    wait_until("the task is polled", || async {
        !fixture.received_for("tasks/get").is_empty()
    })
    .await;
    drop(begun);
    wait_until("the task is cancelled", || async {
        !fixture.received_for("tasks/cancel").is_empty()
    })
    .await;
}

/// The timeout of a call applies to its task; progress of the task extends it.
#[tokio::test]
async fn a_task_has_the_timeout_of_its_call() {
    let fixture = legacy().await;
    let deadline = Arc::new(Deadline {
        call_timeout: Duration::from_secs(3),
        max_call_duration: Duration::from_secs(3600),
    });
    let gateway = RemoteGateway::with(&fixture, vec![deadline], |_| {}).await;
    let client = gateway.client();
    let slow = json!({ "ms": 700, "steps": 7 });
    let done = client.modern_call("task_required", slow).message().await;
    assert!(done["result"]["content"].is_array(), "{done}");
    let stuck = json!({ "ms": 3_600_000 });
    let late = client.modern_call("task_required", stuck).message().await;
    assert_eq!(late["error"]["data"]["kind"], "timeout", "{late}");
    wait_until("the task is cancelled", || async {
        !fixture.received_for("tasks/cancel").is_empty()
    })
    .await;
}
