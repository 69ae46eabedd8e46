//! Features without questions.

use serde_json::{Value, json};

use super::super::cell::Cell;
use super::super::clients::Transport;
use super::super::notes::{NO_BATCHES, OBJECTS_ONLY, OLDER_SERVER, TEXT_ONLY, WRAPPED_IN_OBJECT};
use super::Verdict;

/// Tools of the fixture on its first, second and last page.
const ON_SEVERAL_PAGES: [&str; 3] = ["test_simple_text", "test_slow", "ask_roots"];

pub(super) async fn call(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({ "n": 1 }));
    for able in [true, false] {
        let peer = match able {
            true => cell.with_capabilities().await,
            false => cell.without_capabilities().await,
        };
        let outcome = peer.call("echo", arguments.clone()).await;
        let echoed: Value = serde_json::from_str(outcome.text()).unwrap();
        assert_eq!(echoed, arguments);
    }
    Verdict::Works
}

pub(super) async fn batch(cell: &mut Cell<'_>) -> Verdict {
    let (revision, way) = (cell.client().revision, cell.client().transport);
    let peer = cell.without_capabilities().await;
    let name = peer.tool("test_simple_text");
    let call = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    peer.transport
        .send(&json!([call("one"), call("two")]))
        .await;
    let mut answers = [peer.response().await, Value::Null];
    if revision != "2025-03-26" {
        assert_eq!(answers[0]["error"]["code"], -32600, "{answers:?}");
        return Verdict::Unsupported(&NO_BATCHES);
    }
    answers[1] = match (&answers[0], way) {
        // Over stdio the response is an array too.
        (Value::Array(all), Transport::Stdio) => {
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
    let outcome = cell
        .without_capabilities()
        .await
        .call("test_tool_with_progress", json!({}))
        .await;
    outcome.text();
    let progress = outcome.notifications("notifications/progress");
    let progress: Vec<_> = progress
        .iter()
        .map(|params| params["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(progress, [1.0, 2.0, 3.0], "{outcome:?}");
    Verdict::Works
}

pub(super) async fn log_levels(cell: &mut Cell<'_>) -> Verdict {
    for (level, expected) in [("warning", 1), ("info", 3), ("error", 0), ("debug", 4)] {
        let peer = cell.without_capabilities().await;
        peer.log_level(level).await;
        let outcome = peer.call("test_tool_with_logging", json!({})).await;
        outcome.text();
        let logs = outcome.notifications("notifications/message");
        assert_eq!(logs.len(), expected, "{level}: {outcome:?}");
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
    let peer = cell.without_capabilities().await;
    let uri = peer.uri(&uri);
    let answer = peer.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(answer["error"]["code"], code, "{answer}");
    assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
    Verdict::Works
}

pub(super) async fn empty_cursor(cell: &mut Cell<'_>) -> Verdict {
    let names = cell.with_capabilities().await.tools().await;
    let peer = cell.with_capabilities().await;
    for tool in ON_SEVERAL_PAGES {
        assert!(names.contains(&peer.tool(tool)), "{tool}: {names:?}");
    }
    Verdict::Works
}

/// A server that returns only text.
async fn check_text_only(cell: &mut Cell<'_>) -> Verdict {
    let arguments = cell.marked(json!({}));
    let outcome = cell
        .without_capabilities()
        .await
        .call("echo", arguments)
        .await;
    assert_ne!(outcome.text(), "");
    assert_eq!(outcome.answer["result"].get("structuredContent"), None);
    Verdict::Unsupported(&OLDER_SERVER)
}

pub(super) async fn structured(cell: &mut Cell<'_>) -> Verdict {
    let (client, server_is_modern) = (cell.client(), cell.server().is_modern());
    if !cell.server().has_revision("2025-06-18") {
        return check_text_only(cell).await;
    }
    let (tool, sent) = match server_is_modern {
        true => ("test_list_content", json!([1, 2, 3])),
        false => ("test_structured_content", json!({ "sum": 3.0 })),
    };
    let outcome = cell
        .without_capabilities()
        .await
        .call(tool, json!({ "a": 1, "b": 2 }))
        .await;
    assert_ne!(outcome.text(), "");
    let arrived = &outcome.answer["result"]["structuredContent"];
    let has_revision = client.has_revision("2025-06-18");
    match (server_is_modern, has_revision) {
        (_, false) => assert_eq!(*arrived, Value::Null),
        (true, true) if !client.is_modern() => assert_eq!(*arrived, json!({ "result": sent })),
        (_, true) => assert_eq!(*arrived, sent),
    }
    match (server_is_modern, has_revision) {
        (false, _) => Verdict::Unsupported(&OBJECTS_ONLY),
        (true, false) => Verdict::Changed(&TEXT_ONLY),
        (true, true) if client.is_modern() => Verdict::Works,
        (true, true) => Verdict::Changed(&WRAPPED_IN_OBJECT),
    }
}
