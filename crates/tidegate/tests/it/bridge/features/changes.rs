//! Changes that a client hears of.

use serde_json::json;

use super::super::cell::Cell;
use super::Verdict;

const UPDATED: &str = "notifications/resources/updated";

/// A client that was told that it will hear of a change misses none.
pub(super) async fn update(cell: &mut Cell<'_>) -> Verdict {
    let native = format!("test://files/{}", cell.mark);
    let peer = cell.quiet().await;
    let uri = peer.uri(&native);
    peer.watch(&uri).await;
    let went = peer.call("update_resource", json!({ "uri": native })).await;
    went.text();
    // It may come before the answer of the call that made it.
    let updated = match went.heard(UPDATED).first() {
        Some(params) => (*params).clone(),
        None => peer.hear(UPDATED).await,
    };
    assert_eq!(updated["uri"], uri, "{updated}");
    Verdict::Works
}

pub(super) async fn list(cell: &mut Cell<'_>) -> Verdict {
    let name = cell.mark.clone();
    let peer = cell.quiet().await;
    peer.listen_for_tools().await;
    let went = peer.call("add_tool", json!({ "name": name })).await;
    went.text();
    // Another cell may have changed the list before; this one is heard of in the end.
    while !peer.tools().await.contains(&peer.tool(&name)) {
        peer.has_heard("notifications/tools/list_changed").await;
    }
    let went = peer.call(&name, json!({})).await;
    assert!(went.text().contains(&name), "{went:?}");
    peer.call("remove_tool", json!({ "name": name }))
        .await
        .text();
    Verdict::Works
}
