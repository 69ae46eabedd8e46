//! Servers that send too much: in one message, in many, on every channel.

use serde_json::{Value, json};

use super::rig::{AT_ONCE, ROUNDS, Rig, ServerKind, expect_failure, text};
use crate::support::proc::{peak_memory, poll_for};

over_all_transports!(
    message_of_100_megabytes,
    log_message_flood,
    change_notification_flood
);
over_stdio!(stderr_flood);

/// The call fails, and memory for the whole message is never allocated.
fn message_of_100_megabytes(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": "2m" }));
    let before = peak_memory(rig.gateway.process.id());
    let answer = rig.call("fault_big", &json!({}));
    expect_failure(&answer);
    // The only stream of HTTP+SSE has to be reopened.
    if kind != ServerKind::HttpSse {
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("exceeds the size limit"), "{answer}");
    }
    rig.wait_until_working();
    let more = peak_memory(rig.gateway.process.id()).saturating_sub(before);
    assert!(more < 64 << 20, "memory grew by {more} bytes");
    rig.end();
}

fn log_message_flood(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.call_repeatedly("fault_flood", &json!({ "count": 2000 }), |answer| {
        assert_eq!(text(answer), "Sent 2000 messages.");
    });
    assert!(rig.works());
    rig.end();
}

/// Lists are refreshed at intervals, not for each notification.
fn change_notification_flood(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.call_repeatedly("fault_notifications", &json!({ "count": 1000 }), |answer| {
        assert_eq!(text(answer), "Sent 1000 notifications.");
    });
    let received = rig.call("received_messages", &json!({ "method": "tools/list" }));
    let received: Vec<Value> = serde_json::from_str(text(&received)).unwrap();
    let calls = AT_ONCE * ROUNDS;
    assert!(
        received.len() < calls * 100,
        "{} list requests",
        received.len()
    );
    assert!(rig.works());
    rig.end();
}

/// All of stderr is read, some lines are logged, and the rest is counted.
fn stderr_flood(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.call_repeatedly("fault_stderr", &json!({ "lines": 5000 }), |answer| {
        assert_eq!(text(answer), "Wrote 5000 lines.");
    });
    assert!(rig.works());
    poll_for("the count of suppressed lines", || {
        (rig.logged("server stderr lines suppressed") > 0).then_some(())
    });
    let logged = rig.logged("stderr line");
    assert!((1..20_000).contains(&logged), "{logged} lines");
    rig.end();
}
