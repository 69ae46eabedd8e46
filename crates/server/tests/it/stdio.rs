//! One client on a pipe: a message a line, whatever the client sends.

use serde_json::{Value, json};
use tidegate_core::Change;
use tidegate_testkit::{FakeSource, LEGACY, MODERN, NEWEST_LEGACY, Pipe, TestGateway};

use crate::support::{echoed, methods};

async fn standard() -> (Pipe, FakeSource) {
    let source = FakeSource::standard();
    let pipe = TestGateway::with(source.clone()).pipe().await;
    (pipe, source)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// A ping goes through: the pipe is well.
async fn is_well(pipe: &mut Pipe) {
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.answer(&json!(id)).await["result"], json!({}));
}

#[tokio::test]
async fn both_eras_alternate_on_one_pipe() {
    let (mut pipe, _) = standard().await;
    let discover = pipe.modern("server/discover", json!({})).await;
    let answer = pipe.answer(&json!(discover)).await;
    assert!(
        answer["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    let hello = pipe.initialize("2025-06-18").await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    for round in 0..6 {
        let arguments = json!({ "canary": round });
        let is_modern = round % 2 == 0;
        let id = if is_modern {
            pipe.modern("tools/call", call("fake__echo", arguments.clone()))
                .await
        } else {
            pipe.request("tools/call", call("fake__echo", arguments.clone()))
                .await
        };
        let answer = pipe.answer(&json!(id)).await;
        assert_eq!(echoed(&answer["result"]), arguments);
        assert_eq!(answer["result"].get("resultType").is_some(), is_modern);
    }
}

#[tokio::test]
async fn every_revision_can_be_spoken_on_a_pipe() {
    for revision in LEGACY {
        let (mut pipe, _) = standard().await;
        let hello = pipe.initialize(revision).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        is_well(&mut pipe).await;
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_costs_only_itself() {
    let (mut pipe, _) = standard().await;
    for (line, code) in [
        (&b"{\"jsonrpc\":\"2.0\",\"id\":1,\n"[..], -32700),
        (b"nonsense\n", -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n",
            -32700,
        ),
        (b"\xff\n", -32700),
        (b"{}\n", -32600),
        (b"[]\n", -32600),
        (b"1\n", -32600),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n",
            -32600,
        ),
    ] {
        pipe.send_bytes(line).await;
        let message = pipe.message().await;
        assert_eq!(message["error"]["code"], code, "{message}");
        assert!(message.get("id").is_none(), "{message}");
        is_well(&mut pipe).await;
    }
}

#[tokio::test]
async fn a_line_may_come_in_pieces_and_several_at_once() {
    let (mut pipe, _) = standard().await;
    let ping = br#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#;
    for byte in ping {
        pipe.send_bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    pipe.send_bytes(b"\r\n").await;
    assert_eq!(pipe.message().await["id"], 77);
    let many: Vec<u8> = (0..50)
        .flat_map(|id| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").into_bytes()
        })
        .collect();
    pipe.send_bytes(&many).await;
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(pipe.message().await["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn blank_lines_are_nothing() {
    let (mut pipe, _) = standard().await;
    pipe.send_bytes(b"\n\n  \n\r\n\t\n").await;
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.message().await["id"], id);
}

#[tokio::test]
async fn a_line_that_is_too_long_costs_only_itself() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source)
        .limits(|limits| limits.message_bytes = 200)
        .pipe()
        .await;
    let line = |length: usize| {
        let start = r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":""#;
        format!("{start}{}\"}}}}", "x".repeat(length - start.len() - 3))
    };
    assert_eq!(line(200).len(), 200);
    pipe.send_line(&line(200)).await;
    assert_eq!(pipe.message().await["id"], 5);
    for too_long in [line(201), line(100_000), "x".repeat(300_000)] {
        pipe.send_line(&too_long).await;
        let message = pipe.message().await;
        assert_eq!(message["error"]["code"], -32600);
        assert!(message.get("id").is_none());
        is_well(&mut pipe).await;
    }
}

#[tokio::test]
async fn a_duplicate_id_is_refused_by_that_id_until_the_first_is_answered() {
    let (mut pipe, source) = standard().await;
    let hold = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("fake__hold", json!({})) });
    pipe.send(&hold(json!("x"))).await;
    source.started("hold", 1).await;
    pipe.send(&hold(json!("x"))).await;
    let message = pipe.message().await;
    assert_eq!(
        (&message["id"], &message["error"]["code"]),
        (&json!("x"), &json!(-32600))
    );
    source.release("hold", 1);
    assert!(pipe.message().await["result"].is_object());
    source.release("hold", 1);
    pipe.send(&hold(json!("x"))).await;
    assert!(
        pipe.answer(&json!("x")).await["result"].is_object(),
        "free again"
    );
    // A number is not a string, but 1.0 is 1.
    pipe.send(&hold(json!(1))).await;
    pipe.send(&hold(json!("1"))).await;
    source.started("hold", 4).await;
    pipe.send(&hold(json!(1.0))).await;
    assert_eq!(pipe.message().await["error"]["code"], -32600);
    source.release("hold", 2);
    for _ in 0..2 {
        assert!(pipe.message().await["result"].is_object());
    }
}

#[tokio::test]
async fn too_many_calls_on_a_pipe_are_refused_by_their_ids() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone())
        .limits(|limits| limits.calls_per_session = 2)
        .pipe()
        .await;
    for _ in 0..2 {
        pipe.modern("tools/call", call("fake__hold", json!({})))
            .await;
    }
    source.started("hold", 2).await;
    let third = pipe
        .modern("tools/call", call("fake__echo", json!({})))
        .await;
    let message = pipe.message().await;
    assert_eq!(message["error"]["code"], -31503, "{message}");
    assert_eq!(message["id"], third, "or the client waits for ever");
    source.release("hold", 2);
}

#[tokio::test]
async fn at_the_end_of_the_input_calls_under_way_are_answered_first() {
    let (mut pipe, source) = standard().await;
    let mut ids = Vec::new();
    for canary in 0..10 {
        ids.push(
            pipe.request(
                "tools/call",
                call("fake__hold", json!({ "canary": canary })),
            )
            .await,
        );
    }
    // The last line has no line break.
    pipe.send_bytes(br#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#)
        .await;
    pipe.close_input();
    assert_eq!(pipe.answer(&json!(99)).await["result"], json!({}));
    source.started("hold", 10).await;
    source.release("hold", 10);
    let mut answered: Vec<_> = pipe
        .rest()
        .await
        .iter()
        .map(|one| one["id"].as_u64().unwrap())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(source.counts("hold").dropped, 0);
    pipe.closed().await;
}

#[tokio::test]
async fn at_the_end_what_does_not_finish_in_time_is_dropped() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source.clone())
        .limits(|limits| limits.drain = std::time::Duration::from_millis(50))
        .pipe()
        .await;
    pipe.initialize(NEWEST_LEGACY).await;
    pipe.request("tools/call", call("fake__hold", json!({})))
        .await;
    source.started("hold", 1).await;
    pipe.close_input();
    assert!(pipe.rest().await.is_empty());
    source.dropped("hold", 1).await;
    pipe.closed().await;
}

#[tokio::test]
async fn a_signal_to_stop_ends_listens_by_result_and_by_word() {
    let (mut pipe, source) = standard().await;
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let listen = pipe.modern("subscriptions/listen", wanted).await;
    pipe.message().await;
    let held = pipe
        .modern("tools/call", call("fake__hold", json!({})))
        .await;
    source.started("hold", 1).await;
    pipe.stop();
    let result = pipe.message().await;
    assert_eq!(result["id"], listen);
    assert_eq!(result["result"]["resultType"], "complete");
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(result["result"]["_meta"][tag], listen);
    let word = pipe.message().await;
    assert_eq!(word["method"], "notifications/cancelled");
    assert_eq!(word["params"]["requestId"], listen);
    source.release("hold", 1);
    assert_eq!(
        pipe.message().await["id"],
        held,
        "a call under way may finish"
    );
    assert!(pipe.rest().await.is_empty());
    pipe.closed().await;
}

#[tokio::test]
async fn a_client_that_stopped_reading_does_not_hold_up_the_end() {
    let source = FakeSource::standard();
    let mut pipe = TestGateway::with(source)
        .limits(|limits| limits.drain = std::time::Duration::from_millis(50))
        .narrow_pipe(256)
        .await;
    pipe.request("tools/call", call("fake__huge", json!({})))
        .await;
    pipe.stop();
    pipe.closed().await;
}

#[tokio::test]
async fn whatever_a_source_answers_is_one_line() {
    let (mut pipe, _) = standard().await;
    let id = pipe
        .modern("tools/call", call("fake__pretty", json!({})))
        .await;
    let line = pipe.next_line().await.unwrap();
    let message: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(message["id"], id);
    assert_eq!(message["result"]["content"][0]["text"], "one\ntwo");
    assert!(
        line.contains("1.50") && line.contains("12345678901234567890"),
        "{line}"
    );
    is_well(&mut pipe).await;
}

#[tokio::test]
async fn a_session_on_a_pipe_hears_of_changes() {
    let (mut pipe, source) = standard().await;
    pipe.initialize(NEWEST_LEGACY).await;
    let id = pipe
        .request("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    pipe.answer(&json!(id)).await;
    source.updated("fake://note");
    assert_eq!(pipe.message().await["params"]["uri"], "fake://note");
    source.change(Change::Prompts);
    assert_eq!(
        methods(&[pipe.message().await]),
        ["notifications/prompts/list_changed"]
    );
}

#[tokio::test]
async fn responses_and_notifications_are_taken_without_a_word() {
    let (mut pipe, _) = standard().await;
    pipe.initialize(NEWEST_LEGACY).await;
    pipe.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }))
        .await;
    pipe.notify("notifications/never-heard-of", json!({})).await;
    pipe.notify("notifications/cancelled", json!({ "requestId": 12345 }))
        .await;
    pipe.notify("notifications/cancelled", json!({})).await;
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.message().await["id"], id);
}

#[tokio::test]
async fn a_second_handshake_begins_anew() {
    let (mut pipe, source) = standard().await;
    pipe.initialize("2024-11-05").await;
    let id = pipe
        .request("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    pipe.answer(&json!(id)).await;
    let hello = pipe.initialize(NEWEST_LEGACY).await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST_LEGACY);
    source.updated("fake://note");
    is_well(&mut pipe).await;
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(
        pipe.message().await["id"],
        id,
        "the first session's subscription is gone"
    );
}

#[tokio::test]
async fn a_panic_in_a_call_costs_that_call() {
    let (mut pipe, _) = standard().await;
    let ids = [
        pipe.modern("tools/call", call("fake__panic", json!({})))
            .await,
        pipe.modern("tools/call", call("fake__late-panic", json!({})))
            .await,
    ];
    for id in ids {
        let message = pipe.answer(&json!(id)).await;
        assert_eq!(message["error"]["code"], -32603);
        assert!(!message.to_string().contains("secret"));
    }
    is_well(&mut pipe).await;
}
