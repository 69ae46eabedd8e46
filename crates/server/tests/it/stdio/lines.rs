//! Lines in and lines out: what is bad costs only itself.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, TestGateway};

use super::{call, is_well, standard};

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
        .limits(|limits| limits.max_message_bytes = 200)
        .stdio()
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
