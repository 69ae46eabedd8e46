//! Servers that end: during a call, during a response, at start, or repeatedly.

use std::collections::BTreeSet;

use serde_json::json;

use super::rig::{AT_ONCE, ROUNDS, Rig, ServerKind, expect_failure};
use crate::support::proc::{descendants, poll_for, zombies};

/// Restarts after which a server counts as restarted reliably.
const RESTARTS: usize = 3;

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
        rig.wait_until_received("fault_hang", AT_ONCE);
        expect_failure(&rig.call("fault_crash", &json!({})));
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

/// It is restarted, never twice at once.
fn program_that_crashes_repeatedly(kind: ServerKind) {
    let rig = Rig::start_unstable(
        kind,
        &["--crash-after", "7"],
        &json!({ "call_timeout": "1s" }),
    );
    let gateway = rig.gateway.process.id();
    let mut starts = BTreeSet::new();
    poll_for("the server to be restarted", || {
        // Some calls succeed, others fail; each gets a response.
        rig.call("echo", &json!({}));
        let mut faulty = descendants(gateway);
        faulty.retain(|process| process.command.contains("--name faulty"));
        assert!(
            faulty.len() <= 2,
            "expected at most a child guard and a server: {faulty:?}"
        );
        assert!(zombies(gateway) <= 2);
        let servers = faulty.iter().filter(|process| !process.is_child_guard());
        starts.extend(servers.map(|process| process.pid));
        (starts.len() > RESTARTS).then_some(())
    });
    rig.end();
}

fn program_that_crashes_at_start(kind: ServerKind) {
    let rig = Rig::start_unstable(
        kind,
        &["--crash-at-start"],
        &json!({ "call_timeout": "1s" }),
    );
    for answer in rig.call_concurrently(AT_ONCE, "echo", &json!({})) {
        expect_failure(&answer);
    }
    let health = json!({ "name": "system__health", "arguments": {} });
    let health = rig.gateway.modern("tools/call", health).result();
    let alerts = health["structuredContent"]["alerts"].to_string();
    assert!(alerts.contains("faulty"), "{alerts}");
    rig.end();
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
