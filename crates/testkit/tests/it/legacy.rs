//! The legacy era: handshake, sessions, streams and questions.

use serde_json::json;
use tidegate_testkit::fixture::{Announcement, Fixture, Received};
use tidegate_testkit::{LEGACY, NEWEST_LEGACY, wait_until};

use crate::support::{answer, call_for_events, names, text};

#[tokio::test]
async fn handshake_negotiates_the_revision() {
    for newest in LEGACY {
        let running = Fixture::legacy(newest).start().await;
        for wanted in LEGACY {
            let hello = running
                .client()
                .initialize_request(wanted)
                .send()
                .await
                .json()
                .await;
            let agreed = hello["result"]["protocolVersion"].as_str().unwrap();
            assert_eq!(agreed, if wanted <= newest { wanted } else { newest });
        }
    }
}

#[tokio::test]
async fn features_are_offered_only_in_revisions_that_have_them() {
    let running = Fixture::new().start().await;
    let oldest = running.client().initialize(LEGACY[0]).await;
    let list = oldest.exchange("tools/list", json!({})).await;
    let old = names(&list["result"]["tools"]);
    let newest = running.client().initialize(NEWEST_LEGACY).await;
    let list = newest.exchange("tools/list", json!({})).await;
    let new = names(&list["result"]["tools"]);
    for name in [
        "test_audio_content",
        "test_elicitation",
        "test_structured_content",
    ] {
        assert!(!old.iter().any(|listed| listed == name), "{name}");
        assert!(new.iter().any(|listed| listed == name), "{name}");
    }
    let refused = oldest.call("test_elicitation", json!({})).send().await;
    assert_eq!(refused.json().await["error"]["code"], -32602);
}

#[tokio::test]
async fn sessions_can_be_deleted_and_forgotten() {
    let running = Fixture::new().start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    assert_eq!(running.sessions(), 1);
    assert_eq!(session.delete().await.status, 200);
    let dead = session.request("ping", json!({})).send().await;
    assert_eq!((dead.status, running.sessions()), (404, 0));
    let session = running.client().initialize(NEWEST_LEGACY).await;
    running.forget_sessions();
    let lost = session.request("ping", json!({})).send().await;
    assert_eq!(lost.status, 404);
}

#[tokio::test]
async fn clients_without_session_ids_share_one_session() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).with(|settings| settings.no_session_ids = true);
    let running = fixture.start().await;
    let client = running.client();
    let answer = client.initialize_request(NEWEST_LEGACY).send().await;
    assert_eq!(answer.header("mcp-session-id"), None);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(client.post(&list).send().await.status, 200);
}

#[tokio::test]
async fn changes_are_sent_on_the_session_stream_of_subscribers() {
    let running = Fixture::new().start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    running.update("test://watched-resource");
    let watched = json!({ "uri": "test://watched-resource" });
    session.exchange("resources/subscribe", watched).await;
    let mut stream = session.stream().await;
    running.update("test://watched-resource/part");
    running.announce(Announcement::Tools);
    let update = stream.message().await;
    assert_eq!(update["params"]["uri"], "test://watched-resource/part");
    assert_eq!(
        stream.message().await["method"],
        "notifications/tools/list_changed"
    );
}

#[tokio::test]
async fn closed_stream_is_resumed_with_last_event_id() {
    let running = Fixture::new().start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    let call = session.call("test_reconnection", json!({})).send().await;
    let mut first = call.events();
    let priming = first.next().await.unwrap();
    assert!(priming.data.is_empty() && priming.retry.is_some());
    assert!(
        first.next().await.is_none(),
        "the stream ends after the priming event"
    );
    let rest = session.resume(&priming.id.unwrap()).await.message().await;
    assert_eq!(text(&rest), "Resumed.");
}

#[tokio::test]
async fn questions_come_on_the_stream_of_the_call_and_are_answered_by_post() {
    let running = Fixture::new().start().await;
    let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    let client = running
        .client()
        .initialize_with(NEWEST_LEGACY, &capabilities)
        .await;
    for (tool, method) in [
        ("test_elicitation", "elicitation/create"),
        ("test_sampling", "sampling/createMessage"),
        ("test_list_roots", "roots/list"),
        ("test_ping_client", "ping"),
    ] {
        let mut events = call_for_events(&client, tool).await;
        let question = events.message().await;
        assert_eq!(question["method"], method);
        answer(&client, &question, json!({ "recorded": tool })).await;
        let answer = events.message().await;
        assert!(text(&answer).contains(tool), "{answer}");
    }
    let mut events = call_for_events(&client, "test_two_elicitations").await;
    let (first, other) = (events.message().await, events.message().await);
    assert_ne!(first["id"], other["id"]);
    answer(&client, &other, json!({ "action": "accept", "n": 2 })).await;
    answer(&client, &first, json!({ "action": "accept", "n": 1 })).await;
    let answer = events.message().await;
    assert!(
        text(&answer).contains(r#"[{"action":"accept","n":1},"#),
        "{answer}"
    );
}

#[tokio::test]
async fn clients_without_capabilities_are_not_asked_and_see_fewer_tools() {
    let fixture = Fixture::new().with(|settings| settings.list_by_capabilities = true);
    let running = fixture.start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    let list = session.exchange("tools/list", json!({})).await;
    assert!(!names(&list["result"]["tools"]).contains(&"test_elicitation".to_owned()));
    let answer = session.call("test_elicitation", json!({})).send().await;
    assert_eq!(answer.json().await["result"]["isError"], true);
}

#[tokio::test]
async fn roots_can_be_requested_right_after_the_handshake() {
    let running = Fixture::new()
        .with(|settings| settings.roots_after_handshake = true)
        .start()
        .await;
    let client = running
        .client()
        .initialize_with(NEWEST_LEGACY, &json!({ "roots": {} }))
        .await;
    let question = client.stream().await.message().await;
    assert_eq!(question["method"], "roots/list");
}

#[tokio::test]
async fn only_a_notification_cancels_a_call() {
    let running = Fixture::new().start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    let call = session
        .call_with_progress("test_slow", json!("t"))
        .send()
        .await;
    let mut events = call.events();
    events.message().await;
    drop(events);
    let call = json!({ "name": "fault_hang" });
    let hanging = json!({ "jsonrpc": "2.0", "id": "hang", "method": "tools/call", "params": call });
    let request = session.post(&hanging);
    let waiting = tokio::spawn(async move { request.send().await.text().await });
    wait_until("the call to arrive", async || {
        running.received_for("tools/call").len() == 2
    })
    .await;
    session
        .notify("notifications/cancelled", json!({ "requestId": "hang" }))
        .await;
    assert_eq!(waiting.await.unwrap(), "");
    let cancelled: Vec<_> = running
        .received()
        .into_iter()
        .filter(|received| matches!(received, Received::Cancelled { .. }))
        .collect();
    let method = "tools/call".to_owned();
    assert_eq!(
        cancelled,
        [Received::Cancelled {
            id: "\"hang\"".to_owned(),
            method,
            arguments: serde_json::Value::Null
        }]
    );
}

#[tokio::test]
async fn received_messages_are_recorded_byte_for_byte() {
    let running = Fixture::new().start().await;
    let session = running.client().initialize(NEWEST_LEGACY).await;
    let odd = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"n":12345678901234567890,  "x":1.50}}}"#;
    let request = running.client().post_text(odd);
    let answer = request
        .header("Mcp-Session-Id", session.id())
        .header("X-Odd", "yes")
        .send()
        .await;
    let answer = answer.message().await;
    assert_eq!(text(&answer), r#"{"n":12345678901234567890,  "x":1.50}"#);
    let received = session
        .call("received_messages", json!({ "method": "tools/call" }))
        .send()
        .await;
    let recorded: serde_json::Value =
        serde_json::from_str(&text(&received.message().await)).unwrap();
    assert_eq!(recorded[0]["body"], odd);
    assert!(
        recorded[0]["headers"]
            .as_array()
            .unwrap()
            .contains(&json!(["x-odd", "yes"]))
    );
    let here = running.received_for("tools/call");
    assert_eq!(
        (here[0].body(), here[0].header("x-odd")),
        (odd, Some("yes"))
    );
}
