//! What a server asks the client's model.

use serde_json::json;

use super::super::cell::Cell;
use super::super::notes::{NO_TOOLS_IN_SAMPLING, NO_WORD_FOR_NO, OLDER_SERVER};
use super::super::peer::asked;
use super::Verdict;
use super::asked::{SAMPLE, is_not_asked, one};

pub(super) async fn sampling(cell: &mut Cell<'_>) -> Verdict {
    let answer = json!({
        "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" },
    });
    one(cell, "ask_model", SAMPLE, "model", answer).await;
    Verdict::Works
}

pub(super) async fn with_tools(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-11-25") {
        return is_not_asked(cell, "ask_model_with_tools", &NO_TOOLS_IN_SAMPLING).await;
    }
    if !cell.server().knows("2025-11-25") {
        return is_not_asked(cell, "ask_model_with_tools", &OLDER_SERVER).await;
    }
    let used =
        json!({ "type": "tool_use", "id": "u1", "name": "look_up", "input": { "word": "a" } });
    let answer = json!({
        "role": "assistant", "model": "m", "content": [used], "stopReason": "toolUse",
    });
    let went = one(cell, "ask_model_with_tools", SAMPLE, "model", answer).await;
    let params = &went.questions[0]["params"];
    assert_eq!(params["tools"][0]["name"], "look_up", "{went:?}");
    assert_eq!(
        params["toolChoice"],
        json!({ "mode": "required" }),
        "{went:?}"
    );
    Verdict::Works
}

/// The user says no. What the client says of it arrives, where there is a word for it.
pub(super) async fn refused(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    let server_is_modern = cell.server().is_modern();
    let peer = cell.able().await;
    if peer.is_modern() {
        // It does not come back, and that is all; its next call is another.
        let id = peer.begin_call("ask_model", arguments.clone()).await;
        assert_eq!(asked(&peer.answer(&id).await).len(), 1);
        peer.call("echo", arguments).await.text();
        return Verdict::CannotBeSaid(&NO_WORD_FOR_NO);
    }
    let no = json!({ "code": -1, "message": "the user said no" });
    let went = peer
        .call_answering("ask_model", arguments, 1, |_| no.clone())
        .await;
    assert!(went.failed(), "{went:?}");
    let words = match server_is_modern {
        true => &went.answer["error"]["message"],
        false => &went.answer["result"]["content"][0]["text"],
    };
    assert!(words.to_string().contains("the user said no"), "{went:?}");
    match server_is_modern {
        true => Verdict::Changed(&NO_WORD_FOR_NO),
        false => Verdict::Works,
    }
}
