//! What needs no answer of the client's.

use serde_json::{Value, json};

use super::super::cell::Cell;
use super::super::clients::Way;
use super::super::notes::{NO_BATCHES, OBJECTS_ALONE, OLDER_SERVER, TEXT_ALONE, WRAPPED};
use super::Verdict;

/// The tools of the fixture on its first, its second and its last page.
const ON_SEVERAL_PAGES: [&str; 3] = ["test_simple_text", "test_slow", "ask_roots"];

pub(super) async fn call(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({ "n": 1 }));
    for able in [true, false] {
        let peer = match able {
            true => cell.able().await,
            false => cell.quiet().await,
        };
        let went = peer.call("echo", arguments.clone()).await;
        let echoed: Value = serde_json::from_str(went.text()).unwrap();
        assert_eq!(echoed, arguments);
    }
    Verdict::Works
}

pub(super) async fn batch(cell: &mut Cell<'_>) -> Verdict {
    let (revision, way) = (cell.client().revision, cell.client().way);
    let peer = cell.quiet().await;
    let name = peer.tool("test_simple_text");
    let call = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    peer.wire.send(&json!([call("one"), call("two")])).await;
    let mut answers = [peer.response().await, Value::Null];
    if revision != "2025-03-26" {
        assert_eq!(answers[0]["error"]["code"], -32600, "{answers:?}");
        return Verdict::CannotBeSaid(&NO_BATCHES);
    }
    answers[1] = match (&answers[0], way) {
        // On a pipe the answer is an array too.
        (Value::Array(all), Way::Stdio) => {
            let all = all.clone();
            answers[0] = all[0].clone();
            all[1].clone()
        }
        _ => peer.response().await,
    };
    let mut ids = answers.map(|answer| {
        assert!(answer["result"]["content"].is_array(), "{answer}");
        answer["id"].to_string()
    });
    ids.sort();
    assert_eq!(ids, ["\"one\"", "\"two\""]);
    Verdict::Works
}

pub(super) async fn progress(cell: &mut Cell<'_>) -> Verdict {
    let went = cell
        .quiet()
        .await
        .call("test_tool_with_progress", json!({}))
        .await;
    went.text();
    let progress = went.heard("notifications/progress");
    let progress: Vec<_> = progress
        .iter()
        .map(|params| params["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(progress, [1.0, 2.0, 3.0], "{went:?}");
    Verdict::Works
}

pub(super) async fn log_levels(cell: &mut Cell<'_>) -> Verdict {
    for (level, expected) in [("warning", 1), ("info", 3), ("error", 0), ("debug", 4)] {
        let peer = cell.quiet().await;
        peer.log_level(level).await;
        let went = peer.call("test_tool_with_logging", json!({})).await;
        went.text();
        let logs = went.heard("notifications/message");
        assert_eq!(logs.len(), expected, "{level}: {went:?}");
    }
    Verdict::Works
}

pub(super) async fn not_found(cell: &mut Cell<'_>) -> Verdict {
    let code = if cell.client().is_modern() {
        -32602
    } else {
        -32002
    };
    let uri = format!("test://nothing/{}", cell.mark);
    let peer = cell.quiet().await;
    let uri = peer.uri(&uri);
    let answer = peer.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(answer["error"]["code"], code, "{answer}");
    assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
    Verdict::Works
}

pub(super) async fn empty_cursor(cell: &mut Cell<'_>) -> Verdict {
    let names = cell.able().await.tools().await;
    let peer = cell.able().await;
    for tool in ON_SEVERAL_PAGES {
        assert!(names.contains(&peer.tool(tool)), "{tool}: {names:?}");
    }
    Verdict::Works
}

/// A server that gives nothing but text.
async fn has_text_alone(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    let went = cell.quiet().await.call("echo", arguments).await;
    assert_ne!(went.text(), "");
    assert_eq!(went.answer["result"].get("structuredContent"), None);
    Verdict::CannotBeSaid(&OLDER_SERVER)
}

pub(super) async fn structured(cell: &mut Cell<'_>) -> Verdict {
    let (client, server_is_modern) = (cell.client(), cell.server().is_modern());
    if !cell.server().knows("2025-06-18") {
        return has_text_alone(cell).await;
    }
    let (tool, sent) = match server_is_modern {
        true => ("test_list_content", json!([1, 2, 3])),
        false => ("test_structured_content", json!({ "sum": 3.0 })),
    };
    let went = cell
        .quiet()
        .await
        .call(tool, json!({ "a": 1, "b": 2 }))
        .await;
    assert_ne!(went.text(), "");
    let arrived = &went.answer["result"]["structuredContent"];
    let knows = client.knows("2025-06-18");
    match (server_is_modern, knows) {
        (_, false) => assert_eq!(*arrived, Value::Null),
        (true, true) if !client.is_modern() => assert_eq!(*arrived, json!({ "result": sent })),
        (_, true) => assert_eq!(*arrived, sent),
    }
    match (server_is_modern, knows) {
        (false, _) => Verdict::CannotBeSaid(&OBJECTS_ALONE),
        (true, false) => Verdict::Changed(&TEXT_ALONE),
        (true, true) if client.is_modern() => Verdict::Works,
        (true, true) => Verdict::Changed(&WRAPPED),
    }
}
