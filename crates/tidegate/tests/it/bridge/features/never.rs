//! A question that nobody answers.

use serde_json::{Map, Value, json};
use tidegate_testkit::wait_until;

use super::super::cell::Cell;
use super::super::notes::WAITED_FOR;
use super::super::peer::{asked, go_on};
use super::Verdict;

const ASKS: &str = "ask_model";

/// The server hears of it, where it waits; and so does the client, where it does.
pub(super) async fn answered(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    match (cell.client().is_modern(), cell.server().is_modern()) {
        (true, true) => asked_anew(cell, arguments).await,
        (true, false) => comes_too_late(cell, arguments).await,
        (false, is_modern) => is_not_waited_for(cell, arguments, is_modern).await,
    }
}

/// Neither side waits: whoever calls again begins again.
async fn asked_anew(cell: &mut Cell<'_>, arguments: Value) -> Verdict {
    let peer = cell.hurried().await;
    for _ in 0..2 {
        let id = peer.begin_call(ASKS, arguments.clone()).await;
        let answer = peer.answer(&id).await;
        assert_eq!(asked(&answer).len(), 1, "{answer}");
    }
    Verdict::Works
}

/// The call waits for a client without a session, and not for ever.
async fn comes_too_late(cell: &mut Cell<'_>, arguments: Value) -> Verdict {
    let peer = cell.hurried().await;
    let mut params = json!({ "name": peer.tool(ASKS), "arguments": arguments });
    let answer = peer.request("tools/call", params.clone()).await;
    let (key, _) = asked(&answer).pop().expect("a question");
    is_told(cell).await;
    let peer = cell.hurried().await;
    let told =
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "" } });
    go_on(&mut params, &answer, Map::from_iter([(key, told)]));
    let late = peer.request("tools/call", params).await;
    let error = &late["error"];
    assert_eq!(error["code"], -32602, "{late}");
    assert!(
        error["message"].to_string().contains("send a new request"),
        "{late}"
    );
    Verdict::Works
}

/// The gateway waits for a client with a session, or a server does, and not for ever.
async fn is_not_waited_for(cell: &mut Cell<'_>, arguments: Value, by_the_gateway: bool) -> Verdict {
    let peer = cell.hurried().await;
    let id = peer.begin_call(ASKS, arguments).await;
    peer.question().await;
    let answer = peer.answer(&id).await;
    let words = answer["error"]["message"].as_str().unwrap_or_default();
    let why = match by_the_gateway {
        true => "the client did not answer in time",
        false => "the call timed out",
    };
    assert!(words.contains(why), "{answer}");
    if by_the_gateway {
        return Verdict::Changed(&WAITED_FOR);
    }
    is_told(cell).await;
    Verdict::Works
}

/// The server is told no, and that nobody waits; whichever it sees first ends the call.
async fn is_told(cell: &Cell<'_>) {
    let server = cell.server();
    wait_until("the server to be told", async || {
        server.was_refused(&cell.mark) || server.gave_up(&cell.mark)
    })
    .await;
}
