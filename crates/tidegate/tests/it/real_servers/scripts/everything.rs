//! The reference server: a bit of everything.

use serde_json::json;

use super::super::actor::Actor;
use super::super::differences::At;
use super::super::names::MADE;

const TEXT: &str = "demo://resource/dynamic/text/{resourceId}";
const BLOB: &str = "demo://resource/dynamic/blob/{resourceId}";
const STATIC: &str = "demo://resource/static/document/features.md";

pub(super) fn play(actor: &mut Actor, source: &str, at: At) {
    calls(actor);
    prompts(actor);
    templates(actor);
    session_resource(actor, source);
    subscription(actor);
    research(actor, at);
    super::unknown(actor);
}

fn calls(actor: &mut Actor) {
    actor.call(
        "echo",
        json!({ "message": "Grüße, 世界 \u{1f30a}\n\"quoted\"" }),
    );
    actor.call("echo", json!({}));
    actor.call("echo", json!({ "message": 5 }));
    actor.call("get-sum", json!({ "a": 2, "b": 0.5 }));
    actor.call("get-tiny-image", json!({}));
    actor.call("get-env", json!({}));
    actor.call("get-structured-content", json!({ "location": "Chicago" }));
    actor.call("get-structured-content", json!({ "location": "Atlantis" }));
    for kind in ["error", "success", "debug"] {
        let arguments = json!({ "messageType": kind, "includeImage": true });
        actor.call("get-annotated-message", arguments);
    }
    actor.call("get-resource-links", json!({ "count": 3 }));
    actor.call(
        "get-resource-reference",
        json!({ "resourceType": "Text", "resourceId": 1 }),
    );
    actor.call(
        "get-resource-reference",
        json!({ "resourceType": "Blob", "resourceId": 2 }),
    );
    actor.call(
        "get-resource-reference",
        json!({ "resourceType": "Text", "resourceId": -1 }),
    );
    let short = json!({ "duration": 0.1, "steps": 4 });
    actor.call_with_progress("trigger-long-running-operation", short.clone());
    actor.call("trigger-long-running-operation", short);
    // The second of each stops what the first began.
    for _ in 0..2 {
        actor.call("toggle-simulated-logging", json!({}));
    }
    actor.ask("logging/setLevel", json!({ "level": "no-such-level" }));
}

/// It wants to be a task, which this client does not make of it, and the gateway does. It takes its
/// time: once for each way to the server is enough.
fn research(actor: &mut Actor, at: At) {
    if at == At::ItsOwnPath {
        actor.call("simulate-research-query", json!({ "topic": "tides" }));
    }
}

fn prompts(actor: &mut Actor) {
    actor.get("args-prompt", json!({ "city": "Brest" }));
    actor.get(
        "args-prompt",
        json!({ "city": "Brest", "state": "Bretagne" }),
    );
    actor.get("args-prompt", json!({}));
    actor.complete_prompt("completable-prompt", ["department", ""], json!({}));
    actor.complete_prompt("completable-prompt", ["department", "S"], json!({}));
    let known = json!({ "department": "Sales" });
    actor.complete_prompt("completable-prompt", ["name", ""], known);
    actor.complete_prompt("completable-prompt", ["name", ""], json!({}));
    actor.complete_prompt("completable-prompt", ["no-such", ""], json!({}));
    actor.complete_prompt("no-such-prompt", ["name", ""], json!({}));
    let chosen = json!({ "department": "Sales", "name": "Eve" });
    actor.get("completable-prompt", chosen);
    for kind in ["Text", "Blob"] {
        let arguments = json!({ "resourceType": kind, "resourceId": "3" });
        actor.get("resource-prompt", arguments);
    }
    actor.get(
        "resource-prompt",
        json!({ "resourceType": "Text", "resourceId": "none" }),
    );
}

fn templates(actor: &mut Actor) {
    for template in [TEXT, BLOB] {
        actor.complete_template(template, ["resourceId", "7"]);
        actor.complete_template(template, ["resourceId", "x"]);
        actor.read(&template.replace("{resourceId}", "7"));
        actor.read(&template.replace("{resourceId}", "x"));
    }
    actor.complete_template("demo://no/such/{template}", ["template", ""]);
}

/// A resource that a call makes, and that is listed from then on. It is called after the source: no
/// other has it.
fn session_resource(actor: &mut Actor, source: &str) {
    for kind in ["resourceLink", "resource"] {
        let arguments = json!({
            "name": source, "data": "data:text/plain,dover%206.8", "outputType": kind,
        });
        actor.call("gzip-file-as-resource", arguments);
    }
    actor.read(&format!("{MADE}{source}"));
}

fn subscription(actor: &mut Actor) {
    actor.subscribe(STATIC);
    actor.call("toggle-subscriber-updates", json!({}));
    actor.hear("notifications/resources/updated");
    actor.call("toggle-subscriber-updates", json!({}));
    actor.unsubscribe(STATIC);
}
