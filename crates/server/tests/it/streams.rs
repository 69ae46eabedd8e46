//! The form of a response, JSON or a stream, and the events of a stream.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{bare_request, expect_result, methods, standard, standard_with};

#[tokio::test]
async fn a_response_without_notifications_is_json() {
    let (gateway, _) = standard().await;
    let response = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .send()
        .await;
    assert!(!response.is_stream());
    // Without a progress token or log level, the response is the only message.
    for tool in ["fake__progress", "fake__logs"] {
        let response = gateway.client().modern_call(tool, json!({})).send().await;
        assert!(!response.is_stream(), "{tool}");
        expect_result(response).await;
    }
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let response = session.call("fake__progress", json!({})).send().await;
        assert!(!response.is_stream(), "{revision}");
        expect_result(response).await;
    }
}

#[tokio::test]
async fn a_response_after_notifications_is_a_stream() {
    let (gateway, _) = standard().await;
    let call = gateway
        .client()
        .modern_call("fake__progress", json!({}))
        .progress(json!(1));
    let response = call.send().await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("cache-control"), Some("no-cache"));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    assert_eq!(response.header("content-encoding"), None);
    let messages = response.messages().await;
    let progress = "notifications/progress";
    assert_eq!(
        methods(&messages),
        [progress, progress, progress, "response"]
    );
    let how_far: Vec<_> = messages[..3]
        .iter()
        .map(|message| &message["params"]["progress"])
        .collect();
    assert_eq!(how_far, [1, 2, 3]);
}

#[tokio::test]
async fn an_error_before_any_notification_keeps_its_status() {
    let source = FakeSource::empty()
        .tool(ScriptedTool::new("busy").fails(tidegate_core::Code::Unavailable))
        .tool(
            ScriptedTool::new("late")
                .progress(1)
                .fails(tidegate_core::Code::Unavailable),
        );
    let gateway = TestGateway::with(source).start().await;
    let call = |tool| {
        gateway
            .client()
            .modern_call(tool, json!({}))
            .progress(json!("t"))
    };
    assert_eq!(call("fake__busy").send().await.status, 503);
    let late = call("fake__late").send().await;
    assert_eq!(late.status, 200);
    assert_eq!(late.message().await["error"]["code"], -31503);
}

#[tokio::test]
async fn a_modern_stream_cannot_be_resumed() {
    let (gateway, _) = standard().await;
    let call = gateway
        .client()
        .modern_call("fake__progress", json!({}))
        .progress(json!(1));
    let mut events = call.events().await;
    assert_eq!(events.remaining().await.len(), 4);
    assert!(events.response().header("mcp-session-id").is_none());
    for line in events.text().lines() {
        assert!(
            !line.starts_with("id:") && !line.starts_with("retry:"),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_stream_without_a_session_cannot_be_resumed() {
    let (gateway, _) = standard().await;
    let meta = json!({ "progressToken": 1 });
    let params = json!({ "name": "fake__progress", "_meta": meta });
    let response = gateway
        .client()
        .post(&bare_request("tools/call", params))
        .send()
        .await;
    let mut events = response.events();
    assert_eq!(events.remaining().await.len(), 4);
    assert!(!events.text().contains("id:"));
}

/// Priming is an empty first event, on the streams of calls and on the standalone stream.
#[tokio::test]
async fn only_the_newest_legacy_revision_primes_its_streams() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let primes = revision == NEWEST_LEGACY;
        let session = gateway.client().initialize(revision).await;
        let call = session.call_with_progress("fake__progress", json!(1));
        for mut events in [call.send().await.events(), session.stream().await] {
            if primes {
                let first = events.next().await.unwrap();
                assert_eq!(first.data, "");
                assert!(first.id.is_some() && first.retry.is_some(), "{first:?}");
            }
            session.delete().await;
            let rest = events.remaining().await;
            assert!(rest.is_empty() || rest.len() == 4);
            assert_eq!(events.text().contains("retry:"), primes, "{revision}");
        }
    }
}

#[tokio::test]
async fn every_event_of_a_session_has_a_unique_id() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let mut ids = std::collections::HashSet::new();
        for token in 0..3 {
            let call = session.call_with_progress("fake__progress", json!(token));
            let mut events = call.send().await.events();
            while let Some((event, _)) = events.next_message().await {
                let id = event.id.expect("an id");
                assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
                assert!(ids.insert(id), "ids must be unique in a session");
            }
        }
        assert_eq!(ids.len(), 12);
    }
}

#[tokio::test]
async fn a_silent_stream_is_kept_open_by_comments() {
    let (gateway, source) =
        standard_with(|limits| limits.keep_alive_interval = Duration::from_millis(20)).await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut standalone = session.stream().await;
    let mut listening = gateway
        .client()
        .listen("1", json!({ "toolsListChanged": true }))
        .await;
    let mut modern = gateway
        .client()
        .modern_call("fake__hold", json!({}))
        .events()
        .await;
    let mut legacy = session.call("fake__hold", json!({})).send().await.events();
    for stream in [&mut standalone, &mut listening, &mut modern, &mut legacy] {
        stream.comments(3).await;
    }
    source.release("hold", 2);
    for mut call in [modern, legacy] {
        let messages = call.remaining().await;
        assert_eq!(
            methods(&messages),
            ["response"],
            "comments are not messages"
        );
    }
}

#[tokio::test]
async fn a_result_with_line_breaks_is_one_event() {
    let source = FakeSource::standard();
    let pretty = "{\n  \"content\": [],\r\n  \"z\": 1.50\n}";
    let source = source.tool(ScriptedTool::new("both").progress(1).returns(pretty));
    let gateway = TestGateway::with(source).start().await;
    let call = gateway
        .client()
        .modern_call("fake__both", json!({}))
        .progress(json!(1));
    let mut events = call.events().await;
    let messages = events.remaining().await;
    assert_eq!(methods(&messages), ["notifications/progress", "response"]);
    assert!(events.text().contains("1.50"));
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let response = session
        .call_with_progress("fake__both", json!(1))
        .send()
        .await;
    assert_eq!(response.messages().await.len(), 2);
}

#[tokio::test]
async fn a_large_result_arrives_completely() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let modern = gateway
        .client()
        .modern_call("fake__huge", json!({}))
        .send()
        .await;
    let legacy = session.call("fake__huge", json!({})).send().await;
    for response in [modern, legacy] {
        let result = expect_result(response).await;
        assert_eq!(
            result["content"][0]["text"].as_str().map(str::len),
            Some(1 << 20)
        );
    }
}

#[tokio::test]
async fn messages_of_a_call_are_only_sent_on_its_stream() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut standalone = session.stream().await;
    let token = |name: &str| json!(name);
    let mut first = session
        .call_with_progress("fake__stream", token("first"))
        .send()
        .await
        .events();
    let mut second = session
        .call_with_progress("fake__stream", token("second"))
        .send()
        .await
        .events();
    let modern = gateway
        .client()
        .modern_call("fake__stream", json!({}))
        .progress(token("third"));
    let mut third = modern.events().await;
    source.started("stream", 3).await;
    source.release("stream", 3);
    for (stream, name) in [
        (&mut first, "first"),
        (&mut second, "second"),
        (&mut third, "third"),
    ] {
        let messages = stream.remaining().await;
        let (response, progress) = messages.split_last().unwrap();
        assert!(response["result"].is_object());
        assert_eq!(progress.len(), 2);
        assert!(
            progress
                .iter()
                .all(|message| message["params"]["progressToken"] == name),
            "{progress:?}"
        );
    }
    session.delete().await;
    assert_eq!(standalone.remaining().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_progress_token_keeps_its_type() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for token in [
        "1",
        "\"1\"",
        "1.0",
        "9223372036854775808",
        "\"\"",
        "\"é\\n\"",
    ] {
        let expected = format!("\"progressToken\":{token}");
        let params = format!(r#"{{"name":"fake__progress","_meta":{{"progressToken":{token}}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let in_session = session.post(&json!(null)).body(body.as_bytes());
        let alone = gateway.client().post_text(&body);
        let modern = gateway
            .client()
            .modern_call("fake__progress", json!({}))
            .progress(json!("*"));
        let modern = String::from_utf8(modern.request().bytes()).unwrap();
        let (_, modern) = modern.split_once("\r\n\r\n").unwrap();
        let modern = modern.replace(
            r#""progressToken":"*""#,
            &format!("\"progressToken\":{token}"),
        );
        assert!(modern.contains(&expected));
        let dressed = gateway
            .client()
            .modern_call("fake__progress", json!({}))
            .request();
        for request in [in_session, alone, dressed.body(modern.as_bytes())] {
            let text = request.send().await.text().await;
            let count = text.matches(&format!("{expected}}}")).count()
                + text.matches(&format!("{expected},")).count();
            assert_eq!(count, 3, "{token}: {text}");
        }
    }
}
