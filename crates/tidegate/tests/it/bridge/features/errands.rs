//! What a user must do on a page before a call can be made, and who hears that it was done.

use serde_json::{Map, Value, json};

use super::super::cell::Cell;
use super::super::notes::{AS_TEXT, ASKED_INSTEAD, NO_WORD_OF_THE_END, OLDER_SERVER};
use super::super::peer::{Peer, asked, go_on};
use super::Verdict;
use super::asked::{is_not_asked, no_page};

const SIGN_IN: &str = "https://example.com/sign-in";
const COMPLETE: &str = "notifications/elicitation/complete";
const REQUIRED: i64 = -32042;

/// A call that fails until the user was on a page.
pub(super) async fn needed(cell: &mut Cell<'_>) -> Verdict {
    if !cell.server().knows("2025-11-25") {
        return is_not_asked(cell, "needs_page", &OLDER_SERVER).await;
    }
    if cell.server().is_modern() {
        return asks_instead(cell).await;
    }
    let arguments = cell.marked(json!({}));
    if !cell.client().knows("2025-11-25") {
        let went = cell.able().await.call("needs_page", arguments).await;
        assert_eq!(went.answer["result"]["isError"], true, "{went:?}");
        assert!(went.answer.to_string().contains(SIGN_IN), "{went:?}");
        return Verdict::Changed(&AS_TEXT);
    }
    let mut peer = sent_to_pages(cell).await;
    match peer.is_modern() {
        true => goes_and_comes_back(&mut peer, arguments).await,
        false => {
            must_go(&mut peer, &arguments).await;
            peer.call("visit_page", arguments.clone()).await.text();
            peer.call("needs_page", arguments).await.text();
        }
    }
    Verdict::Works
}

/// A client without a session is asked, and makes its call again.
async fn goes_and_comes_back(peer: &mut Peer, arguments: Value) {
    let mut params = json!({ "name": peer.tool("needs_page"), "arguments": arguments });
    let answer = peer.request("tools/call", params.clone()).await;
    let (key, question) = asked(&answer).pop().expect("a question");
    assert_eq!(question["params"]["mode"], "url", "{answer}");
    assert_eq!(question["params"]["url"], SIGN_IN, "{answer}");
    assert_eq!(question["params"].get("elicitationId"), None, "{answer}");
    peer.call("visit_page", arguments).await.text();
    let told = Map::from_iter([(key, json!({ "action": "accept" }))]);
    go_on(&mut params, &answer, told);
    let done = peer.request("tools/call", params).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

/// A server of the newest revision has no such error: it asks.
async fn asks_instead(cell: &mut Cell<'_>) -> Verdict {
    match no_page(cell) {
        Some(why) => is_not_asked(cell, "needs_page", why).await,
        None => {
            let arguments = cell.marked(json!({}));
            let peer = cell.able().await;
            let went = peer.call_answering("needs_page", arguments, 1, accepts);
            let went = went.await;
            went.text();
            assert_eq!(went.questions[0]["params"]["url"], SIGN_IN, "{went:?}");
            Verdict::CannotBeSaid(&ASKED_INSTEAD)
        }
    }
}

/// Whoever was sent to a page hears that it is done, and nobody else.
pub(super) async fn done(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_page(cell) {
        return is_not_asked(cell, "ask_page", why).await;
    }
    let server_is_modern = cell.server().is_modern();
    let mut peers = [sent_to_pages(cell).await, sent_to_pages(cell).await];
    // One after the other: what the second hears first is its own.
    for (number, peer) in peers.iter_mut().enumerate() {
        let arguments = json!({ "mark": format!("{}-{number}", cell.mark) });
        match server_is_modern {
            _ if peer.is_modern() => hears_nothing(peer, arguments).await,
            true => is_told_by_the_gateway(peer, arguments).await,
            false => is_told(peer, arguments).await,
        }
    }
    match cell.client().is_modern() {
        true => Verdict::CannotBeSaid(&NO_WORD_OF_THE_END),
        false => Verdict::Works,
    }
}

fn accepts(_: &Value) -> Value {
    json!({ "action": "accept" })
}

/// The server says that it is done, on whatever stream.
async fn is_told(peer: &mut Peer, arguments: Value) {
    let errand = must_go(peer, &arguments).await;
    let went = peer.call("visit_page", arguments).await;
    went.text();
    let done = match went.heard(COMPLETE).first() {
        Some(params) => (*params).clone(),
        None => peer.hear(COMPLETE).await,
    };
    assert_eq!(done["elicitationId"], errand, "{done}");
}

/// A server of the newest revision goes on once it is done, and that is what the client is told.
async fn is_told_by_the_gateway(peer: &mut Peer, arguments: Value) {
    let went = peer.call_answering("ask_page", arguments, 1, accepts).await;
    let errand = &went.questions[0]["params"]["elicitationId"];
    assert!(errand.is_string(), "{went:?}");
    let done = went.heard(COMPLETE);
    assert_eq!(done.len(), 1, "{went:?}");
    assert_eq!(done[0]["elicitationId"], *errand, "{went:?}");
}

/// Is told that the user must go to a page first; gives the name of that errand.
async fn must_go(peer: &mut Peer, arguments: &Value) -> Value {
    let went = peer.call("needs_page", arguments.clone()).await;
    let error = &went.answer["error"];
    assert_eq!(error["code"], REQUIRED, "{went:?}");
    let page = &error["data"]["elicitations"][0];
    assert_eq!(page["url"], SIGN_IN, "{went:?}");
    let errand = page["elicitationId"].clone();
    let mark = arguments["mark"].as_str().unwrap();
    // The server's own name for it says the mark, and stays with the gateway.
    assert!(!errand.as_str().unwrap().contains(mark), "{went:?}");
    errand
}

/// The answer is there, and that is all.
async fn hears_nothing(peer: &mut Peer, arguments: Value) {
    let went = peer.call_answering("ask_page", arguments, 1, accepts).await;
    went.text();
    assert_eq!(went.heard(COMPLETE).len(), 0, "{went:?}");
}

/// A client that can be sent to pages, and nothing else: the calls of one that shows its folders have
/// a server each.
async fn sent_to_pages(cell: &Cell<'_>) -> Peer {
    let pages = json!({ "elicitation": { "form": {}, "url": {} } });
    cell.another(pages).await
}
