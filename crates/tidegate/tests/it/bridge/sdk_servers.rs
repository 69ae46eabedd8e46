//! Servers built with foreign SDKs, used by clients of both eras.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};
use tidegate_testkit::{MODERN, NEWEST_LEGACY};
use tokio::time::timeout;

use super::PATIENCE;
use super::client_session::{CallOutcome, ClientSession};
use super::transport::ClientTransport;
use super::{PAGE, TESTS};
use crate::support::Server as Gateway;
use crate::support::tools::{Tools, peer};

/// A server: its display name, its source id, its script, and the era to use.
struct Sdk {
    name: &'static str,
    source: &'static str,
    script: &'static str,
    era: &'static str,
}

const SDKS: &[Sdk] = &[
    sdk("TypeScript 1.x", "ts1", "question_server_ts1.mjs", "legacy"),
    sdk("TypeScript 2.x", "ts2", "question_server_ts2.mjs", "legacy"),
    sdk(
        "TypeScript 2.x, modern",
        "ts2-modern",
        "question_server_ts2.mjs",
        "modern",
    ),
    sdk(
        "Python 1.x",
        "python1",
        "question_server_python_v1.py",
        "legacy",
    ),
    sdk(
        "Python 2.x",
        "python2",
        "question_server_python_v2.py",
        "legacy",
    ),
    sdk(
        "Python 2.x, modern",
        "python2-modern",
        "question_server_python_v2.py",
        "modern",
    ),
    sdk("FastMCP", "fastmcp", "question_server_fastmcp.py", "legacy"),
    sdk(
        "FastMCP, modern",
        "fastmcp-modern",
        "question_server_fastmcp.py",
        "modern",
    ),
];

const fn sdk(
    name: &'static str,
    source: &'static str,
    script: &'static str,
    era: &'static str,
) -> Sdk {
    Sdk {
        name,
        source,
        script,
        era,
    }
}

impl Sdk {
    fn source(&self, tools: &Tools) -> Value {
        let script = peer(self.script);
        let environment = match self.script {
            "question_server_python_v1.py" => "python-v1",
            "question_server_python_v2.py" => "python-v2",
            _ => "python-servers",
        };
        match self.script.ends_with(".mjs") {
            true => json!({
                "command": tools.node(), "args": [script], "era": self.era,
                "connect_timeout": "1m",
                "env": { "TIDEGATE_TOOLS": tools.dir() },
            }),
            false => json!({
                "command": tools.python(environment), "args": ["-B", script], "era": self.era,
                "connect_timeout": "1m",
            }),
        }
    }
}

type Feature = fn(&mut ClientSession) -> LocalBoxFuture<'_, ()>;

const FEATURES: &[(&str, Feature)] = &[
    ("progress", |peer| progress(peer).boxed_local()),
    ("log levels", |peer| log_levels(peer).boxed_local()),
    ("form elicitation", |peer| form(peer).boxed_local()),
    ("sampling", |peer| sampling(peer).boxed_local()),
    ("not found", |peer| not_found(peer).boxed_local()),
    ("roots", |peer| roots(peer).boxed_local()),
];

#[tokio::test]
async fn sdk_servers_ask_clients_of_both_eras() {
    let tools = Tools::find();
    let mut failed = Vec::new();
    // Sequentially: such a program starts slowly, and each source runs several.
    for sdk in SDKS {
        let config = json!({
            "limits": { "startup_wait": "2m" }, "sources": { sdk.source: sdk.source(&tools) },
        });
        let gateway = Gateway::with_config(&config.to_string());
        gateway.process.stderr.find("source connected");
        failed.extend(run_features(&gateway, sdk).await);
        gateway.stop();
    }
    let count = failed.len();
    assert!(failed.is_empty(), "{count} cells:\n{}", failed.join("\n"));
    crate::generated_docs::check(PAGE, "servers", TESTS, &table());
}

/// Runs all features against one server; returns the failures.
async fn run_features(gateway: &Gateway, sdk: &Sdk) -> Vec<String> {
    let mut failed = Vec::new();
    for revision in [NEWEST_LEGACY, MODERN] {
        let mut peer = None;
        for (feature, run) in FEATURES {
            let ran = async {
                if peer.is_none() {
                    peer = Some(open(gateway, sdk.source, revision).await);
                }
                run(peer.as_mut().expect("an open client")).await;
            };
            let ran = AssertUnwindSafe(timeout(PATIENCE, ran));
            if !matches!(ran.catch_unwind().await, Ok(Ok(()))) {
                failed.push(format!("{revision} client, {}: {feature}", sdk.name));
                peer = None;
            }
        }
    }
    failed
}

/// A client of one source with all capabilities.
async fn open(gateway: &Gateway, source: &str, revision: &'static str) -> ClientSession {
    let mut capabilities = json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} });
    if revision == MODERN {
        // With roots, each call of a modern client starts a server process of its own, which is
        // slow.
        capabilities.as_object_mut().unwrap().remove("roots");
    }
    let transport = ClientTransport::http(gateway.address, &format!("/mcp/{source}"), revision);
    let mut peer = ClientSession::new(transport, revision, capabilities);
    peer.open().await;
    peer
}

async fn progress(peer: &mut ClientSession) {
    let outcome = peer.call("count", json!({})).await;
    assert_eq!(outcome.text(), "done");
    let steps = outcome.notifications("notifications/progress");
    let steps: Vec<_> = steps
        .iter()
        .filter_map(|params| params["progress"].as_f64())
        .collect();
    assert_eq!(steps, [1.0, 2.0, 3.0], "{outcome:?}");
}

async fn log_levels(peer: &mut ClientSession) {
    for (level, expected) in [("info", 1), ("error", 0)] {
        peer.log_level(level).await;
        let outcome = peer.call("count", json!({})).await;
        assert_eq!(outcome.text(), "done");
        let logs = outcome.notifications("notifications/message");
        assert_eq!(logs.len(), expected, "{level}: {outcome:?}");
    }
}

/// Calls a tool that asks one question, and answers it.
async fn ask(peer: &mut ClientSession, tool: &str, answer: Value) -> CallOutcome {
    let outcome = peer.call_answering(tool, json!({}), 1, |_| answer.clone());
    let outcome = outcome.await;
    assert_eq!(outcome.questions.len(), 1, "{outcome:?}");
    outcome
}

async fn form(peer: &mut ClientSession) {
    let answer = json!({ "action": "accept", "content": { "name": "ada" } });
    let outcome = ask(peer, "ask_form", answer).await;
    assert_eq!(outcome.text(), "ada", "{outcome:?}");
}

async fn sampling(peer: &mut ClientSession) {
    let content = json!({ "type": "text", "text": "Paris" });
    let answer = json!({ "role": "assistant", "model": "m", "content": content });
    let outcome = ask(peer, "ask_model", answer).await;
    assert_eq!(outcome.text(), "Paris", "{outcome:?}");
}

async fn roots(peer: &mut ClientSession) {
    if peer.is_modern() {
        peer.capabilities = json!({ "roots": {} });
    }
    let answer = json!({ "roots": [{ "uri": "file:///home/ada", "name": "home" }] });
    let outcome = ask(peer, "ask_roots", answer).await;
    assert_eq!(outcome.text(), "file:///home/ada", "{outcome:?}");
}

async fn not_found(peer: &mut ClientSession) {
    let code = if peer.is_modern() { -32602 } else { -32002 };
    let uri = "note://nothing";
    let answer = peer.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(answer["error"]["code"], code, "{answer}");
    assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
    let read = json!({ "uri": "note://hello" });
    let answer = peer.request("resources/read", read).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "hi", "{answer}");
}

/// The table: everything works with every server.
fn table() -> String {
    let names: Vec<_> = SDKS.iter().map(|sdk| sdk.name).collect();
    let mut text = format!(
        "\n| | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(SDKS.len())
    );
    for (feature, _) in FEATURES {
        text += &format!("| {feature} |{}\n", " yes |".repeat(SDKS.len()));
    }
    text + "\n"
}
