//! Scripts for clients that answer questions.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::deployment::Deployment;
use super::super::differences::Comparison;
use super::super::recorder::Recorder;
use super::super::server_kind::ServerKind;
use super::super::workspace;
use crate::support::PATIENCE;

/// Runs the script of a server that asks questions.
pub(crate) fn run_with_questions(
    Comparison { server, .. }: Comparison,
    recorder: &mut Recorder,
    deployment: &Deployment,
) {
    recorder.lists();
    match server {
        ServerKind::Everything | ServerKind::EverythingHttp | ServerKind::EverythingSse => {
            everything(recorder);
        }
        ServerKind::Filesystem => filesystem(recorder, deployment),
        ServerKind::FastMcp | ServerKind::FastMcpHttp => {
            recorder.call("christen", json!({}));
            recorder.call("hail", json!({}));
        }
        ServerKind::Memory | ServerKind::Git | ServerKind::Time | ServerKind::Fetch => {
            panic!("{server:?} asks no questions")
        }
    }
}

fn everything(recorder: &mut Recorder) {
    recorder.call("trigger-elicitation-request", json!({}));
    recorder.call(
        "trigger-sampling-request",
        json!({ "prompt": "tides", "maxTokens": 5 }),
    );
    let page = json!({ "url": "https://example.com/form", "elicitationId": "the-form" });
    recorder.call("trigger-url-elicitation", page);
    // The server asks for the roots by itself, some time after the handshake.
    wait_for(recorder, "get-roots-list", "other");
}

/// The client's roots are the folders it works in.
fn filesystem(recorder: &mut Recorder, deployment: &Deployment) {
    let folder = workspace::other_files(deployment.home());
    let folder = folder.to_str().unwrap();
    wait_for(recorder, "list_allowed_directories", folder);
    recorder.call("list_directory", json!({ "path": folder }));
    let files = workspace::files(deployment.home());
    recorder.call("list_directory", json!({ "path": files.to_str().unwrap() }));
}

/// Calls a tool until it knows the answer to the server's question. Only the last call is recorded:
/// the server decides when to ask.
fn wait_for(recorder: &mut Recorder, tool: &str, word: &str) {
    let patience = Instant::now() + PATIENCE;
    while Instant::now() < patience {
        let outcome = recorder.call(tool, json!({}));
        if outcome["result"]["content"][0]["text"]
            .to_string()
            .contains(word)
        {
            return;
        }
        recorder.discard_last_step();
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{tool} never returned {word}");
}
