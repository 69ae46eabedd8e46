//! Steps 0 to 4: checks before the era of a message is known.

use serde_json::json;
use tidegate_testkit::{FakeSource, LEGACY, MODERN, TestGateway};

use crate::support::{bare_request, expect_error, expect_result, standard};

#[tokio::test]
async fn step_0_rejects_a_foreign_origin_before_anything_else() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .start()
        .await;
    let request = gateway
        .client()
        .request("POST")
        .header("Origin", "http://evil.example");
    expect_error(request.send().await, 403, -31403).await;
    let request = gateway.client().request("POST").set("Host", "evil.example");
    expect_error(request.send().await, 403, -31403).await;
}

#[tokio::test]
async fn step_1_rejects_a_missing_or_wrong_key_before_reading_the_body() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .start()
        .await;
    for client in [gateway.client(), gateway.client().with_key("wrong")] {
        let response = client
            .request("POST")
            .header("Accept", "text/html")
            .send()
            .await;
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        expect_error(response, 401, -31401).await;
    }
}

#[tokio::test]
async fn step_2_rejects_accept_and_content_type_before_reading_the_body() {
    let (gateway, _) = standard().await;
    let post = || gateway.client().post_text("not json");
    for accept in ["application/json", "text/event-stream", "text/html", ""] {
        let request = post()
            .set("Accept", accept)
            .set("Content-Type", "text/plain");
        expect_error(request.send().await, 406, -32600).await;
    }
    for content in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ] {
        expect_error(
            post().set("Content-Type", content).send().await,
            415,
            -32600,
        )
        .await;
    }
    expect_error(post().without("Content-Type").send().await, 415, -32600).await;
    expect_error(
        post().header("Content-Encoding", "gzip").send().await,
        415,
        -32600,
    )
    .await;
}

#[tokio::test]
async fn step_2_accepts_media_ranges_and_parameters() {
    let (gateway, _) = standard().await;
    let post = || gateway.client().modern("tools/list", json!({})).request();
    for accept in [
        "*/*",
        "application/*",
        "APPLICATION/JSON;q=0.9,Text/Event-Stream",
        "text/*, application/json",
    ] {
        expect_result(post().set("Accept", accept).send().await).await;
    }
    expect_result(post().without("Accept").send().await).await;
    let twice = post()
        .set("Accept", "application/json")
        .header("Accept", "text/event-stream");
    expect_result(twice.send().await).await;
    expect_result(
        post()
            .set("Content-Type", "application/json; charset=utf-8")
            .send()
            .await,
    )
    .await;
}

#[tokio::test]
async fn step_3_invalid_json_is_a_parse_error_whatever_the_headers() {
    let (gateway, _) = standard().await;
    for body in ["{", "nope", "{\"jsonrpc\":\"2.0\"", "\u{feff}{}", "{} {}"] {
        let request = gateway
            .client()
            .post_text(body)
            .header("MCP-Protocol-Version", MODERN);
        let message = expect_error(request.send().await, 400, -32700).await;
        assert!(
            message.get("id").is_none(),
            "an unknown id must be left out: {message}"
        );
    }
    let request = gateway
        .client()
        .post_text("")
        .body(b"{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}");
    expect_error(request.send().await, 400, -32700).await;
}

#[tokio::test]
async fn step_4_only_one_revision_has_batches() {
    let (gateway, _) = standard().await;
    let batch = json!([bare_request("ping", json!({}))]);
    expect_error(gateway.client().post(&batch).send().await, 400, -32600).await;
    let modern = gateway
        .client()
        .post(&batch)
        .header("MCP-Protocol-Version", MODERN);
    expect_error(modern.send().await, 400, -32600).await;
    for revision in LEGACY
        .into_iter()
        .filter(|revision| *revision != "2025-03-26")
    {
        let session = gateway.client().initialize(revision).await;
        expect_error(session.post(&batch).send().await, 400, -32600).await;
    }
}
