//! Servers that end: in the middle of a call, of an answer, of a session, and again and again.

use std::thread;
use std::time::Duration;

use serde_json::json;

use super::rig::{AT_ONCE, Kind, ROUNDS, Rig, expect_failure};
use crate::support::proc::{descendants, zombies};

everywhere!(
    a_crash_in_the_middle_of_calls,
    a_crash_in_the_middle_of_an_answer
);
on_pipes!(
    a_program_that_ends_again_and_again,
    a_program_that_ends_at_once
);
on!(a_session_that_is_forgotten: http_legacy = HttpLegacy);
over_http!(a_server_that_comes_back_as_another);

fn a_crash_in_the_middle_of_calls(kind: Kind) {
    let mut rig = Rig::start(kind, &[], &json!({}));
    for _ in 0..ROUNDS {
        let hanging = rig.begin(AT_ONCE, "fault_hang", &json!({}));
        thread::sleep(Duration::from_millis(100));
        expect_failure(&rig.call("fault_crash", &json!({})));
        // Those that came too late to hang have failed in another way.
        hanging.answers().iter().for_each(expect_failure);
        rig.revive();
        rig.works_again();
    }
    rig.end();
}

fn a_crash_in_the_middle_of_an_answer(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "max_retries": 0 }));
    for _ in 0..ROUNDS {
        expect_failure(&rig.call("fault_half", &json!({})));
        // Over HTTP only that connection breaks.
        rig.works_again();
    }
    rig.end();
}

/// It is started again later and later, and never twice at once.
fn a_program_that_ends_again_and_again(kind: Kind) {
    let rig = Rig::start_without(
        kind,
        &["--crash-after", "7"],
        &json!({ "call_timeout": "2s" }),
    );
    let gateway = rig.gateway.process.id();
    for _ in 0..50 {
        // Sometimes it answers, sometimes not, and always someone does.
        rig.call("echo", &json!({}));
        let faulty = |one: &crate::support::proc::Proc| one.command.contains("--name faulty");
        let count = descendants(gateway)
            .iter()
            .filter(|one| faulty(one))
            .count();
        assert!(count <= 2, "a keeper and a server, not {count}");
        assert!(zombies(gateway) <= 2);
        thread::sleep(Duration::from_millis(50));
    }
    drop(rig);
}

fn a_program_that_ends_at_once(kind: Kind) {
    let rig = Rig::start_without(
        kind,
        &["--crash-at-start"],
        &json!({ "call_timeout": "2s" }),
    );
    for answer in rig.call_at_once(AT_ONCE, "echo", &json!({})) {
        expect_failure(&answer);
    }
    let health = json!({ "name": "system__health", "arguments": {} });
    let health = rig.gateway.modern("tools/call", health).result();
    let alerts = health["structuredContent"]["alerts"].to_string();
    assert!(alerts.contains("faulty"), "{alerts}");
    drop(rig);
}

/// The server says 404 from there on, and is greeted anew.
fn a_session_that_is_forgotten(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    for _ in 0..ROUNDS {
        rig.call("fault_404_session", &json!({}));
        rig.call_at_once(AT_ONCE, "echo", &json!({}));
        rig.works_again();
    }
    rig.end();
}

/// A server that was replaced by one that speaks otherwise is found out.
fn a_server_that_comes_back_as_another(kind: Kind) {
    let mut rig = Rig::start(kind, &[], &json!({}));
    for era in ["legacy", "modern", "both"] {
        rig.call("fault_crash", &json!({}));
        rig.will_speak(era);
        rig.revive();
        rig.works_again();
    }
    rig.end();
}
