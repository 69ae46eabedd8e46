//! Resumption of streams after a disconnect.

use serde_json::json;
use tidegate_testkit::{
    Client, Events, FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, Session, TestGateway, poll_for,
};

use crate::support::{echoed, expect_error, methods, standard};

/// Starts a call that sends progress once and then waits. Returns the id of that event.
async fn start_stream(session: &Session, token: &str) -> (Events, String) {
    let call = session.call_with_progress("fake__stream", json!(token));
    let mut events = call.send().await.events();
    let (event, message) = events.next_message().await.unwrap();
    assert_eq!(message["params"]["progressToken"], token);
    (events, event.id.expect("an event of a session has an id"))
}

#[tokio::test]
async fn a_call_continues_after_a_disconnect_and_its_stream_can_be_resumed() {
    let (gateway, source) = standard().await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let (events, last) = start_stream(&session, "mine").await;
        drop(events);
        source.release("stream", 1);
        source.finished("stream", round + 1).await;
        assert_eq!(
            source.counts("stream").dropped,
            0,
            "a disconnect cancels nothing"
        );
        let messages = session.resume(&last).await.messages().await;
        assert_eq!(
            methods(&messages),
            ["notifications/progress", "response"],
            "{revision}"
        );
        assert!(messages[1]["result"].is_object());
    }
}

#[tokio::test]
async fn a_client_that_resumes_early_waits_for_the_response() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (events, last) = start_stream(&session, "mine").await;
    drop(events);
    let mut rest = session.resume(&last).await.events();
    source.release("stream", 1);
    assert_eq!(
        methods(&rest.remaining().await),
        ["notifications/progress", "response"]
    );
}

#[tokio::test]
async fn a_silent_stream_can_be_resumed_from_its_priming_event() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut events = session
        .call("fake__hold", json!({ "canary": 7 }))
        .send()
        .await
        .events();
    let priming = events.next().await.unwrap();
    drop(events);
    source.release("hold", 1);
    let messages = session.resume(&priming.id.unwrap()).await.messages().await;
    assert_eq!(methods(&messages), ["response"]);
    assert_eq!(echoed(&messages[0]["result"]), json!({ "canary": 7 }));
}

#[tokio::test]
async fn a_stream_can_be_resumed_from_every_event() {
    let source = FakeSource::empty().tool(ScriptedTool::new("long").progress(20));
    let gateway = TestGateway::with(source).start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let call = session
        .call_with_progress("fake__long", json!(1))
        .send()
        .await;
    let mut events = call.events();
    let mut delivered = Vec::new();
    while let Some((event, message)) = events.next_message().await {
        delivered.push((event.id.unwrap(), message));
    }
    assert_eq!(delivered.len(), 21);
    for (at, (id, _)) in delivered.iter().enumerate() {
        let resumed = session.resume(id).await;
        let is_last = at + 1 == delivered.len();
        assert_eq!(resumed.status, if is_last { 204 } else { 200 });
        let resumed = resumed.messages().await;
        let rest: Vec<_> = delivered[at + 1..]
            .iter()
            .map(|(_, message)| message.clone())
            .collect();
        assert_eq!(resumed, rest, "after {id}");
    }
}

/// A client that is disconnected again must not start from the beginning.
#[tokio::test]
async fn the_priming_event_of_a_resumed_stream_keeps_the_position() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (events, last) = start_stream(&session, "mine").await;
    drop(events);
    let mut second = session.resume(&last).await.events();
    let priming = second.next().await.unwrap();
    assert_eq!(priming.data, "");
    drop(second);
    source.release("stream", 1);
    source.finished("stream", 1).await;
    let resumed = session.resume(&priming.id.unwrap()).await.messages().await;
    assert_eq!(
        methods(&resumed),
        ["notifications/progress", "response"],
        "no event is delivered twice"
    );
}

#[tokio::test]
async fn the_priming_event_of_the_standalone_stream_keeps_the_position() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    let mut first = session.stream().await;
    source.updated("fake://note");
    first.message().await;
    drop(first);
    let mut second = reopen_stream(&session).await;
    let priming = second.next().await.unwrap();
    assert_eq!(priming.data, "");
    drop(second);
    let mut third = session.resume(&priming.id.unwrap()).await.events();
    source.updated("fake://folder");
    session.delete().await;
    assert!(
        third.remaining().await.is_empty(),
        "events that were read are not repeated"
    );
}

/// Opens the standalone stream as soon as the gateway has noticed that the last reader disconnected.
async fn reopen_stream(session: &Session) -> Events {
    poll_for("the standalone stream to be free", || async {
        let response = session.get().send().await;
        (response.status == 200).then(|| response.events())
    })
    .await
}

#[tokio::test]
async fn a_resumed_stream_only_has_its_own_events() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let other_session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (first, first_last) = start_stream(&session, "first").await;
    let (second, _) = start_stream(&session, "second").await;
    let (third, _) = start_stream(&other_session, "third").await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    source.updated("fake://note");
    drop((first, second, third));
    source.release("stream", 3);
    source.finished("stream", 3).await;
    let messages = session.resume(&first_last).await.messages().await;
    assert_eq!(methods(&messages), ["notifications/progress", "response"]);
    assert_eq!(messages[0]["params"]["progressToken"], "first");
}

/// T22: an event id cannot open a stream of another session.
#[tokio::test]
async fn an_event_id_is_only_valid_in_its_session() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let other = gateway.client().initialize(NEWEST_LEGACY).await;
    let (_events, last) = start_stream(&session, "mine").await;
    let response = other.resume(&last).await;
    assert_ne!(
        response.status, 200,
        "the other session does not have this stream"
    );
    for bad in [
        "",
        "x",
        "99-1",
        "1",
        "-1",
        "1-",
        "1-1-1",
        "18446744073709551616-1",
        "é",
    ] {
        expect_error(session.resume(bad).await, 400, -32600).await;
    }
    let twice = session
        .get()
        .header("Last-Event-ID", &last)
        .header("Last-Event-ID", &last);
    expect_error(twice.send().await, 400, -32600).await;
    source.release("stream", 1);
}

#[tokio::test]
async fn an_event_id_is_only_valid_for_its_principal() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .start()
        .await;
    let client = |key: &str| -> Client { gateway.client().with_key(key) };
    let session = client("key-of-ada").initialize(NEWEST_LEGACY).await;
    let (mut events, last) = start_stream(&session, "mine").await;
    expect_error(
        session
            .with_client(&client("key-of-bob"))
            .resume(&last)
            .await,
        404,
        -32600,
    )
    .await;
    source.release("stream", 1);
    let rest = events.remaining().await;
    assert_eq!(
        methods(&rest),
        ["notifications/progress", "response"],
        "the owner still gets every event"
    );
}

#[tokio::test]
async fn a_resuming_client_replaces_the_current_reader() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (mut first, last) = start_stream(&session, "mine").await;
    let mut second = session.resume(&last).await.events();
    assert!(
        first.remaining().await.is_empty(),
        "the first reader was disconnected"
    );
    source.release("stream", 1);
    assert_eq!(
        methods(&second.remaining().await),
        ["notifications/progress", "response"]
    );
}

#[tokio::test]
async fn changes_are_buffered_while_there_is_no_reader() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://folder" }))
        .await;
    source.updated("fake://note");
    source.updated("fake://folder");
    let mut stream = session.stream().await;
    let mut uris = [stream.message().await, stream.message().await]
        .map(|message| message["params"]["uri"].as_str().unwrap().to_owned());
    uris.sort();
    assert_eq!(uris, ["fake://folder", "fake://note"]);
}

#[tokio::test]
async fn the_replay_buffer_is_limited_and_keeps_the_response() {
    let source = FakeSource::empty().tool(ScriptedTool::new("long").hold().progress(20));
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.replay_buffer_events = 4)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let call = session.call_with_progress("fake__long", json!(1));
    let mut events = call.send().await.events();
    let priming = events.next().await.unwrap();
    drop(events);
    source.release("long", 1);
    source.finished("long", 1).await;
    let messages = session.resume(&priming.id.unwrap()).await.messages().await;
    assert_eq!(messages.len(), 4, "the oldest were dropped");
    assert!(messages[3]["result"].is_object());
    let how_far: Vec<_> = messages[..3]
        .iter()
        .map(|message| &message["params"]["progress"])
        .collect();
    assert_eq!(how_far, [18, 19, 20]);
}

#[tokio::test]
async fn only_the_newest_finished_streams_are_kept() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let call = session.call_with_progress("fake__progress", json!(1));
        let mut events = call.send().await.events();
        ids.push(events.next().await.unwrap().id.unwrap());
        events.remaining().await;
    }
    expect_error(session.resume(&ids[0]).await, 400, -32600).await;
    let last = session.resume(&ids[19]).await.messages().await;
    assert_eq!(last.len(), 4, "the newest are kept");
}
