//! Changes that a client hears of.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use super::super::cell::Cell;
use super::Verdict;

/// The gateway agrees to watch before the server does, so that the first change may be missed.
const A_WHILE: Duration = Duration::from_secs(1);

const UPDATED: &str = "notifications/resources/updated";

pub(super) async fn update(cell: &mut Cell<'_>) -> Verdict {
    let native = format!("test://files/{}", cell.mark);
    let peer = cell.quiet().await;
    let uri = peer.uri(&native);
    peer.watch(&uri).await;
    loop {
        let went = peer.call("update_resource", json!({ "uri": native })).await;
        went.text();
        // It may come before the answer of the call that made it.
        let mut heard = went.notices.iter();
        let heard = heard.find(|notice| notice["method"] == UPDATED);
        let heard = match heard {
            Some(notice) => Ok(notice["params"].clone()),
            None => timeout(A_WHILE, peer.hear(UPDATED)).await,
        };
        if let Ok(updated) = heard {
            assert_eq!(updated["uri"], uri, "{updated}");
            return Verdict::Works;
        }
    }
}

pub(super) async fn list(cell: &mut Cell<'_>) -> Verdict {
    let name = cell.mark.clone();
    let peer = cell.quiet().await;
    peer.listen_for_tools().await;
    let went = peer.call("add_tool", json!({ "name": name })).await;
    went.text();
    // Another cell may have changed the list before; this one is heard of in the end.
    while !peer.tools().await.contains(&peer.tool(&name)) {
        peer.hear("notifications/tools/list_changed").await;
    }
    let went = peer.call(&name, json!({})).await;
    assert!(went.text().contains(&name), "{went:?}");
    peer.call("remove_tool", json!({ "name": name }))
        .await
        .text();
    Verdict::Works
}
