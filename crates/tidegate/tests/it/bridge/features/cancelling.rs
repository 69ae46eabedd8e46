//! Calls that are given up.

use serde_json::json;
use tidegate_testkit::wait_until;

use super::super::cell::Cell;
use super::super::clients::Way;
use super::super::notes::{ENDS_WITH_ITS_PIPE, LEAVING_IS_CANCELLING, LEAVING_IS_NOT_CANCELLING};
use super::Verdict;

const CANCELLED: &str = "notifications/cancelled";
const PROGRESS: &str = "notifications/progress";

pub(super) async fn by_notification(cell: &mut Cell<'_>) -> Verdict {
    if cell.client().is_modern() && cell.client().way == Way::Http {
        return changes_nothing(cell).await;
    }
    let arguments = cell.marked(json!({ "steps": 10_000, "ms": 20 }));
    let peer = cell.quiet().await;
    let id = peer.begin_call("test_slow", arguments).await;
    peer.hear(PROGRESS).await;
    peer.notify(CANCELLED, json!({ "requestId": id })).await;
    gave_up(cell).await;
    Verdict::Works
}

/// A notification from which nothing follows.
async fn changes_nothing(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({ "steps": 5, "ms": 50 }));
    let peer = cell.quiet().await;
    let id = peer.begin_call("test_slow", arguments).await;
    peer.hear(PROGRESS).await;
    let params = peer.stateless(json!({ "requestId": id }));
    peer.notify(CANCELLED, params).await;
    let answer = peer.answer(&id).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(!cell.server().gave_up(&cell.mark));
    Verdict::CannotBeSaid(&LEAVING_IS_CANCELLING)
}

pub(super) async fn by_disconnect(cell: &mut Cell<'_>) -> Verdict {
    let over_http = matches!(cell.client().way, Way::Http | Way::Batches);
    if over_http && !cell.client().is_modern() {
        return goes_on(cell).await;
    }
    let arguments = cell.marked(json!({ "steps": 10_000, "ms": 20 }));
    let mut peer = cell.another(json!({})).await;
    let id = peer.begin_call("test_slow", arguments).await;
    peer.hear(PROGRESS).await;
    match over_http {
        true => peer.wire.leave(&id),
        false => peer.wire.close().await,
    }
    gave_up(cell).await;
    match cell.client().way {
        Way::Stdio => Verdict::Changed(&ENDS_WITH_ITS_PIPE),
        _ => Verdict::Works,
    }
}

/// A call whose client goes away and comes back for the answer.
async fn goes_on(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({ "steps": 30, "ms": 100 }));
    let peer = cell.quiet().await;
    let id = peer.begin_call("test_slow", arguments).await;
    peer.hear(PROGRESS).await;
    peer.wire.leave(&id);
    peer.wire.come_back(&id).await;
    let answer = peer.answer(&id).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(!cell.server().gave_up(&cell.mark));
    Verdict::CannotBeSaid(&LEAVING_IS_NOT_CANCELLING)
}

async fn gave_up(cell: &Cell<'_>) {
    let server = cell.server();
    wait_until("the server to give up", async || server.gave_up(&cell.mark)).await;
}
