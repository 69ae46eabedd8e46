//! The reference server `everything`.

use serde_json::json;

use super::super::differences::Endpoint;
use super::super::names::CREATED_PREFIX;
use super::super::recorder::Recorder;

const TEXT: &str = "demo://resource/dynamic/text/{resourceId}";
const BLOB: &str = "demo://resource/dynamic/blob/{resourceId}";
const STATIC: &str = "demo://resource/static/document/features.md";

pub(super) fn run_script(recorder: &mut Recorder, source: &str, at: Endpoint) {
    calls(recorder);
    prompts(recorder);
    templates(recorder);
    session_resource(recorder, source);
    subscription(recorder);
    research(recorder, at);
    super::unknown(recorder);
}

fn calls(recorder: &mut Recorder) {
    recorder.call(
        "echo",
        json!({ "message": "Grüße, 世界 \u{1f30a}\n\"quoted\"" }),
    );
    recorder.call("echo", json!({}));
    recorder.call("echo", json!({ "message": 5 }));
    recorder.call("get-sum", json!({ "a": 2, "b": 0.5 }));
    recorder.call("get-tiny-image", json!({}));
    recorder.call("get-env", json!({}));
    recorder.call("get-structured-content", json!({ "location": "Chicago" }));
    recorder.call("get-structured-content", json!({ "location": "Atlantis" }));
    for kind in ["error", "success", "debug"] {
        let arguments = json!({ "messageType": kind, "includeImage": true });
        recorder.call("get-annotated-message", arguments);
    }
    recorder.call("get-resource-links", json!({ "count": 3 }));
    recorder.call(
        "get-resource-reference",
        json!({ "resourceType": "Text", "resourceId": 1 }),
    );
    recorder.call(
        "get-resource-reference",
        json!({ "resourceType": "Blob", "resourceId": 2 }),
    );
    recorder.call(
        "get-resource-reference",
        json!({ "resourceType": "Text", "resourceId": -1 }),
    );
    let short = json!({ "duration": 0.1, "steps": 4 });
    recorder.call_with_progress("trigger-long-running-operation", short.clone());
    recorder.call("trigger-long-running-operation", short);
    // The second call of each stops what the first started.
    for _ in 0..2 {
        recorder.call("toggle-simulated-logging", json!({}));
    }
    recorder.ask("logging/setLevel", &json!({ "level": "no-such-level" }));
}

/// A tool that must be called as a task, which the gateway does for this client. It is slow: once
/// per transport is enough.
fn research(recorder: &mut Recorder, at: Endpoint) {
    if at == Endpoint::OwnPath {
        recorder.call("simulate-research-query", json!({ "topic": "tides" }));
    }
}

fn prompts(recorder: &mut Recorder) {
    recorder.get("args-prompt", json!({ "city": "Brest" }));
    recorder.get(
        "args-prompt",
        json!({ "city": "Brest", "state": "Bretagne" }),
    );
    recorder.get("args-prompt", json!({}));
    recorder.complete_prompt("completable-prompt", ["department", ""], json!({}));
    recorder.complete_prompt("completable-prompt", ["department", "S"], json!({}));
    let known = json!({ "department": "Sales" });
    recorder.complete_prompt("completable-prompt", ["name", ""], known);
    recorder.complete_prompt("completable-prompt", ["name", ""], json!({}));
    recorder.complete_prompt("completable-prompt", ["no-such", ""], json!({}));
    recorder.complete_prompt("no-such-prompt", ["name", ""], json!({}));
    let chosen = json!({ "department": "Sales", "name": "Eve" });
    recorder.get("completable-prompt", chosen);
    for kind in ["Text", "Blob"] {
        let arguments = json!({ "resourceType": kind, "resourceId": "3" });
        recorder.get("resource-prompt", arguments);
    }
    recorder.get(
        "resource-prompt",
        json!({ "resourceType": "Text", "resourceId": "none" }),
    );
}

fn templates(recorder: &mut Recorder) {
    for template in [TEXT, BLOB] {
        recorder.complete_template(template, ["resourceId", "7"]);
        recorder.complete_template(template, ["resourceId", "x"]);
        recorder.read(&template.replace("{resourceId}", "7"));
        recorder.read(&template.replace("{resourceId}", "x"));
    }
    recorder.complete_template("demo://no/such/{template}", ["template", ""]);
}

/// A resource created by a call and listed from then on. It is named after the source, so no other
/// server has it.
fn session_resource(recorder: &mut Recorder, source: &str) {
    for kind in ["resourceLink", "resource"] {
        let arguments = json!({
            "name": source, "data": "data:text/plain,dover%206.8", "outputType": kind,
        });
        recorder.call("gzip-file-as-resource", arguments);
    }
    recorder.read(&format!("{CREATED_PREFIX}{source}"));
}

fn subscription(recorder: &mut Recorder) {
    recorder.subscribe(STATIC);
    recorder.call("toggle-subscriber-updates", json!({}));
    recorder.notification("notifications/resources/updated");
    recorder.call("toggle-subscriber-updates", json!({}));
    recorder.unsubscribe(STATIC);
}
