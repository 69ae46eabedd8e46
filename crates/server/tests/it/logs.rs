//! Log messages: only for who asked, from the level asked for, on the stream of the call.

use serde_json::{Value, json};
use tidegate_core::LogLevel;
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, TestGateway};

use crate::support::{refused, standard};

/// The levels of the log messages among these; everything else must be the answer.
fn levels(messages: &[Value]) -> Vec<&str> {
    let (answer, logs) = messages.split_last().expect("an answer");
    assert!(answer["result"].is_object(), "{answer}");
    logs.iter()
        .map(|log| {
            assert_eq!(log["method"], "notifications/message");
            log["params"]["level"].as_str().expect("a level")
        })
        .collect()
}

fn from(least: LogLevel) -> Vec<&'static str> {
    let all = LogLevel::ALL.into_iter();
    all.filter(|level| *level >= least)
        .map(LogLevel::as_str)
        .collect()
}

#[tokio::test]
async fn a_stateless_request_hears_what_it_asked_for_in_that_request_alone() {
    let (gateway, _) = standard().await;
    let call = gateway.client().modern_call("fake__logs", json!({}));
    for least in LogLevel::ALL {
        let messages = call
            .clone()
            .log_level(least.as_str())
            .send()
            .await
            .messages()
            .await;
        assert_eq!(levels(&messages), from(least));
        assert!(
            levels(&call.send().await.messages().await).is_empty(),
            "nothing is remembered"
        );
    }
    refused(call.log_level("loud").send().await, 200, -32602).await;
}

#[tokio::test]
async fn a_session_hears_from_the_level_it_set() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let other = gateway.client().initialize(revision).await;
        let call = || session.call("fake__logs", json!({}));
        assert!(
            levels(&call().send().await.messages().await).is_empty(),
            "nobody asked"
        );
        for least in [
            LogLevel::Debug,
            LogLevel::Error,
            LogLevel::Emergency,
            LogLevel::Info,
        ] {
            let set = session
                .exchange("logging/setLevel", json!({ "level": least.as_str() }))
                .await;
            assert_eq!(set["result"], json!({}));
            assert_eq!(
                levels(&call().send().await.messages().await),
                from(least),
                "{revision}"
            );
        }
        let theirs = other
            .call("fake__logs", json!({}))
            .send()
            .await
            .messages()
            .await;
        assert!(
            levels(&theirs).is_empty(),
            "a level is for its session alone"
        );
        for bad in [json!({}), json!({ "level": "loud" }), json!({ "level": 3 })] {
            let answer = session.request("logging/setLevel", bad).send().await;
            refused(answer, 200, -32602).await;
        }
    }
}

#[tokio::test]
async fn logs_never_come_on_the_standing_stream() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut standing = session.stream().await;
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
    assert!(standing.remaining().await.is_empty());
}

#[tokio::test]
async fn on_a_pipe_both_eras_keep_their_own_level() {
    let mut pipe = TestGateway::with(FakeSource::standard()).stdio().await;
    pipe.initialize(NEWEST_LEGACY).await;
    let id = pipe
        .request("logging/setLevel", json!({ "level": "alert" }))
        .await;
    pipe.response(&json!(id)).await;
    let call = json!({ "name": "fake__logs", "arguments": {} });
    let mut asked = call.clone();
    asked["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "emergency" });
    for (is_modern, params, expected) in [
        (false, call.clone(), vec!["alert", "emergency"]),
        (true, call, vec![]),
        (true, asked, vec!["emergency"]),
    ] {
        let id = match is_modern {
            true => pipe.modern("tools/call", params).await,
            false => pipe.request("tools/call", params).await,
        };
        let mut messages = vec![pipe.message().await];
        while messages.last().is_some_and(|last| last["id"] != id) {
            messages.push(pipe.message().await);
        }
        assert_eq!(levels(&messages), expected);
    }
}
