//! What a server asks about the client's folders, and is told of them.

use serde_json::json;

use super::super::cell::Cell;
use super::super::notes::NO_WORD_OF_ROOTS;
use super::super::peer::Peer;
use super::Verdict;
use super::asked::one;

const CHANGED: &str = "notifications/roots/list_changed";

pub(super) async fn asked(cell: &mut Cell<'_>) -> Verdict {
    let answer = json!({ "roots": [{ "uri": "file:///home/ada", "name": "home" }] });
    one(cell, "ask_roots", "roots/list", "client_roots", answer).await;
    Verdict::Works
}

pub(super) async fn changed(cell: &mut Cell<'_>) -> Verdict {
    let server_is_modern = cell.server().is_modern();
    let arguments = cell.marked(json!({}));
    let peer = cell.able().await;
    if peer.is_modern() || server_is_modern {
        let params = peer.stateless(json!({}));
        peer.notify(CHANGED, params).await;
        peer.call("echo", arguments).await.text();
        return Verdict::CannotBeSaid(&NO_WORD_OF_ROOTS);
    }
    let before = changes(peer).await;
    peer.notify(CHANGED, json!({})).await;
    // The word and the next call travel side by side.
    while changes(peer).await == before {
        tokio::task::yield_now().await;
    }
    Verdict::Works
}

/// How often the server was told, in the session that it has with this client.
async fn changes(peer: &mut Peer) -> u64 {
    let went = peer.call("roots_changes", json!({})).await;
    went.text().parse().expect("a number")
}
