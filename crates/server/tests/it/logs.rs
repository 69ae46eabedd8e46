//! Log messages: from the requested level on, on the stream of the call. Without a level, legacy
//! clients get all of them and modern clients none.

use serde_json::{Value, json};
use tidegate_core::LoggingLevel;
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, TestGateway};

use crate::support::{expect_error, standard};

/// The levels of the log messages; the last message must be the response.
fn levels(messages: &[Value]) -> Vec<&str> {
    let (response, logs) = messages.split_last().expect("an answer");
    assert!(response["result"].is_object(), "{response}");
    logs.iter()
        .map(|log| {
            assert_eq!(log["method"], "notifications/message");
            log["params"]["level"].as_str().expect("a level")
        })
        .collect()
}

fn levels_from(least: LoggingLevel) -> Vec<&'static str> {
    let all = LoggingLevel::ALL.into_iter();
    all.filter(|level| *level >= least)
        .map(LoggingLevel::as_str)
        .collect()
}

#[tokio::test]
async fn a_modern_request_sets_its_own_log_level() {
    let (gateway, _) = standard().await;
    let call = gateway.client().modern_call("fake__logs", json!({}));
    for least in LoggingLevel::ALL {
        let messages = call
            .clone()
            .log_level(least.as_str())
            .send()
            .await
            .messages()
            .await;
        assert_eq!(levels(&messages), levels_from(least));
        assert!(
            levels(&call.send().await.messages().await).is_empty(),
            "the level only applies to its request"
        );
    }
    expect_error(call.log_level("loud").send().await, 200, -32602).await;
}

#[tokio::test]
async fn a_session_gets_logs_from_its_level_on() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let other = gateway.client().initialize(revision).await;
        let call = || session.call("fake__logs", json!({}));
        assert_eq!(
            levels(&call().send().await.messages().await),
            levels_from(LoggingLevel::Debug),
            "no level was set"
        );
        for least in [
            LoggingLevel::Debug,
            LoggingLevel::Error,
            LoggingLevel::Emergency,
            LoggingLevel::Info,
        ] {
            let set = session
                .exchange("logging/setLevel", json!({ "level": least.as_str() }))
                .await;
            assert_eq!(set["result"], json!({}));
            assert_eq!(
                levels(&call().send().await.messages().await),
                levels_from(least),
                "{revision}"
            );
        }
        let theirs = other
            .call("fake__logs", json!({}))
            .send()
            .await
            .messages()
            .await;
        assert_eq!(
            levels(&theirs),
            levels_from(LoggingLevel::Debug),
            "the level only applies to its session"
        );
        for bad in [json!({}), json!({ "level": "loud" }), json!({ "level": 3 })] {
            let response = session.request("logging/setLevel", bad).send().await;
            expect_error(response, 200, -32602).await;
        }
    }
}

#[tokio::test]
async fn logs_are_never_sent_on_the_standalone_stream() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut standalone = session.stream().await;
    session
        .exchange("logging/setLevel", json!({ "level": "debug" }))
        .await;
    let messages = session
        .call("fake__logs", json!({}))
        .send()
        .await
        .messages()
        .await;
    assert_eq!(levels(&messages).len(), 8);
    session.delete().await;
    assert!(standalone.remaining().await.is_empty());
}

#[tokio::test]
async fn over_stdio_each_era_has_its_own_level() {
    let mut stdio = TestGateway::with(FakeSource::standard()).stdio().await;
    stdio.initialize(NEWEST_LEGACY).await;
    let id = stdio
        .request("logging/setLevel", json!({ "level": "alert" }))
        .await;
    stdio.response(&json!(id)).await;
    let call = json!({ "name": "fake__logs", "arguments": {} });
    let mut asked = call.clone();
    asked["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "emergency" });
    for (is_modern, params, expected) in [
        (false, call.clone(), vec!["alert", "emergency"]),
        (true, call, vec![]),
        (true, asked, vec!["emergency"]),
    ] {
        let id = match is_modern {
            true => stdio.modern("tools/call", params).await,
            false => stdio.request("tools/call", params).await,
        };
        let mut messages = vec![stdio.message().await];
        while messages.last().is_some_and(|last| last["id"] != id) {
            messages.push(stdio.message().await);
        }
        assert_eq!(levels(&messages), expected);
    }
}
