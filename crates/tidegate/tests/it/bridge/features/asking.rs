//! What a server asks its client, and what comes of it.

use serde_json::{Map, Value, json};
use tidegate_testkit::eventually;

use super::super::cell::Cell;
use super::super::notes::{
    NO_ELICITATION, NO_PAGES, NO_TOOLS_IN_SAMPLING, Note, ONE_BY_ONE, WAITED_FOR,
};
use super::super::peer::{Went, asked, go_on};
use super::Verdict;

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";

fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "ada" } })
}

/// What the server was told, by its own keys.
#[track_caller]
fn told(went: &Went) -> Value {
    serde_json::from_str(went.text()).unwrap()
}

/// Checks that the client is not asked, and that the call fails.
async fn is_not_asked(cell: &mut Cell<'_>, tool: &str, why: &'static Note) -> Verdict {
    let arguments = cell.marked(json!({}));
    let went = cell.able().await.call(tool, arguments).await;
    assert!(went.failed(), "{went:?}");
    Verdict::CannotBeSaid(why)
}

/// Calls a tool with one question, and answers it; the server gets that answer under that key.
async fn one(cell: &mut Cell<'_>, tool: &str, method: &str, key: &str, answer: Value) -> Went {
    let arguments = cell.marked(json!({}));
    let peer = cell.able().await;
    let went = peer
        .call_answering(tool, arguments, 1, |_| answer.clone())
        .await;
    assert_eq!(went.questions.len(), 1, "{went:?}");
    assert_eq!(went.questions[0]["method"], method);
    assert_eq!(told(&went), json!({ key: answer }), "{went:?}");
    went
}

pub(super) async fn form(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-06-18") {
        return is_not_asked(cell, "ask_form", &NO_ELICITATION).await;
    }
    let went = one(cell, "ask_form", ELICIT, "form", accepted()).await;
    let schema = &went.questions[0]["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["name"]["type"], "string", "{went:?}");
    Verdict::Works
}

pub(super) async fn page(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-06-18") {
        return is_not_asked(cell, "ask_page", &NO_ELICITATION).await;
    }
    if !cell.client().knows("2025-11-25") {
        return is_not_asked(cell, "ask_page", &NO_PAGES).await;
    }
    let went = one(
        cell,
        "ask_page",
        ELICIT,
        "page",
        json!({ "action": "accept" }),
    )
    .await;
    let params = &went.questions[0]["params"];
    assert_eq!(params["mode"], "url", "{went:?}");
    assert_eq!(params["url"], "https://example.com/sign-in", "{went:?}");
    let has_id = params["elicitationId"].is_string();
    assert_eq!(has_id, !cell.client().is_modern(), "{went:?}");
    Verdict::Works
}

pub(super) async fn two_at_once(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-06-18") {
        return is_not_asked(cell, "ask_two", &NO_ELICITATION).await;
    }
    let arguments = cell.marked(json!({}));
    let peer = cell.able().await;
    let went = peer
        .call_answering("ask_two", arguments, 2, |_| accepted())
        .await;
    assert_eq!(went.questions.len(), 2, "{went:?}");
    assert_eq!(
        told(&went),
        json!({ "first": accepted(), "second": accepted() })
    );
    Verdict::Works
}

pub(super) async fn partial(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-06-18") {
        return is_not_asked(cell, "ask_two", &NO_ELICITATION).await;
    }
    if !cell.client().is_modern() {
        return one_by_one(cell).await;
    }
    let arguments = cell.marked(json!({}));
    let peer = cell.able().await;
    let mut params = json!({ "name": peer.tool("ask_two"), "arguments": arguments });
    let first = peer.request("tools/call", params.clone()).await;
    let (key, _) = asked(&first).pop().expect("a question");
    go_on(
        &mut params,
        &first,
        Map::from_iter([(key.clone(), accepted())]),
    );
    let second = peer.request("tools/call", params.clone()).await;
    let rest = asked(&second);
    assert!(rest.len() == 1 && rest[0].0 != key, "{second}");
    go_on(
        &mut params,
        &second,
        Map::from_iter([(rest[0].0.clone(), accepted())]),
    );
    let done = peer.request("tools/call", params).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    Verdict::Works
}

/// Two answers, and something else between them.
async fn one_by_one(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    let peer = cell.able().await;
    let id = peer.begin_call("ask_two", arguments).await;
    let questions = [peer.question().await, peer.question().await];
    peer.tell(&questions[1]["id"], accepted()).await;
    let pong = peer.request("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}), "{pong}");
    peer.tell(&questions[0]["id"], accepted()).await;
    let answer = peer.answer(&id).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
    Verdict::CannotBeSaid(&ONE_BY_ONE)
}

pub(super) async fn decline(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-06-18") {
        return is_not_asked(cell, "ask_form", &NO_ELICITATION).await;
    }
    one(
        cell,
        "ask_form",
        ELICIT,
        "form",
        json!({ "action": "decline" }),
    )
    .await;
    Verdict::Works
}

/// The server hears of it, where it waits; and so does the client.
pub(super) async fn never(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    let (client_is_modern, server_is_modern) = (cell.client().is_modern(), cell.server().is_modern);
    let peer = cell.able_before_the_hasty().await;
    let id = peer.begin_call("ask_model", arguments).await;
    if client_is_modern {
        let answer = peer.answer(&id).await;
        assert_eq!(asked(&answer).len(), 1, "{answer}");
    } else {
        peer.question().await;
    }
    if server_is_modern {
        return nobody_waits(cell, id).await;
    }
    if !client_is_modern {
        let answer = peer.answer(&id).await;
        assert!(answer.get("error").is_some(), "{answer}");
    }
    let server = cell.server();
    // It is told no, and that nobody waits; whichever it sees first ends the call.
    eventually("the server to be told", async || {
        server.was_refused(&cell.mark) || server.gave_up(&cell.mark)
    })
    .await;
    Verdict::Works
}

/// A server that has answered with its question knows of no call any more; a client with a session
/// is waited for by the gateway alone, which goes on with everything else.
async fn nobody_waits(cell: &mut Cell<'_>, id: Value) -> Verdict {
    if cell.client().is_modern() {
        return Verdict::Works;
    }
    let peer = cell.able_as_it_is();
    let pong = peer.request("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}), "{pong}");
    let params = json!({ "requestId": id });
    peer.notify("notifications/cancelled", params).await;
    Verdict::Changed(&WAITED_FOR)
}

pub(super) async fn sampling(cell: &mut Cell<'_>) -> Verdict {
    let answer = json!({
        "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" },
    });
    one(cell, "ask_model", SAMPLE, "model", answer).await;
    Verdict::Works
}

pub(super) async fn sampling_with_tools(cell: &mut Cell<'_>) -> Verdict {
    if !cell.client().knows("2025-11-25") {
        return is_not_asked(cell, "ask_model_with_tools", &NO_TOOLS_IN_SAMPLING).await;
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

pub(super) async fn roots(cell: &mut Cell<'_>) -> Verdict {
    let answer = json!({ "roots": [{ "uri": "file:///home/ada", "name": "home" }] });
    one(cell, "ask_roots", "roots/list", "client_roots", answer).await;
    Verdict::Works
}
