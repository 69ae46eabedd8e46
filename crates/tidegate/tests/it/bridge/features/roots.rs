//! Questions for the client's roots, and notifications of their changes.

use serde_json::json;
use tidegate_testkit::wait_until;

use super::super::cell::Cell;
use super::super::client_session::ClientSession;
use super::super::notes::NO_ROOTS_NOTIFICATION;
use super::Verdict;
use super::questions::answer_one_question;

const CHANGED: &str = "notifications/roots/list_changed";

pub(super) async fn questions(cell: &mut Cell<'_>) -> Verdict {
    let answer = json!({ "roots": [{ "uri": "file:///home/ada", "name": "home" }] });
    answer_one_question(cell, "ask_roots", "roots/list", "client_roots", answer).await;
    Verdict::Works
}

pub(super) async fn changed(cell: &mut Cell<'_>) -> Verdict {
    let server_is_modern = cell.server().is_modern();
    let arguments = cell.marked(json!({}));
    let peer = cell.with_capabilities().await;
    if peer.is_modern() || server_is_modern {
        let params = peer.with_modern_meta(json!({}));
        peer.notify(CHANGED, params).await;
        peer.call("echo", arguments).await.text();
        return Verdict::Unsupported(&NO_ROOTS_NOTIFICATION);
    }
    let before = changes(peer).await;
    peer.notify(CHANGED, json!({})).await;
    // The notification and the next call are not ordered.
    wait_until("the notification to reach the server", async || {
        changes(peer).await != before
    })
    .await;
    Verdict::Works
}

/// How many notifications the server got in the session of this client.
async fn changes(peer: &mut ClientSession) -> u64 {
    let outcome = peer.call("roots_changes", json!({})).await;
    outcome.text().parse().expect("a number")
}
