//! The steps of a server: generated from its lists, and those written in `tests/servers.txt`.
//!
//! Must not know: whether a gateway is in between.

use serde_json::{Value, json};

use super::super::differences::is_for_apps;
use super::super::recorder::Recorder;
use super::super::scripts;
use super::table::Row;

/// Maximum numbers of generated steps.
const READS: usize = 8;
const PROMPTS: usize = 5;
const CALLS: usize = 3;

/// Lists everything, reads what needs no arguments, and makes the errors that every client can make.
pub(super) fn run_generated(recorder: &mut Recorder, row: &Row) {
    let [tools, prompts, resources, _] = recorder.lists();
    let resources = resources.iter().filter(|_| !row.has_unread_resources);
    for resource in resources.take(READS) {
        recorder.read(text(&resource["uri"]));
    }
    let prompts = prompts.iter().filter(|one| scripts::needs_nothing(one));
    for prompt in prompts.take(PROMPTS) {
        recorder.get(text(&prompt["name"]), json!({}));
    }
    let tools = tools
        .iter()
        .filter(|tool| !is_for_apps(tool) && has_required_arguments(tool));
    let names = tools.map(|tool| text(&tool["name"]));
    for name in names
        .filter(|name| !row.unchecked.contains(name))
        .take(CALLS)
    {
        recorder.call(name, json!({}));
    }
    scripts::unknown(recorder);
}

/// Runs a written step.
pub(super) fn run_step(recorder: &mut Recorder, step: &str) {
    let (kind, rest) = step.split_once(' ').unwrap_or((step, ""));
    let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let parsed = || -> Value {
        serde_json::from_str(arguments).unwrap_or_else(|error| panic!("{error}: {step}"))
    };
    match kind {
        "call" => drop(recorder.call(name, parsed())),
        "progress" => drop(recorder.call_with_progress(name, parsed())),
        "get" => drop(recorder.get(name, parsed())),
        "read" => drop(recorder.read(rest)),
        _ => panic!("unknown step: {step}"),
    }
}

fn has_required_arguments(tool: &Value) -> bool {
    let required = tool["inputSchema"]["required"].as_array();
    required.is_some_and(|all| !all.is_empty())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
