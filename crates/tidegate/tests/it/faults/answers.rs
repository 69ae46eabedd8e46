//! Answers that are wrong, come twice, or not at all.

use serde_json::{Value, json};

use super::rig::{Kind, Rig, expect_error, expect_failure, text};

everywhere!(
    an_answer_for_nobody,
    an_answer_twice,
    an_end_without_an_answer,
    garbage_for_an_answer,
    garbage_before_an_answer
);
over_http!(a_status_alone);
// The oldest transport has one stream: where that is silent for good, so is the server.
on!(
    half_an_answer_and_silence: pipe_legacy = PipeLegacy, pipe_modern = PipeModern,
    http_legacy = HttpLegacy, http_modern = HttpModern, http_events = HttpEvents,
);

const SOON: &str = "1s";

/// The call fails: at once where its own stream ends, else when its time is over.
#[track_caller]
fn expect_no_answer(rig: &Rig, answer: &Value) {
    match rig.kind.is_one_way() {
        true => expect_error(answer, "timeout"),
        false => expect_failure(answer),
    }
}

fn an_answer_for_nobody(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": SOON }));
    rig.every_time("fault_wrong_id", &json!({}), |answer| {
        expect_no_answer(&rig, answer);
    });
    rig.works_again();
    rig.end();
}

fn an_answer_twice(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.every_time("fault_twice", &json!({}), |answer| {
        assert_eq!(text(answer), "A valid response.");
    });
    assert!(rig.works());
    rig.end();
}

fn an_end_without_an_answer(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": SOON }));
    rig.every_time("fault_no_answer", &json!({}), |answer| {
        expect_no_answer(&rig, answer);
    });
    rig.works_again();
    rig.end();
}

fn garbage_for_an_answer(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": SOON }));
    rig.every_time("fault_garbage", &json!({}), |answer| {
        expect_no_answer(&rig, answer);
    });
    rig.works_again();
    rig.end();
}

/// Many servers log where their messages should be alone.
fn garbage_before_an_answer(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    let garbage = json!({ "answers": true, "count": 1000 });
    rig.every_time("fault_garbage", &garbage, |answer| {
        // A body that is one JSON value is broken by anything else in it.
        if rig.kind != Kind::HttpLegacy && rig.kind != Kind::HttpModern {
            assert_eq!(text(answer), "A valid response.");
        }
    });
    assert!(rig.works());
    let told = rig.logged("no message");
    assert!(told < 100, "told {told} times");
    rig.end();
}

/// The first half of an answer, and then nothing, with the stream left open.
fn half_an_answer_and_silence(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": SOON }));
    let silent = json!({ "breaks": false });
    rig.every_time("fault_half", &silent, |answer| {
        expect_error(answer, "timeout");
    });
    rig.works_again();
    rig.end();
}

fn a_status_alone(kind: Kind) {
    let rig = Rig::start(kind, &[], &json!({}));
    for status in [400, 403, 404, 429, 500, 503] {
        let answer = rig.call("fault_status", &json!({ "status": status }));
        expect_failure(&answer);
        rig.works_again();
    }
    rig.end();
}
