//! Servers keep state between calls: behind the gateway each client has its own process, as if it were
//! connected directly.

use std::collections::BTreeSet;
use std::fs;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_testkit::fixture::{self, Fixture};
use tidegate_testkit::{Client, NEWEST_LEGACY, Session, wait_until};
use tidegate_upstream::{RemoteConfig, Sharing};

use crate::support::{RemoteGateway, stdio};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const ERAS: [&str; 2] = ["legacy", "modern"];

/// A gateway over a fixture process of this era, with a changed configuration.
async fn gateway(era: &str, change: impl FnOnce(&mut RemoteConfig)) -> RemoteGateway {
    let unused = Fixture::modern().start().await;
    let program = fixture::program().display().to_string();
    RemoteGateway::with(&unused, Vec::new(), |config| {
        config.transport = stdio(&program, &["--era", era]);
        change(config);
    })
    .await
}

fn all_capabilities() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": { "listChanged": true } })
}

fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Calls a tool as a modern client with all capabilities and this name.
async fn call(client: &Client, name: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let request = client.modern("tools/call", params);
    let request = request.meta(CAPABILITIES, all_capabilities());
    let request = request.meta(CLIENT_INFO, json!({ "name": name, "version": "1" }));
    Box::pin(request.message()).await
}

async fn process_of(client: &Client, name: &str) -> String {
    text(&call(client, name, "process_id", json!({})).await)
}

async fn process_in(session: &Session) -> String {
    let called = session.exchange("tools/call", json!({ "name": "process_id" }));
    text(&Box::pin(called).await)
}

async fn open_session(gateway: &RemoteGateway, capabilities: &Value) -> Session {
    let client = gateway.client();
    Box::pin(client.initialize_with(NEWEST_LEGACY, capabilities)).await
}

#[tokio::test]
async fn all_calls_of_a_modern_client_go_to_its_one_process() {
    for era in ERAS {
        let gateway = gateway(era, |_| {}).await;
        let client = gateway.client();
        let calls = (0..8).map(|_| process_of(&client, "editor"));
        let processes: BTreeSet<_> = join_all(calls).await.into_iter().collect();
        assert_eq!(processes.len(), 1, "{era}");
        assert!(processes.contains(&process_of(&client, "editor").await));
        assert!(!processes.contains(&process_of(&client, "another editor").await));
    }
}

#[tokio::test]
async fn each_session_has_its_own_process() {
    for (era, capabilities) in [("legacy", json!({})), ("legacy", all_capabilities())] {
        let gateway = gateway(era, |_| {}).await;
        let first = open_session(&gateway, &capabilities).await;
        let second = open_session(&gateway, &capabilities).await;
        let of_first = process_in(&first).await;
        let of_second = process_in(&second).await;
        assert_ne!(of_first, of_second, "{era}");
        let again = join_all((0..4).map(|_| process_in(&first))).await;
        assert!(again.iter().all(|process| *process == of_first), "{era}");
    }
}

/// Some servers hold a port or lock a file, so that a second process fails.
#[tokio::test]
async fn one_client_never_needs_two_processes() {
    let dir = TempDir::new().unwrap();
    let (lock, fixture) = (dir.path().join("lock"), fixture::program());
    let script = format!(
        "mkdir {lock} || exit 1; {fixture} --era legacy; status=$?; rmdir {lock}; exit $status",
        lock = lock.display(),
        fixture = fixture.display(),
    );
    let locked = gateway("legacy", |config| {
        config.transport = stdio("sh", &["-c", &script]);
    })
    .await;
    let session = open_session(&locked, &all_capabilities()).await;
    let listed = session.exchange("tools/list", json!({})).await;
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    let process = process_in(&session).await;
    assert_eq!(process_in(&session).await, process);
    Box::pin(session.delete()).await;
    let another = open_session(&locked, &json!({})).await;
    wait_until("the process of the first client has ended", async || {
        let called = another.exchange("tools/call", json!({ "name": "process_id" }));
        let called = Box::pin(called).await;
        called["result"]["content"][0]["text"].is_string()
    })
    .await;
    assert_ne!(process_in(&another).await, process);
}

#[tokio::test]
async fn a_process_ends_with_the_session_of_its_client() {
    let gateway = gateway("legacy", |_| {}).await;
    let session = open_session(&gateway, &all_capabilities()).await;
    let process = process_in(&session).await;
    let is_alive = || fs::exists(format!("/proc/{process}")).unwrap();
    assert!(is_alive());
    Box::pin(session.delete()).await;
    wait_until("the process has ended", async || !is_alive()).await;
}

#[tokio::test]
async fn clients_share_a_process_where_the_server_may_have_only_one() {
    for change in [
        (|config| config.max_processes = 1) as fn(&mut RemoteConfig),
        |config| config.sharing = Sharing::Shared,
    ] {
        let gateway = gateway("legacy", change).await;
        let first = open_session(&gateway, &all_capabilities()).await;
        let second = open_session(&gateway, &json!({})).await;
        let process = process_in(&first).await;
        assert_eq!(process_in(&second).await, process);
        assert_eq!(process_of(&gateway.client(), "editor").await, process);
    }
}

#[tokio::test]
async fn a_client_over_the_limit_gets_an_error_that_names_the_setting() {
    let gateway = gateway("legacy", |config| config.max_processes_per_principal = 2).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(open_session(&gateway, &json!({})).await);
    }
    process_in(&sessions[0]).await;
    process_in(&sessions[1]).await;
    let refused = sessions[2].exchange("tools/call", json!({ "name": "process_id" }));
    let refused = Box::pin(refused).await;
    let message = refused["error"]["message"].to_string();
    assert!(message.contains("max_processes_per_principal"), "{refused}");
    assert!(message.contains("limit of 2"), "{refused}");
    Box::pin(sessions.remove(0).delete()).await;
    process_in(&sessions[1]).await;
}

#[tokio::test]
async fn a_server_sees_the_name_of_the_client() {
    for era in ERAS {
        let gateway = gateway(era, |_| {}).await;
        let client = gateway.client();
        let arguments = json!({ "method": "tools/call" });
        let received = call(&client, "editor", "received_messages", arguments).await;
        if era == "modern" {
            assert!(text(&received).contains("editor"), "{received}");
        }
        let arguments = json!({ "method": "initialize" });
        let received = call(&client, "editor", "received_messages", arguments).await;
        if era == "legacy" {
            assert!(text(&received).contains("editor"), "{received}");
        }
    }
}

#[tokio::test]
async fn a_client_sees_the_tools_that_its_own_process_adds() {
    let gateway = gateway("legacy", |_| {}).await;
    let first = open_session(&gateway, &all_capabilities()).await;
    let second = open_session(&gateway, &all_capabilities()).await;
    let arguments = json!({ "name": "add_tool", "arguments": { "name": "of_the_first" } });
    let added = Box::pin(first.exchange("tools/call", arguments)).await;
    assert!(added["result"].is_object(), "{added}");
    process_in(&second).await;
    let lists = async |session: &Session| {
        let listed = Box::pin(session.exchange("tools/list", json!({}))).await;
        listed.to_string().contains("of_the_first")
    };
    wait_until("the client lists its tool", async || lists(&first).await).await;
    assert!(
        !lists(&second).await,
        "it is not a tool of the other client"
    );
}
