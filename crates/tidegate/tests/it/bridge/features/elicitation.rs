//! What a server asks the user.

use serde_json::{Map, Value, json};

use super::super::cell::Cell;
use super::super::notes::ONE_BY_ONE;
use super::super::peer::{Peer, asked, go_on};
use super::Verdict;
use super::asked::{ELICIT, accepted, is_not_asked, no_form, no_page, one, told};

pub(super) async fn form(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_form(cell) {
        return is_not_asked(cell, "ask_form", why).await;
    }
    let went = one(cell, "ask_form", ELICIT, "form", accepted()).await;
    let schema = &went.questions[0]["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["name"]["type"], "string", "{went:?}");
    Verdict::Works
}

pub(super) async fn page(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_page(cell) {
        return is_not_asked(cell, "ask_page", why).await;
    }
    let accepts = json!({ "action": "accept" });
    let went = one(cell, "ask_page", ELICIT, "page", accepts).await;
    let params = &went.questions[0]["params"];
    assert_eq!(params["mode"], "url", "{went:?}");
    assert_eq!(params["url"], "https://example.com/sign-in", "{went:?}");
    let has_id = params["elicitationId"].is_string();
    assert_eq!(has_id, !cell.client().is_modern(), "{went:?}");
    Verdict::Works
}

pub(super) async fn two_at_once(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_form(cell) {
        return is_not_asked(cell, "ask_two", why).await;
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
    if let Some(why) = no_form(cell) {
        return is_not_asked(cell, "ask_two", why).await;
    }
    let arguments = cell.marked(json!({}));
    let (is_modern, peer) = (cell.client().is_modern(), cell.able().await);
    if !is_modern {
        return one_by_one(peer, arguments).await;
    }
    let params = json!({ "name": peer.tool("ask_two"), "arguments": arguments });
    // A server with sessions asks twice. If the machine is busy, the second question may come too
    // late for the first round; then there is nothing partial about this call, but about another.
    while !half_answered(peer, params.clone()).await {}
    Verdict::Works
}

/// Answers one question, is asked the other again, and answers that; false if both were never asked
/// together.
async fn half_answered(peer: &mut Peer, mut params: Value) -> bool {
    let first = peer.request("tools/call", params.clone()).await;
    let questions = asked(&first);
    let (key, _) = questions[0].clone();
    answer_one(&mut params, &first, &key);
    let second = peer.request("tools/call", params.clone()).await;
    let rest = asked(&second);
    assert!(rest.len() == 1 && rest[0].0 != key, "{second}");
    answer_one(&mut params, &second, &rest[0].0);
    let done = peer.request("tools/call", params).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let text = done["result"]["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    let both = json!({ "first": accepted(), "second": accepted() });
    assert_eq!(told, both, "{done}");
    questions.len() == 2
}

fn answer_one(params: &mut Value, before: &Value, key: &str) {
    let told = Map::from_iter([(key.to_owned(), accepted())]);
    go_on(params, before, told);
}

/// Two answers, and something else between them.
async fn one_by_one(peer: &mut Peer, arguments: Value) -> Verdict {
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
    if let Some(why) = no_form(cell) {
        return is_not_asked(cell, "ask_form", why).await;
    }
    let declines = json!({ "action": "decline" });
    one(cell, "ask_form", ELICIT, "form", declines).await;
    Verdict::Works
}
