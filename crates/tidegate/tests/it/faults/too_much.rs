//! Servers that say too much: in one message, in many, on every channel they have.

use std::fs;

use serde_json::{Value, json};

use super::rig::{AT_ONCE, Kind, ROUNDS, Rig, expect_failure, text};
use crate::support::proc::poll_for;

everywhere!(a_hundred_megabytes, words_without_end, changes_without_end);
on_pipes!(complaints_without_end);

/// Kilobytes of memory that a gateway had at most.
fn most_memory(rig: &Rig) -> usize {
    let path = format!("/proc/{}/status", rig.gateway.process.id());
    let status = fs::read_to_string(path).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

/// The call fails at once, and the memory for it is never taken.
fn a_hundred_megabytes(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "2m" }));
    let before = most_memory(&rig);
    let answer = rig.call("fault_big", &json!({}));
    expect_failure(&answer);
    // The one stream of the oldest transport has to be opened anew.
    if kind != Kind::HttpOldest {
        let words = answer["error"]["message"].as_str().unwrap();
        assert!(words.contains("larger than allowed"), "{answer}");
    }
    rig.works_again();
    let more = most_memory(&rig).saturating_sub(before);
    assert!(more < 64 * 1024, "{more} KB more");
    rig.end();
}

fn words_without_end(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.every_time("fault_flood", &json!({ "count": 2000 }), |answer| {
        assert_eq!(text(answer), "Sent 2000 messages.");
    });
    assert!(rig.works());
    rig.end();
}

/// The lists are looked at now and then, not each time.
fn changes_without_end(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.every_time("fault_notifications", &json!({ "count": 1000 }), |answer| {
        assert_eq!(text(answer), "Sent 1000 notifications.");
    });
    let heard = rig.call("received_messages", &json!({ "method": "tools/list" }));
    let heard: Vec<Value> = serde_json::from_str(text(&heard)).unwrap();
    let calls = AT_ONCE * ROUNDS;
    assert!(heard.len() < calls * 100, "{} lists", heard.len());
    assert!(rig.works());
    rig.end();
}

/// All of it is read, some of it is logged, and the rest is counted.
fn complaints_without_end(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.every_time("fault_stderr", &json!({ "lines": 5000 }), |answer| {
        assert_eq!(text(answer), "Wrote 5000 lines.");
    });
    assert!(rig.works());
    poll_for("the count", || {
        (rig.logged("more than is logged") > 0).then_some(())
    });
    let logged = rig.logged("stderr line");
    assert!((1..20_000).contains(&logged), "{logged} lines");
    rig.end();
}
