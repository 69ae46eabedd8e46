//! Framing by lines: an invalid line only affects itself.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, TestGateway};

use super::{assert_ping, call, standard};

#[tokio::test]
async fn an_invalid_line_gets_an_error_and_only_affects_itself() {
    let (mut stdio, _) = standard().await;
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
        stdio.send_bytes(line).await;
        let message = stdio.message().await;
        assert_eq!(message["error"]["code"], code, "{message}");
        assert!(message.get("id").is_none(), "{message}");
        assert_ping(&mut stdio).await;
    }
}

#[tokio::test]
async fn lines_may_arrive_in_pieces_or_together() {
    let (mut stdio, _) = standard().await;
    let ping = br#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#;
    for byte in ping {
        stdio.send_bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    stdio.send_bytes(b"\r\n").await;
    assert_eq!(stdio.message().await["id"], 77);
    let many: Vec<u8> = (0..50)
        .flat_map(|id| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").into_bytes()
        })
        .collect();
    stdio.send_bytes(&many).await;
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(stdio.message().await["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn blank_lines_are_ignored() {
    let (mut stdio, _) = standard().await;
    stdio.send_bytes(b"\n\n  \n\r\n\t\n").await;
    let id = stdio.request("ping", json!({})).await;
    assert_eq!(stdio.message().await["id"], id);
}

#[tokio::test]
async fn a_line_over_the_limit_gets_an_error_and_only_affects_itself() {
    let source = FakeSource::standard();
    let mut stdio = TestGateway::with(source)
        .limits(|limits| limits.max_message_bytes = 200)
        .stdio()
        .await;
    let line = |length: usize| {
        let start = r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":""#;
        format!("{start}{}\"}}}}", "x".repeat(length - start.len() - 3))
    };
    assert_eq!(line(200).len(), 200);
    stdio.send_line(&line(200)).await;
    assert_eq!(stdio.message().await["id"], 5);
    for too_long in [line(201), line(100_000), "x".repeat(300_000)] {
        stdio.send_line(&too_long).await;
        let message = stdio.message().await;
        assert_eq!(message["error"]["code"], -32600);
        assert!(message.get("id").is_none());
        assert_ping(&mut stdio).await;
    }
}

#[tokio::test]
async fn every_response_is_one_line() {
    let (mut stdio, _) = standard().await;
    let id = stdio
        .modern("tools/call", call("fake__pretty", json!({})))
        .await;
    let line = stdio.next_line().await.unwrap();
    let message: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(message["id"], id);
    assert_eq!(message["result"]["content"][0]["text"], "one\ntwo");
    assert!(
        line.contains("1.50") && line.contains("12345678901234567890"),
        "{line}"
    );
    assert_ping(&mut stdio).await;
}
