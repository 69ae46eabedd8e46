//! A question that is never answered.

use serde_json::{Map, Value, json};
use tidegate_testkit::wait_until;

use super::super::cell::Cell;
use super::super::client_session::{add_answers, input_requests};
use super::super::notes::GATEWAY_WAITS;
use super::Verdict;

const TOOL: &str = "ask_model";

/// The server learns of it if it waits, and the client if it waits.
pub(super) async fn never_answered(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    match (cell.client().is_modern(), cell.server().is_modern()) {
        (true, true) => start_over(cell, arguments).await,
        (true, false) => answer_too_late(cell, arguments).await,
        (false, is_modern) => time_out(cell, arguments, is_modern).await,
    }
}

/// Neither side waits: a repeated call starts over.
async fn start_over(cell: &mut Cell<'_>, arguments: Value) -> Verdict {
    let peer = cell.with_short_timeouts().await;
    for _ in 0..2 {
        let id = peer.start_call(TOOL, arguments.clone()).await;
        let answer = peer.answer(&id).await;
        assert_eq!(input_requests(&answer).len(), 1, "{answer}");
    }
    Verdict::Works
}

/// The call is parked for a client without a session, for a limited time.
async fn answer_too_late(cell: &mut Cell<'_>, arguments: Value) -> Verdict {
    let peer = cell.with_short_timeouts().await;
    let mut params = json!({ "name": peer.tool(TOOL), "arguments": arguments });
    let answer = peer.request("tools/call", params.clone()).await;
    let (key, _) = input_requests(&answer).pop().expect("a question");
    wait_for_server(cell).await;
    let peer = cell.with_short_timeouts().await;
    let answers =
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "" } });
    add_answers(&mut params, &answer, Map::from_iter([(key, answers)]));
    let late = peer.request("tools/call", params).await;
    let error = &late["error"];
    assert_eq!(error["code"], -32602, "{late}");
    assert!(
        error["message"].to_string().contains("send a new request"),
        "{late}"
    );
    Verdict::Works
}

/// The gateway or the server waits for a client with a session, for a limited time.
async fn time_out(cell: &mut Cell<'_>, arguments: Value, gateway_waits: bool) -> Verdict {
    let peer = cell.with_short_timeouts().await;
    let id = peer.start_call(TOOL, arguments).await;
    peer.question().await;
    let answer = peer.answer(&id).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    let why = match gateway_waits {
        true => "the client did not answer in time",
        false => "the call timed out",
    };
    assert!(message.contains(why), "{answer}");
    if gateway_waits {
        return Verdict::Changed(&GATEWAY_WAITS);
    }
    wait_for_server(cell).await;
    Verdict::Works
}

/// The question fails and the call is cancelled; either ends the call.
async fn wait_for_server(cell: &Cell<'_>) {
    let server = cell.server();
    wait_until("the server to get an error or a cancellation", async || {
        server.question_failed(&cell.mark) || server.was_cancelled(&cell.mark)
    })
    .await;
}
