//! Steps 0 to 4: what is refused before the era of a message matters.

use serde_json::json;
use tidegate_testkit::{FakeSource, LEGACY, MODERN, TestGateway};

use crate::support::{plain, refused, served, standard};

#[tokio::test]
async fn step_0_a_foreign_origin_is_refused_before_anything_else() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .start()
        .await;
    let request = gateway
        .client()
        .request("POST")
        .header("Origin", "http://evil.example");
    refused(request.send().await, 403, -31403).await;
    let request = gateway.client().request("POST").set("Host", "evil.example");
    refused(request.send().await, 403, -31403).await;
}

#[tokio::test]
async fn step_1_a_missing_or_wrong_key_is_refused_before_anything_is_read() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .start()
        .await;
    for client in [gateway.client(), gateway.client().with_key("wrong")] {
        let answer = client
            .request("POST")
            .header("Accept", "text/html")
            .send()
            .await;
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        refused(answer, 401, -31401).await;
    }
}

#[tokio::test]
async fn step_2_what_is_not_accepted_or_not_json_is_refused_before_it_is_read() {
    let (gateway, _) = standard().await;
    let post = || gateway.client().post_text("not json");
    for accept in ["application/json", "text/event-stream", "text/html", ""] {
        let request = post()
            .set("Accept", accept)
            .set("Content-Type", "text/plain");
        refused(request.send().await, 406, -32600).await;
    }
    for content in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ] {
        refused(
            post().set("Content-Type", content).send().await,
            415,
            -32600,
        )
        .await;
    }
    refused(post().without("Content-Type").send().await, 415, -32600).await;
    refused(
        post().header("Content-Encoding", "gzip").send().await,
        415,
        -32600,
    )
    .await;
}

#[tokio::test]
async fn step_2_both_forms_may_be_accepted_in_other_words() {
    let (gateway, _) = standard().await;
    let post = || gateway.client().modern("tools/list", json!({})).request();
    for accept in [
        "*/*",
        "application/*",
        "APPLICATION/JSON;q=0.9,Text/Event-Stream",
        "text/*, application/json",
    ] {
        served(post().set("Accept", accept).send().await).await;
    }
    served(post().without("Accept").send().await).await;
    let twice = post()
        .set("Accept", "application/json")
        .header("Accept", "text/event-stream");
    served(twice.send().await).await;
    served(
        post()
            .set("Content-Type", "application/json; charset=utf-8")
            .send()
            .await,
    )
    .await;
}

#[tokio::test]
async fn step_3_what_is_not_json_is_a_parse_error_whatever_the_headers_say() {
    let (gateway, _) = standard().await;
    for body in ["{", "nope", "{\"jsonrpc\":\"2.0\"", "\u{feff}{}", "{} {}"] {
        let request = gateway
            .client()
            .post_text(body)
            .header("MCP-Protocol-Version", MODERN);
        let message = refused(request.send().await, 400, -32700).await;
        assert!(
            message.get("id").is_none(),
            "an unknown id is left out: {message}"
        );
    }
    let request = gateway
        .client()
        .post_text("")
        .body(b"{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}");
    refused(request.send().await, 400, -32700).await;
}

#[tokio::test]
async fn step_4_an_array_is_for_one_revision_alone() {
    let (gateway, _) = standard().await;
    let batch = json!([plain("ping", json!({}))]);
    refused(gateway.client().post(&batch).send().await, 400, -32600).await;
    let modern = gateway
        .client()
        .post(&batch)
        .header("MCP-Protocol-Version", MODERN);
    refused(modern.send().await, 400, -32600).await;
    for revision in LEGACY
        .into_iter()
        .filter(|revision| *revision != "2025-03-26")
    {
        let session = gateway.client().initialize(revision).await;
        refused(session.post(&batch).send().await, 400, -32600).await;
    }
}
