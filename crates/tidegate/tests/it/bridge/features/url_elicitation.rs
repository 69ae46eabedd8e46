//! URL elicitations that a call requires first, and the notification of their completion.

use serde_json::{Map, Value, json};

use super::super::cell::Cell;
use super::super::client_session::{ClientSession, add_answers, input_requests};
use super::super::notes::{
    AS_TEXT, INPUT_REQUIRED_INSTEAD, NO_COMPLETE_NOTIFICATION, OLDER_SERVER,
};
use super::Verdict;
use super::questions::{check_not_asked, no_url_mode};

const SIGN_IN: &str = "https://example.com/sign-in";
const COMPLETE: &str = "notifications/elicitation/complete";
const REQUIRED: i64 = -32042;

/// A call that fails until a URL elicitation is complete.
pub(super) async fn required(cell: &mut Cell<'_>) -> Verdict {
    if !cell.server().has_revision("2025-11-25") {
        return check_not_asked(cell, "needs_page", &OLDER_SERVER).await;
    }
    if cell.server().is_modern() {
        return check_input_required(cell).await;
    }
    let arguments = cell.marked(json!({}));
    if !cell.client().has_revision("2025-11-25") {
        let outcome = cell
            .with_capabilities()
            .await
            .call("needs_page", arguments)
            .await;
        assert_eq!(outcome.answer["result"]["isError"], true, "{outcome:?}");
        assert!(outcome.answer.to_string().contains(SIGN_IN), "{outcome:?}");
        return Verdict::Changed(&AS_TEXT);
    }
    let mut peer = url_client(cell).await;
    match peer.is_modern() {
        true => answer_and_repeat(&mut peer, arguments).await,
        false => {
            expect_url_required(&mut peer, &arguments).await;
            peer.call("visit_page", arguments.clone()).await.text();
            peer.call("needs_page", arguments).await.text();
        }
    }
    Verdict::Works
}

/// A client without a session is asked and repeats its call.
async fn answer_and_repeat(peer: &mut ClientSession, arguments: Value) {
    let mut params = json!({ "name": peer.tool("needs_page"), "arguments": arguments });
    let answer = peer.request("tools/call", params.clone()).await;
    let (key, question) = input_requests(&answer).pop().expect("a question");
    assert_eq!(question["params"]["mode"], "url", "{answer}");
    assert_eq!(question["params"]["url"], SIGN_IN, "{answer}");
    assert_eq!(question["params"].get("elicitationId"), None, "{answer}");
    peer.call("visit_page", arguments).await.text();
    let answers = Map::from_iter([(key, json!({ "action": "accept" }))]);
    add_answers(&mut params, &answer, answers);
    let completed = peer.request("tools/call", params).await;
    assert_eq!(completed["result"]["resultType"], "complete", "{completed}");
}

/// A server of the newest revision has no such error: it requires input.
async fn check_input_required(cell: &mut Cell<'_>) -> Verdict {
    match no_url_mode(cell) {
        Some(why) => check_not_asked(cell, "needs_page", why).await,
        None => {
            let arguments = cell.marked(json!({}));
            let peer = cell.with_capabilities().await;
            let outcome = peer.call_answering("needs_page", arguments, 1, accepts);
            let outcome = outcome.await;
            outcome.text();
            assert_eq!(
                outcome.questions[0]["params"]["url"], SIGN_IN,
                "{outcome:?}"
            );
            Verdict::Unsupported(&INPUT_REQUIRED_INSTEAD)
        }
    }
}

/// Only the client that got the elicitation is notified of its completion.
pub(super) async fn completed(cell: &mut Cell<'_>) -> Verdict {
    if let Some(why) = no_url_mode(cell) {
        return check_not_asked(cell, "ask_page", why).await;
    }
    let server_is_modern = cell.server().is_modern();
    let mut peers = [url_client(cell).await, url_client(cell).await];
    // Sequentially: the first notification of the second client must be its own.
    for (number, peer) in peers.iter_mut().enumerate() {
        let arguments = json!({ "mark": format!("{}-{number}", cell.mark) });
        match server_is_modern {
            _ if peer.is_modern() => expect_no_notification(peer, arguments).await,
            true => notified_by_gateway(peer, arguments).await,
            false => notified_by_server(peer, arguments).await,
        }
    }
    match cell.client().is_modern() {
        true => Verdict::Unsupported(&NO_COMPLETE_NOTIFICATION),
        false => Verdict::Works,
    }
}

fn accepts(_: &Value) -> Value {
    json!({ "action": "accept" })
}

/// The server sends the notification, on any stream.
async fn notified_by_server(peer: &mut ClientSession, arguments: Value) {
    let elicitation_id = expect_url_required(peer, &arguments).await;
    let outcome = peer.call("visit_page", arguments).await;
    outcome.text();
    let notified = match outcome.notifications(COMPLETE).first() {
        Some(params) => (*params).clone(),
        None => peer.notification(COMPLETE).await,
    };
    assert_eq!(notified["elicitationId"], elicitation_id, "{notified}");
}

/// A server of the newest revision continues after the answer; the gateway then sends the
/// notification.
async fn notified_by_gateway(peer: &mut ClientSession, arguments: Value) {
    let outcome = peer.call_answering("ask_page", arguments, 1, accepts).await;
    let elicitation_id = &outcome.questions[0]["params"]["elicitationId"];
    assert!(elicitation_id.is_string(), "{outcome:?}");
    let completed = outcome.notifications(COMPLETE);
    assert_eq!(completed.len(), 1, "{outcome:?}");
    assert_eq!(
        completed[0]["elicitationId"], *elicitation_id,
        "{outcome:?}"
    );
}

/// Gets the error that requires an elicitation; returns its id.
async fn expect_url_required(peer: &mut ClientSession, arguments: &Value) -> Value {
    let outcome = peer.call("needs_page", arguments.clone()).await;
    let error = &outcome.answer["error"];
    assert_eq!(error["code"], REQUIRED, "{outcome:?}");
    let elicitation = &error["data"]["elicitations"][0];
    assert_eq!(elicitation["url"], SIGN_IN, "{outcome:?}");
    let elicitation_id = elicitation["elicitationId"].clone();
    let mark = arguments["mark"].as_str().unwrap();
    // The server's own id contains the mark and must not reach the client.
    assert!(
        !elicitation_id.as_str().unwrap().contains(mark),
        "{outcome:?}"
    );
    elicitation_id
}

/// The client gets the result and no notification.
async fn expect_no_notification(peer: &mut ClientSession, arguments: Value) {
    let outcome = peer.call_answering("ask_page", arguments, 1, accepts).await;
    outcome.text();
    assert_eq!(outcome.notifications(COMPLETE).len(), 0, "{outcome:?}");
}

/// A client with elicitation only: with roots, each call would have a server of its own.
async fn url_client(cell: &Cell<'_>) -> ClientSession {
    let pages = json!({ "elicitation": { "form": {}, "url": {} } });
    cell.separate_client(pages).await
}
