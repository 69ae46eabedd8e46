//! Servers that say nothing, or too slowly, or do not listen.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::rig::{AT_ONCE, Kind, Rig, expect_error, expect_failure, text};
use crate::support::proc::poll_for;

everywhere!(
    a_call_that_is_never_answered,
    an_answer_that_drips,
    a_server_that_is_frozen
);
on_pipes!(a_server_that_does_not_read);

/// Each ends when its time is over, and the server hears that nobody waits.
fn a_call_that_is_never_answered(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "1s" }));
    rig.every_time("fault_hang", &json!({}), |answer| {
        expect_error(answer, "timeout");
    });
    rig.works_again();
    if kind.is_one_way() {
        let method = json!({ "method": "notifications/cancelled" });
        let calls = AT_ONCE * super::rig::ROUNDS;
        poll_for("the server to be told", || {
            let heard = rig.call("received_messages", &method);
            let heard: Vec<Value> = serde_json::from_str(text(&heard)).ok()?;
            (heard.len() == calls).then_some(())
        });
    }
    rig.end();
}

/// What comes byte by byte shows no life: only what is whole does.
fn an_answer_that_drips(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "1s" }));
    let slow = json!({ "pause_ms": 200 });
    for answer in rig.call_at_once(3, "fault_slow_drip", &slow) {
        expect_error(&answer, "timeout");
    }
    rig.works_again();
    rig.end();
}

/// Nothing is read, nothing is written, nothing is closed. Who wakes up late is not believed.
fn a_server_that_is_frozen(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "1s" }));
    let pid = rig.pid();
    rig.signal(pid, Signal::STOP);
    rig.every_time("echo", &json!({ "word": "frozen" }), |answer| {
        expect_failure(answer);
    });
    rig.signal(pid, Signal::CONT);
    rig.works_again();
    rig.end();
}

/// What is written stays in the pipe, until that is full: the program is replaced.
fn a_server_that_does_not_read(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "2m" }));
    let pid = rig.pid();
    rig.signal(pid, Signal::STOP);
    let large = json!({ "word": "x".repeat(1 << 20) });
    for answer in rig.call_at_once(AT_ONCE, "echo", &large) {
        expect_failure(&answer);
    }
    rig.works_again();
    assert_ne!(rig.pid(), pid);
    rig.end();
}
