//! Errors of servers reach clients as the server gave them.

use serde_json::{Value, json};
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::{Fixture, Rejections, RunningFixture};

use crate::support::RemoteGateway;

/// A server that rejects every request of this method.
async fn rejecting(method: &str, change: impl FnOnce(&mut Rejections)) -> RunningFixture {
    let fixture = Fixture::legacy(NEWEST_LEGACY).with(|settings| {
        settings.rejections.reject = Some(0);
        settings.rejections.reject_method = method.to_owned();
        settings.rejections.reject_times = u64::MAX;
        change(&mut settings.rejections);
    });
    fixture.start().await
}

/// The errors that a modern and a legacy client get.
async fn errors(fixture: &RunningFixture, method: &str, params: Value) -> [Value; 2] {
    let gateway = RemoteGateway::over(fixture).await;
    let client = gateway.client();
    let modern = client.modern(method, params.clone()).message().await;
    let session = client.initialize(NEWEST_LEGACY).await;
    let legacy = session.exchange(method, params).await;
    [modern, legacy].map(|response| {
        assert!(response["error"].is_object(), "{response}");
        response["error"].clone()
    })
}

fn call() -> Value {
    json!({ "name": "test_simple_text", "arguments": {} })
}

#[tokio::test]
async fn a_long_message_is_not_cut() {
    let message = "é".repeat(20_000);
    let fixture = rejecting("tools/call", |rejections| {
        rejections.reject = Some(1234);
        rejections.reject_message = message.clone();
        rejections.reject_data = Some(json!({ "line": 7 }));
    })
    .await;
    for error in errors(&fixture, "tools/call", call()).await {
        assert_eq!(error["code"], 1234);
        assert_eq!(error["message"].as_str(), Some(message.as_str()));
        assert_eq!(error["data"]["line"], 7, "{}", error["data"]);
    }
}

#[tokio::test]
async fn a_message_over_the_bound_is_cut() {
    let fixture = rejecting("tools/call", |rejections| {
        rejections.reject_message = "é".repeat(50_000);
    })
    .await;
    for error in errors(&fixture, "tools/call", call()).await {
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with("é…"), "it does not end with an ellipsis");
        assert!(
            (65_530..=65_540).contains(&message.len()),
            "{}",
            message.len()
        );
    }
}

#[tokio::test]
async fn data_that_is_not_an_object_is_kept() {
    for data in [json!("details"), json!([1, { "a": 2 }]), json!(17)] {
        let fixture = rejecting("tools/call", |rejections| {
            rejections.reject_data = Some(data.clone());
        })
        .await;
        for error in errors(&fixture, "tools/call", call()).await {
            assert_eq!(error["data"], data);
        }
    }
}

/// A failure to read a resource is not taken for an unknown resource.
#[tokio::test]
async fn an_error_that_mentions_not_found_keeps_its_meaning() {
    let uri = "test://static-text";
    for (code, message) in [
        (0, "credentials file not found".to_owned()),
        (
            0,
            format!("Error reading resource {uri}: credentials file not found"),
        ),
        (-32602, "credentials file not found".to_owned()),
    ] {
        let fixture = rejecting("resources/read", |rejections| {
            rejections.reject = Some(code);
            rejections.reject_message = message.clone();
        })
        .await;
        for error in errors(&fixture, "resources/read", json!({ "uri": uri })).await {
            assert_eq!(error["code"], code, "{error}");
            assert_eq!(error["message"], message);
            assert_eq!(error["data"]["kind"], "source");
        }
    }
}

/// The number for an unknown resource is that of the client's era; message and data are the server's.
#[tokio::test]
async fn an_unknown_resource_keeps_the_message_and_data_of_the_server() {
    let uri = "test://static-text";
    for (code, message) in [
        (-32002, "it was deleted yesterday".to_owned()),
        (
            -32602,
            format!("MCP error -32602: Resource {uri} not found"),
        ),
        (0, format!("Unknown resource: {uri}")),
    ] {
        let fixture = rejecting("resources/read", |rejections| {
            rejections.reject = Some(code);
            rejections.reject_message = message.clone();
            rejections.reject_data = Some(json!({ "since": "yesterday" }));
        })
        .await;
        let errors = errors(&fixture, "resources/read", json!({ "uri": uri })).await;
        for (error, code) in errors.iter().zip([-32602, -32002]) {
            assert_eq!(error["code"], code, "{error}");
            assert_eq!(error["message"], message);
            assert_eq!(error["data"]["since"], "yesterday");
            assert_eq!(error["data"]["uri"], uri);
        }
    }
}

/// 403 says nothing about credentials; the server's text says why.
#[tokio::test]
async fn a_refusal_with_a_text_shows_the_text() {
    for (status, text) in [
        (403, "your plan has no search"),
        (500, "index is rebuilding"),
    ] {
        let fixture = rejecting("tools/call", |rejections| {
            rejections.reject_status = Some(status);
            rejections.reject_message = format!("{text}\n");
        })
        .await;
        for error in errors(&fixture, "tools/call", call()).await {
            let message = error["message"].as_str().unwrap();
            let expected = format!("the source refused the request (HTTP status {status}): {text}");
            assert_eq!(message, expected);
        }
    }
}
