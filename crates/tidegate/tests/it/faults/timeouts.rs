//! Servers that do not respond, respond too slowly, or do not read.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::rig::{AT_ONCE, CALL_TIMEOUT, Rig, ServerKind, expect_error, expect_failure, text};
use crate::support::proc::poll_for;

on!(busy_server_that_does_not_read: stdio_legacy = StdioLegacy);
over_all_transports!(call_without_response, slow_response, frozen_server);
over_stdio!(server_that_does_not_read);

/// Each call times out, and the server gets a cancellation.
fn call_without_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    rig.call_repeatedly("fault_hang", &json!({}), |answer| {
        expect_error(answer, "timeout");
    });
    rig.wait_until_working();
    if kind.is_single_connection() {
        let method = json!({ "method": "notifications/cancelled" });
        let calls = AT_ONCE * super::rig::ROUNDS;
        poll_for("the cancellations to reach the server", || {
            let received = rig.call("received_messages", &method);
            let received: Vec<Value> = serde_json::from_str(text(&received)).ok()?;
            (received.len() == calls).then_some(())
        });
    }
    rig.end();
}

/// Bytes of an incomplete message do not reset the timeout.
fn slow_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    let slow = json!({ "pause_ms": 200 });
    for answer in rig.call_concurrently(3, "fault_slow_drip", &slow) {
        expect_error(&answer, "timeout");
    }
    rig.wait_until_working();
    rig.end();
}

/// Nothing is read, written or closed. Late responses are ignored.
fn frozen_server(kind: ServerKind) {
    let mut rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    let pid = rig.pid();
    rig.signal(pid, Signal::STOP);
    rig.call_repeatedly("echo", &json!({ "text": "frozen" }), |answer| {
        expect_failure(answer);
    });
    rig.signal(pid, Signal::CONT);
    rig.wait_until_working();
    if kind == ServerKind::HttpLegacy {
        // The cancellations leave idle connections; a restart closes them before their timeout.
        rig.call("fault_crash", &json!({}));
        rig.restart();
        rig.wait_until_working();
    }
    rig.end();
}

/// Writes block once the pipe is full: the program is replaced.
fn server_that_does_not_read(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "2m" }));
    let pid = rig.pid();
    rig.signal(pid, Signal::STOP);
    let large = json!({ "text": "x".repeat(1 << 20) });
    for answer in rig.call_concurrently(AT_ONCE, "echo", &large) {
        expect_failure(&answer);
    }
    rig.wait_until_working();
    assert_ne!(rig.pid(), pid);
    rig.end();
}

/// A server that works on a call may not read its input. Large arguments of other calls then wait.
fn busy_server_that_does_not_read(kind: ServerKind) {
    let rig = Rig::start(kind, &["--one-call-at-a-time"], &json!({}));
    let slow = rig.start_calls(1, "test_slow", &json!({ "steps": 1, "ms": 7000 }));
    let large = "x".repeat(300_000);
    let echoes = rig.start_calls(3, "echo", &json!({ "text": large }));
    for answer in slow.answers().into_iter().chain(echoes.answers()) {
        assert!(
            answer["result"]["content"].is_array(),
            "{}",
            answer["error"]
        );
    }
    assert_eq!(rig.logged("server process does not read its input"), 0);
    rig.end();
}
