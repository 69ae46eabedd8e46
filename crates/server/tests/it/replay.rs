//! Coming back to a stream: what was missed is there, what belongs to others is not.

use serde_json::json;
use tidegate_testkit::{
    Client, Events, FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, Session, TestGateway, poll_for,
};

use crate::support::{echoed, methods, refused, standard};

/// Begins a call that tells its progress once and then holds; gives the id of that event.
async fn begun(session: &Session, token: &str) -> (Events, String) {
    let call = session.call_with_progress("fake__stream", json!(token));
    let mut events = call.send().await.events();
    let (event, message) = events.next_message().await.unwrap();
    assert_eq!(message["params"]["progressToken"], token);
    (events, event.id.expect("an event of a session has an id"))
}

#[tokio::test]
async fn a_call_goes_on_without_its_client_who_can_come_back_for_the_rest() {
    let (gateway, source) = standard().await;
    for (round, revision) in LEGACY.into_iter().enumerate() {
        let session = gateway.client().initialize(revision).await;
        let (events, last) = begun(&session, "mine").await;
        drop(events);
        source.release("stream", 1);
        source.finished("stream", round + 1).await;
        assert_eq!(
            source.counts("stream").dropped,
            0,
            "a lost connection cancels nothing"
        );
        let messages = session.resume(&last).await.messages().await;
        assert_eq!(
            methods(&messages),
            ["notifications/progress", "answer"],
            "{revision}"
        );
        assert!(messages[1]["result"].is_object());
    }
}

#[tokio::test]
async fn who_comes_back_before_the_end_waits_for_it() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (events, last) = begun(&session, "mine").await;
    drop(events);
    let mut rest = session.resume(&last).await.events();
    source.release("stream", 1);
    assert_eq!(
        methods(&rest.remaining().await),
        ["notifications/progress", "answer"]
    );
}

#[tokio::test]
async fn a_silent_call_can_be_come_back_to_by_its_priming_event() {
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
    assert_eq!(methods(&messages), ["answer"]);
    assert_eq!(echoed(&messages[0]["result"]), json!({ "canary": 7 }));
}

#[tokio::test]
async fn every_place_in_a_stream_can_be_come_back_to() {
    let source = FakeSource::empty().tool(ScriptedTool::new("long").progress(20));
    let gateway = TestGateway::with(source).start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let call = session
        .call_with_progress("fake__long", json!(1))
        .send()
        .await;
    let mut events = call.events();
    let mut seen = Vec::new();
    while let Some((event, message)) = events.next_message().await {
        seen.push((event.id.unwrap(), message));
    }
    assert_eq!(seen.len(), 21);
    for (at, (id, _)) in seen.iter().enumerate() {
        let again = session.resume(id).await;
        let is_the_last = at + 1 == seen.len();
        assert_eq!(again.status, if is_the_last { 204 } else { 200 });
        let again = again.messages().await;
        let rest: Vec<_> = seen[at + 1..]
            .iter()
            .map(|(_, message)| message.clone())
            .collect();
        assert_eq!(again, rest, "after {id}");
    }
}

/// Whoever comes back and is cut off again must not be sent back to the start.
#[tokio::test]
async fn the_priming_event_of_a_resumed_stream_does_not_go_back() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (events, last) = begun(&session, "mine").await;
    drop(events);
    let mut second = session.resume(&last).await.events();
    let priming = second.next().await.unwrap();
    assert_eq!(priming.data, "");
    drop(second);
    source.release("stream", 1);
    source.finished("stream", 1).await;
    let again = session.resume(&priming.id.unwrap()).await.messages().await;
    assert_eq!(
        methods(&again),
        ["notifications/progress", "answer"],
        "nothing comes twice"
    );
}

#[tokio::test]
async fn the_priming_event_of_the_standing_stream_does_not_go_back() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    let mut first = session.stream().await;
    source.updated("fake://note");
    first.message().await;
    drop(first);
    let mut second = reopened(&session).await;
    let priming = second.next().await.unwrap();
    assert_eq!(priming.data, "");
    drop(second);
    let mut third = session.resume(&priming.id.unwrap()).await.events();
    source.updated("fake://folder");
    session.delete().await;
    assert!(
        third.remaining().await.is_empty(),
        "what was read does not come again"
    );
}

/// Opens the standing stream once the gateway has seen that the last reader left.
async fn reopened(session: &Session) -> Events {
    poll_for("the standing stream to be free", || async {
        let answer = session.get().send().await;
        (answer.status == 200).then(|| answer.events())
    })
    .await
}

#[tokio::test]
async fn a_stream_that_is_come_back_to_has_the_events_of_that_stream_alone() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let other_session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (first, first_last) = begun(&session, "first").await;
    let (second, _) = begun(&session, "second").await;
    let (third, _) = begun(&other_session, "third").await;
    session
        .exchange("resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    source.updated("fake://note");
    drop((first, second, third));
    source.release("stream", 3);
    source.finished("stream", 3).await;
    let messages = session.resume(&first_last).await.messages().await;
    assert_eq!(methods(&messages), ["notifications/progress", "answer"]);
    assert_eq!(messages[0]["params"]["progressToken"], "first");
}

/// T22: an event id opens nothing that its session does not own.
#[tokio::test]
async fn an_event_id_is_good_in_its_own_session_alone() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let other = gateway.client().initialize(NEWEST_LEGACY).await;
    let (_events, last) = begun(&session, "mine").await;
    let answer = other.resume(&last).await;
    assert_ne!(answer.status, 200, "the other session has no such stream");
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
        refused(session.resume(bad).await, 400, -32600).await;
    }
    let twice = session
        .get()
        .header("Last-Event-ID", &last)
        .header("Last-Event-ID", &last);
    refused(twice.send().await, 400, -32600).await;
    source.release("stream", 1);
}

#[tokio::test]
async fn an_event_id_is_good_for_its_own_principal_alone() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .start()
        .await;
    let client = |key: &str| -> Client { gateway.client().with_key(key) };
    let session = client("key-of-ada").initialize(NEWEST_LEGACY).await;
    let (mut events, last) = begun(&session, "mine").await;
    refused(
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
        ["notifications/progress", "answer"],
        "the owner keeps every event"
    );
}

#[tokio::test]
async fn who_comes_back_takes_over_from_who_was_reading() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let (mut first, last) = begun(&session, "mine").await;
    let mut second = session.resume(&last).await.events();
    assert!(first.remaining().await.is_empty(), "the first has ended");
    source.release("stream", 1);
    assert_eq!(
        methods(&second.remaining().await),
        ["notifications/progress", "answer"]
    );
}

#[tokio::test]
async fn changes_that_came_while_nobody_read_are_there_for_the_next_reader() {
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
async fn what_is_kept_of_a_stream_is_bounded_and_the_answer_always_among_it() {
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
    assert_eq!(messages.len(), 4, "the oldest have gone");
    assert!(messages[3]["result"].is_object());
    let how_far: Vec<_> = messages[..3]
        .iter()
        .map(|one| &one["params"]["progress"])
        .collect();
    assert_eq!(how_far, [18, 19, 20]);
}

#[tokio::test]
async fn streams_that_ended_long_ago_are_forgotten() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let call = session.call_with_progress("fake__progress", json!(1));
        let mut events = call.send().await.events();
        ids.push(events.next().await.unwrap().id.unwrap());
        events.remaining().await;
    }
    refused(session.resume(&ids[0]).await, 400, -32600).await;
    let last = session.resume(&ids[19]).await.messages().await;
    assert_eq!(last.len(), 4, "the newest are kept");
}
