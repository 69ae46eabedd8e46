//! Cancelled calls.

use serde_json::json;
use tidegate_testkit::wait_until;

use super::super::cell::Cell;
use super::super::clients::Transport;
use super::super::notes::{DISCONNECT_CANCELS, DISCONNECT_DOES_NOT_CANCEL, ENDS_WITH_STDIN};
use super::Verdict;

const CANCELLED: &str = "notifications/cancelled";
const PROGRESS: &str = "notifications/progress";

pub(super) async fn by_notification(cell: &mut Cell<'_>) -> Verdict {
    if cell.client().is_modern() && cell.client().transport == Transport::Http {
        return check_ignored(cell).await;
    }
    let arguments = cell.marked(json!({ "steps": 10_000, "ms": 20 }));
    let peer = cell.without_capabilities().await;
    let id = peer.start_call("test_slow", arguments).await;
    peer.notification(PROGRESS).await;
    peer.notify(CANCELLED, json!({ "requestId": id })).await;
    wait_for_cancellation(cell).await;
    Verdict::Works
}

/// A notification without effect.
async fn check_ignored(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({ "steps": 5, "ms": 50 }));
    let peer = cell.without_capabilities().await;
    let id = peer.start_call("test_slow", arguments).await;
    peer.notification(PROGRESS).await;
    let params = peer.with_modern_meta(json!({ "requestId": id }));
    peer.notify(CANCELLED, params).await;
    let answer = peer.answer(&id).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(!cell.server().was_cancelled(&cell.mark));
    Verdict::Unsupported(&DISCONNECT_CANCELS)
}

pub(super) async fn by_disconnect(cell: &mut Cell<'_>) -> Verdict {
    let over_http = matches!(
        cell.client().transport,
        Transport::Http | Transport::Batches
    );
    if over_http && !cell.client().is_modern() {
        return check_resumed(cell).await;
    }
    let arguments = cell.marked(json!({ "steps": 10_000, "ms": 20 }));
    let mut peer = cell.separate_client(json!({})).await;
    let id = peer.start_call("test_slow", arguments).await;
    peer.notification(PROGRESS).await;
    match over_http {
        true => peer.transport.disconnect(&id),
        false => peer.transport.close().await,
    }
    wait_for_cancellation(cell).await;
    match cell.client().transport {
        Transport::Stdio => Verdict::Changed(&ENDS_WITH_STDIN),
        _ => Verdict::Works,
    }
}

/// A call whose client disconnects and resumes its stream.
async fn check_resumed(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({ "steps": 30, "ms": 100 }));
    let peer = cell.without_capabilities().await;
    let id = peer.start_call("test_slow", arguments).await;
    peer.notification(PROGRESS).await;
    peer.transport.disconnect(&id);
    peer.transport.resume(&id).await;
    let answer = peer.answer(&id).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(!cell.server().was_cancelled(&cell.mark));
    Verdict::Unsupported(&DISCONNECT_DOES_NOT_CANCEL)
}

async fn wait_for_cancellation(cell: &Cell<'_>) {
    let server = cell.server();
    wait_until("the server to cancel the call", async || {
        server.was_cancelled(&cell.mark)
    })
    .await;
}
