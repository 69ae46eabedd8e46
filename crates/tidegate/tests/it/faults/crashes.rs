//! Servers that end: during a call, during a response, at start, or repeatedly.

use std::thread;
use std::time::Duration;

use serde_json::json;

use super::rig::{AT_ONCE, ROUNDS, Rig, ServerKind, expect_failure};
use crate::support::proc::{descendants, zombies};

over_all_transports!(crash_during_calls, crash_during_response);
over_stdio!(
    program_that_crashes_repeatedly,
    program_that_crashes_at_start
);
on!(forgotten_session: http_legacy = HttpLegacy);
over_http!(server_that_changes_its_era);

fn crash_during_calls(kind: ServerKind) {
    let mut rig = Rig::start(kind, &[], &json!({}));
    for _ in 0..ROUNDS {
        let hanging = rig.start_calls(AT_ONCE, "fault_hang", &json!({}));
        thread::sleep(Duration::from_millis(100));
        expect_failure(&rig.call("fault_crash", &json!({})));
        // Calls that arrived after the crash fail with another error.
        hanging.answers().iter().for_each(expect_failure);
        rig.restart();
        rig.wait_until_working();
    }
    rig.end();
}

fn crash_during_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "max_retries": 0 }));
    for _ in 0..ROUNDS {
        expect_failure(&rig.call("fault_half", &json!({})));
        // Over HTTP only that connection breaks.
        rig.wait_until_working();
    }
    rig.end();
}

/// It is restarted with increasing backoff, and never twice at once.
fn program_that_crashes_repeatedly(kind: ServerKind) {
    let rig = Rig::start_without(
        kind,
        &["--crash-after", "7"],
        &json!({ "call_timeout": "2s" }),
    );
    let gateway = rig.gateway.process.id();
    for _ in 0..50 {
        // Some calls succeed, others fail; each gets a response.
        rig.call("echo", &json!({}));
        let faulty = |one: &crate::support::proc::Proc| one.command.contains("--name faulty");
        let count = descendants(gateway)
            .iter()
            .filter(|one| faulty(one))
            .count();
        assert!(
            count <= 2,
            "expected at most a child guard and a server, found {count}"
        );
        assert!(zombies(gateway) <= 2);
        thread::sleep(Duration::from_millis(50));
    }
    drop(rig);
}

fn program_that_crashes_at_start(kind: ServerKind) {
    let rig = Rig::start_without(
        kind,
        &["--crash-at-start"],
        &json!({ "call_timeout": "2s" }),
    );
    for answer in rig.call_concurrently(AT_ONCE, "echo", &json!({})) {
        expect_failure(&answer);
    }
    let health = json!({ "name": "system__health", "arguments": {} });
    let health = rig.gateway.modern("tools/call", health).result();
    let alerts = health["structuredContent"]["alerts"].to_string();
    assert!(alerts.contains("faulty"), "{alerts}");
    drop(rig);
}

/// The server responds with 404 to the old session; the gateway opens a new one.
fn forgotten_session(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    for _ in 0..ROUNDS {
        rig.call("fault_404_session", &json!({}));
        rig.call_concurrently(AT_ONCE, "echo", &json!({}));
        rig.wait_until_working();
    }
    rig.end();
}

/// The new era of a replaced server is detected.
fn server_that_changes_its_era(kind: ServerKind) {
    let mut rig = Rig::start(kind, &[], &json!({}));
    for era in ["legacy", "modern", "both"] {
        rig.call("fault_crash", &json!({}));
        rig.set_era(era);
        rig.restart();
        rig.wait_until_working();
    }
    rig.end();
}
