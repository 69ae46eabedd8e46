//! Change notifications.

use serde_json::json;

use super::super::cell::Cell;
use super::Verdict;

const UPDATED: &str = "notifications/resources/updated";

/// No update is missed after the subscription is acknowledged.
pub(super) async fn update(cell: &mut Cell<'_>) -> Verdict {
    let native = format!("test://files/{}", cell.mark);
    let peer = cell.without_capabilities().await;
    let uri = peer.uri(&native);
    peer.watch(&uri).await;
    let outcome = peer.call("update_resource", json!({ "uri": native })).await;
    outcome.text();
    // It may arrive before the response of the call that caused it.
    let updated = match outcome.notifications(UPDATED).first() {
        Some(params) => (*params).clone(),
        None => peer.notification(UPDATED).await,
    };
    assert_eq!(updated["uri"], uri, "{updated}");
    Verdict::Works
}

pub(super) async fn list(cell: &mut Cell<'_>) -> Verdict {
    let name = cell.mark.clone();
    let peer = cell.without_capabilities().await;
    peer.listen_for_tools().await;
    let outcome = peer.call("add_tool", json!({ "name": name })).await;
    outcome.text();
    // Another cell may have changed the list before; the change of this one follows.
    while !peer.tools().await.contains(&peer.tool(&name)) {
        peer.wait_for_notification("notifications/tools/list_changed")
            .await;
    }
    let outcome = peer.call(&name, json!({})).await;
    assert!(outcome.text().contains(&name), "{outcome:?}");
    peer.call("remove_tool", json!({ "name": name }))
        .await
        .text();
    Verdict::Works
}
