//! What each script does at its server: reads the lists and everything in them, makes successful
//! and failing calls.
//!
//! Must not know: whether a gateway is in between.

mod everything;
mod fastmcp;
mod fetch;
mod filesystem;
mod git;
mod memory;
mod questions;
mod time;

use serde_json::{Value, json};

use super::deployment::Deployment;
use super::differences::Comparison;
use super::names::CREATED_PREFIX;
use super::recorder::Recorder;
use super::server_kind::ServerKind;
use super::workspace;

pub(super) use questions::run_with_questions;

/// Runs the script of a server on freshly created data.
pub(super) fn run_script(
    Comparison { server, at }: Comparison,
    recorder: &mut Recorder,
    deployment: &Deployment,
) {
    create_data(server, deployment);
    all_listed(recorder);
    match server {
        ServerKind::Everything | ServerKind::EverythingHttp | ServerKind::EverythingSse => {
            everything::run_script(recorder, server.source(), at);
        }
        ServerKind::Filesystem => {
            filesystem::run_script(recorder, &workspace::files(deployment.home()));
        }
        ServerKind::Memory => memory::run_script(recorder),
        ServerKind::Git => git::run_script(recorder, &workspace::repository(deployment.home())),
        ServerKind::Time => time::run_script(recorder),
        ServerKind::Fetch => fetch::run_script(recorder, &deployment.pages),
        ServerKind::FastMcp | ServerKind::FastMcpHttp => fastmcp::run_script(recorder),
    }
}

/// Creates the data that the server works on.
fn create_data(server: ServerKind, deployment: &Deployment) {
    match server {
        ServerKind::Filesystem => workspace::create_files(deployment.home()),
        ServerKind::Memory => workspace::create_memory(deployment.home()),
        ServerKind::Git => workspace::create_repository(deployment.home()),
        _ => {}
    }
}

/// Reads everything listed that needs no knowledge of the server: resources, and prompts without
/// required arguments.
fn all_listed(recorder: &mut Recorder) {
    let [_, prompts, resources, _] = recorder.lists();
    let uris = resources
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap());
    // Resources created by a call are read by its script.
    for uri in uris.filter(|uri| !uri.starts_with(CREATED_PREFIX)) {
        recorder.read(uri);
    }
    for prompt in prompts.iter().filter(|prompt| needs_nothing(prompt)) {
        recorder.get(prompt["name"].as_str().unwrap(), json!({}));
    }
}

/// Whether a prompt has no required arguments.
pub(super) fn needs_nothing(prompt: &Value) -> bool {
    let arguments = prompt["arguments"].as_array();
    !arguments.is_some_and(|all| all.iter().any(|argument| argument["required"] == true))
}

/// Unknown names.
pub(super) fn unknown(recorder: &mut Recorder) {
    recorder.call("no-such-tool", json!({}));
    recorder.get("no-such-prompt", json!({}));
    recorder.read("none://such/resource");
}
