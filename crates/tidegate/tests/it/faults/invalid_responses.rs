//! Responses that are wrong, duplicated or missing.

use serde_json::{Value, json};

use super::rig::{CALL_TIMEOUT, Rig, ServerKind, expect_error, expect_failure, text};

over_all_transports!(
    response_with_unknown_id,
    duplicate_response,
    stream_end_without_response,
    invalid_json_as_response,
    invalid_json_before_response
);
over_http!(status_without_body);
// HTTP+SSE has one stream: if it stalls, so does the server.
on!(
    stalled_response: stdio_legacy = StdioLegacy, stdio_modern = StdioModern,
    http_legacy = HttpLegacy, http_modern = HttpModern, http_event_stream = HttpEventStream,
);

/// The call fails: at once if its own stream ends, otherwise with a timeout.
#[track_caller]
fn expect_no_response(rig: &Rig, answer: &Value) {
    match rig.kind.is_single_connection() {
        true => expect_error(answer, "timeout"),
        false => expect_failure(answer),
    }
}

fn response_with_unknown_id(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    rig.call_repeatedly("fault_wrong_id", &json!({}), |answer| {
        expect_no_response(&rig, answer);
    });
    rig.wait_until_working();
    rig.end();
}

fn duplicate_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    rig.call_repeatedly("fault_twice", &json!({}), |answer| {
        assert_eq!(text(answer), "A valid response.");
    });
    assert!(rig.works());
    rig.end();
}

fn stream_end_without_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    rig.call_repeatedly("fault_no_answer", &json!({}), |answer| {
        expect_no_response(&rig, answer);
    });
    rig.wait_until_working();
    rig.end();
}

fn invalid_json_as_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    rig.call_repeatedly("fault_garbage", &json!({}), |answer| {
        expect_no_response(&rig, answer);
    });
    rig.wait_until_working();
    rig.end();
}

/// Many servers log to stdout.
fn invalid_json_before_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    let garbage = json!({ "answers": true, "count": 200 });
    rig.call_repeatedly("fault_garbage", &garbage, |answer| {
        // A JSON body with anything else in it is invalid.
        if rig.kind != ServerKind::HttpLegacy && rig.kind != ServerKind::HttpModern {
            assert_eq!(text(answer), "A valid response.");
        }
    });
    assert!(rig.works());
    let warnings = rig.logged("invalid message");
    assert!(warnings < 100, "{warnings} warnings");
    rig.end();
}

/// The first half of a response, then nothing, with the stream left open.
fn stalled_response(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({ "call_timeout": CALL_TIMEOUT }));
    let silent = json!({ "breaks": false });
    rig.call_repeatedly("fault_half", &silent, |answer| {
        expect_error(answer, "timeout");
    });
    rig.wait_until_working();
    rig.end();
}

fn status_without_body(kind: ServerKind) {
    let rig = Rig::start(kind, &[], &json!({}));
    for status in [400, 403, 404, 429, 500, 503] {
        let answer = rig.call("fault_status", &json!({ "status": status }));
        expect_failure(&answer);
        rig.wait_until_working();
    }
    rig.end();
}
