//! Elicitation in form and URL mode.

use serde_json::{Map, Value, json};
use tidegate_testkit::wait_until;

use super::super::cell::Cell;
use super::super::client_session::{ClientSession, add_answers, input_requests};
use super::super::notes::SEPARATE_QUESTIONS;
use super::Verdict;
use super::questions::{
    ELICIT, accepted, answer_one_question, answers, check_not_asked, no_form, no_url_mode,
};

pub(super) async fn form(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_form(cell) {
        return check_not_asked(cell, "ask_form", why).await;
    }
    let outcome = answer_one_question(cell, "ask_form", ELICIT, "form", accepted()).await;
    let schema = &outcome.questions[0]["params"]["requestedSchema"];
    assert_eq!(
        schema["properties"]["name"]["type"], "string",
        "{outcome:?}"
    );
    Verdict::Works
}

pub(super) async fn url(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_url_mode(cell) {
        return check_not_asked(cell, "ask_page", why).await;
    }
    let accepts = json!({ "action": "accept" });
    let outcome = answer_one_question(cell, "ask_page", ELICIT, "page", accepts).await;
    let params = &outcome.questions[0]["params"];
    assert_eq!(params["mode"], "url", "{outcome:?}");
    assert_eq!(params["url"], "https://example.com/sign-in", "{outcome:?}");
    let has_id = params["elicitationId"].is_string();
    assert_eq!(has_id, !cell.client().is_modern(), "{outcome:?}");
    Verdict::Works
}

pub(super) async fn two_at_once(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_form(cell) {
        return check_not_asked(cell, "ask_two", why).await;
    }
    let arguments = cell.marked(json!({}));
    let peer = cell.with_capabilities().await;
    let outcome = peer
        .call_answering("ask_two", arguments, 2, |_| accepted())
        .await;
    assert_eq!(outcome.questions.len(), 2, "{outcome:?}");
    assert_eq!(
        answers(&outcome),
        json!({ "first": accepted(), "second": accepted() })
    );
    Verdict::Works
}

pub(super) async fn partial(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_form(cell) {
        return check_not_asked(cell, "ask_two", why).await;
    }
    let arguments = cell.marked(json!({}));
    let (is_modern, peer) = (cell.client().is_modern(), cell.with_capabilities().await);
    if !is_modern {
        return answer_separately(peer, arguments).await;
    }
    let params = json!({ "name": peer.tool("ask_two"), "arguments": arguments });
    // A server with sessions asks twice. On a busy machine the second question can come too late
    // for the first round; then the call has no partial answers, and another call is made.
    wait_until("both questions in one round", async || {
        answer_partially(peer, params.clone()).await
    })
    .await;
    Verdict::Works
}

/// Answers one of two questions, then the other; false if they were not asked together.
async fn answer_partially(peer: &mut ClientSession, mut params: Value) -> bool {
    let first = peer.request("tools/call", params.clone()).await;
    let questions = input_requests(&first);
    let (key, _) = questions[0].clone();
    answer_one(&mut params, &first, &key);
    let second = peer.request("tools/call", params.clone()).await;
    let rest = input_requests(&second);
    assert!(rest.len() == 1 && rest[0].0 != key, "{second}");
    answer_one(&mut params, &second, &rest[0].0);
    let done = peer.request("tools/call", params).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let text = done["result"]["content"][0]["text"].as_str().unwrap();
    let answers: Value = serde_json::from_str(text).unwrap();
    let both = json!({ "first": accepted(), "second": accepted() });
    assert_eq!(answers, both, "{done}");
    questions.len() == 2
}

fn answer_one(params: &mut Value, before: &Value, key: &str) {
    let answers = Map::from_iter([(key.to_owned(), accepted())]);
    add_answers(params, before, answers);
}

/// Two answers with another request between them.
async fn answer_separately(peer: &mut ClientSession, arguments: Value) -> Verdict {
    let id = peer.start_call("ask_two", arguments).await;
    let questions = [peer.question().await, peer.question().await];
    peer.answer_question(&questions[1]["id"], accepted()).await;
    let pong = peer.request("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}), "{pong}");
    peer.answer_question(&questions[0]["id"], accepted()).await;
    let answer = peer.answer(&id).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
    Verdict::Unsupported(&SEPARATE_QUESTIONS)
}

pub(super) async fn decline(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_form(cell) {
        return check_not_asked(cell, "ask_form", why).await;
    }
    let declines = json!({ "action": "decline" });
    answer_one_question(cell, "ask_form", ELICIT, "form", declines).await;
    Verdict::Works
}
