//! Sampling.

use serde_json::json;

use super::super::cell::Cell;
use super::super::client_session::input_requests;
use super::super::notes::{NO_SAMPLING_REFUSAL, NO_TOOLS_IN_SAMPLING, OLDER_SERVER};
use super::Verdict;
use super::questions::{SAMPLE, answer_one_question, check_not_asked};

pub(super) async fn sampling(cell: &mut Cell<'_>) -> Verdict {
    let answer = json!({
        "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" },
    });
    answer_one_question(cell, "ask_model", SAMPLE, "model", answer).await;
    Verdict::Works
}

pub(super) async fn with_tools(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().has_revision("2025-11-25") {
        return check_not_asked(cell, "ask_model_with_tools", &NO_TOOLS_IN_SAMPLING).await;
    }
    if !cell.server().has_revision("2025-11-25") {
        return check_not_asked(cell, "ask_model_with_tools", &OLDER_SERVER).await;
    }
    let used =
        json!({ "type": "tool_use", "id": "u1", "name": "look_up", "input": { "word": "a" } });
    let answer = json!({
        "role": "assistant", "model": "m", "content": [used], "stopReason": "toolUse",
    });
    let outcome = answer_one_question(cell, "ask_model_with_tools", SAMPLE, "model", answer).await;
    let params = &outcome.questions[0]["params"];
    assert_eq!(params["tools"][0]["name"], "look_up", "{outcome:?}");
    assert_eq!(
        params["toolChoice"],
        json!({ "mode": "required" }),
        "{outcome:?}"
    );
    Verdict::Works
}

/// The user refuses. The client's message is relayed where the revision allows it.
pub(super) async fn refused(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    let server_is_modern = cell.server().is_modern();
    let peer = cell.with_capabilities().await;
    if peer.is_modern() {
        // It does not retry; its next call is independent.
        let id = peer.start_call("ask_model", arguments.clone()).await;
        assert_eq!(input_requests(&peer.answer(&id).await).len(), 1);
        peer.call("echo", arguments).await.text();
        return Verdict::Unsupported(&NO_SAMPLING_REFUSAL);
    }
    let no = json!({ "code": -1, "message": "the user said no" });
    let outcome = peer
        .call_answering("ask_model", arguments, 1, |_| no.clone())
        .await;
    assert!(outcome.failed(), "{outcome:?}");
    let words = match server_is_modern {
        true => &outcome.answer["error"]["message"],
        false => &outcome.answer["result"]["content"][0]["text"],
    };
    assert!(
        words.to_string().contains("the user said no"),
        "{outcome:?}"
    );
    match server_is_modern {
        true => Verdict::Changed(&NO_SAMPLING_REFUSAL),
        false => Verdict::Works,
    }
}
