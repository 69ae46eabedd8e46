//! Sessions of the legacy era: who may use one, where, and for how long.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::{
    Client, FakeSource, LEGACY, NEWEST_LEGACY, Session, TestGateway, wait_until,
};

use crate::support::{plain, refused, served, standard, who};

async fn two_principals() -> (TestGateway, Client, Client) {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .start()
        .await;
    let (ada, bob) = (
        gateway.client().with_key("key-of-ada"),
        gateway.client().with_key("key-of-bob"),
    );
    (gateway, ada, bob)
}

/// Whether a session still takes a ping.
async fn is_open(session: &Session) -> bool {
    let answer = session.request("ping", json!({})).send().await;
    assert!(matches!(answer.status, 200 | 404), "{}", answer.status);
    answer.status == 200
}

#[tokio::test]
async fn an_id_is_long_visible_and_never_the_same() {
    let (gateway, _) = standard().await;
    let mut seen = std::collections::HashSet::new();
    for revision in LEGACY.into_iter().cycle().take(40) {
        let session = gateway.client().initialize(revision).await;
        let id = session.id().to_owned();
        assert!(id.len() >= 22, "128 bits at the least: {id}");
        assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
        assert!(seen.insert(id));
    }
}

#[tokio::test]
async fn an_id_that_the_client_chose_is_never_adopted() {
    let (gateway, _) = standard().await;
    let hello = gateway
        .client()
        .initialize_request(NEWEST_LEGACY)
        .header("Mcp-Session-Id", "mine");
    assert_ne!(hello.send().await.header("mcp-session-id"), Some("mine"));
    let ping = gateway
        .client()
        .post(&plain("ping", json!({})))
        .header("Mcp-Session-Id", "mine");
    refused(ping.send().await, 404, -32600).await;
}

/// T17: someone else's session is exactly as unknown as one that never was.
#[tokio::test]
async fn a_session_belongs_to_its_principal() {
    let (_gateway, ada, bob) = two_principals().await;
    let session = ada.initialize(NEWEST_LEGACY).await;
    let mut stream = session.stream().await;
    let stolen = session.with_client(&bob);
    let unknown = bob.initialize(NEWEST_LEGACY).await;
    unknown.delete().await;
    let ping = plain("ping", json!({}));
    let pairs = [
        (stolen.post(&ping), unknown.post(&ping)),
        (stolen.get(), unknown.get()),
        (
            stolen.get().header("Last-Event-ID", "0-0"),
            unknown.get().header("Last-Event-ID", "0-0"),
        ),
        (
            stolen.post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
            unknown.post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
        ),
    ];
    for (theirs, nobodys) in pairs {
        let theirs = refused(theirs.send().await, 404, -32600).await;
        let nobodys = refused(nobodys.send().await, 404, -32600).await;
        assert_eq!(theirs["error"]["message"], nobodys["error"]["message"]);
        assert_eq!(theirs.get("id"), nobodys.get("id"));
    }
    let cancelled = stolen
        .notify("notifications/cancelled", json!({ "requestId": 1 }))
        .await;
    refused(cancelled, 404, -32600).await;
    refused(stolen.delete().await, 404, -32600).await;
    // The owner has lost nothing, the stream neither.
    assert!(is_open(&session).await);
    assert_eq!(session.delete().await.status, 204);
    assert_eq!(
        stream.next_message().await.map(|(_, message)| message),
        None
    );
}

#[tokio::test]
async fn calls_in_a_session_are_made_by_its_principal() {
    let (_gateway, ada, bob) = two_principals().await;
    for (client, name) in [(ada, "ada"), (bob, "bob")] {
        let session = client.initialize(NEWEST_LEGACY).await;
        let result = served(session.call("fake__echo", json!({})).send().await).await;
        assert_eq!(who(&result), name);
    }
}

#[tokio::test]
async fn a_session_belongs_to_its_endpoint() {
    let gateway = TestGateway::with(FakeSource::standard())
        .fake_source("other", FakeSource::standard())
        .start()
        .await;
    let everywhere = gateway.client();
    let (one, other) = (everywhere.at("/mcp/fake"), everywhere.at("/mcp/other"));
    let session = one.initialize(NEWEST_LEGACY).await;
    assert!(is_open(&session).await);
    for elsewhere in [&everywhere, &other] {
        let moved = session.with_client(elsewhere);
        assert!(!is_open(&moved).await);
        refused(moved.get().send().await, 404, -32600).await;
        refused(moved.delete().await, 404, -32600).await;
    }
    assert!(is_open(&session).await);
}

#[tokio::test]
async fn a_session_that_was_ended_is_unknown() {
    let (gateway, source) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let started = source.counts("hold").started;
        let call = session.call("fake__hold", json!({})).send_only().await;
        source.started("hold", started + 1).await;
        assert_eq!(session.delete().await.status, 204);
        source.dropped("hold", started + 1).await;
        drop(call);
        refused(session.delete().await, 404, -32600).await;
        refused(session.get().send().await, 404, -32600).await;
        assert!(!is_open(&session).await);
        let noted = session.notify("notifications/initialized", json!({})).await;
        refused(noted, 404, -32600).await;
    }
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| {
            limits.session_idle_timeout = Duration::from_secs(2);
            limits.keep_alive_interval = Duration::from_millis(100);
        })
        .start()
        .await;
    let calling = gateway.client().initialize(NEWEST_LEGACY).await;
    let _call = calling.call("fake__hold", json!({})).send_only().await;
    source.started("hold", 1).await;
    let reading = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut stream = reading.stream().await;
    let gone = gateway
        .client()
        .initialize_request(NEWEST_LEGACY)
        .send()
        .await;
    let gone = gone.header("mcp-session-id").unwrap().to_owned();
    // Each comment comes after a tenth of a second of silence, so this is longer than the bound.
    stream.comments(25).await;
    let ping = gateway.client().post(&plain("ping", json!({})));
    refused(
        ping.header("Mcp-Session-Id", &gone).send().await,
        404,
        -32600,
    )
    .await;
    assert!(is_open(&reading).await, "an open stream is use");
    assert!(is_open(&calling).await, "a call under way is use");
}

/// An hour of idleness begins when the last call ends, not when it began.
#[tokio::test]
async fn idleness_begins_when_the_last_use_ends() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| {
            limits.session_idle_timeout = Duration::from_secs(2);
            limits.keep_alive_interval = Duration::from_millis(100);
        })
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut call = session.call("fake__hold", json!({})).send().await.events();
    // Each comment comes after a tenth of a second of silence, so this is longer than the bound.
    call.comments(25).await;
    source.release("hold", 1);
    assert_eq!(call.remaining().await.len(), 1);
    assert!(is_open(&session).await, "the call ended just now");
}

#[tokio::test]
async fn at_the_bound_the_session_idle_longest_makes_room() {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone())
        .limits(|limits| limits.max_sessions = 3)
        .start()
        .await;
    let open = || async { gateway.client().initialize(NEWEST_LEGACY).await };
    let busy = open().await;
    let _call = busy.call("fake__hold", json!({})).send_only().await;
    source.started("hold", 1).await;
    let (older, newer) = (open().await, open().await);
    assert!(is_open(&older).await);
    // Now `newer` is the one that was used longest ago; `busy` is older still, but busy.
    let last = open().await;
    assert!(!is_open(&newer).await);
    for session in [&busy, &older, &last] {
        assert!(is_open(session).await);
    }
}

#[tokio::test]
async fn when_every_session_is_busy_a_new_one_is_refused() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.max_sessions = 2)
        .start()
        .await;
    let sessions = [
        gateway.client().initialize(NEWEST_LEGACY).await,
        gateway.client().initialize(NEWEST_LEGACY).await,
    ];
    let streams = [sessions[0].stream().await, sessions[1].stream().await];
    let answer = gateway
        .client()
        .initialize_request(NEWEST_LEGACY)
        .send()
        .await;
    assert!(answer.header("retry-after").is_some());
    refused(answer, 503, -31503).await;
    drop(streams);
    wait_until("room", || async {
        gateway
            .client()
            .initialize_request(NEWEST_LEGACY)
            .send()
            .await
            .status
            == 200
    })
    .await;
}

#[tokio::test]
async fn one_principal_cannot_push_out_the_sessions_of_another() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .limits(|limits| limits.max_sessions_per_principal = 2)
        .start()
        .await;
    let (ada, bob) = (
        gateway.client().with_key("key-of-ada"),
        gateway.client().with_key("key-of-bob"),
    );
    let kept = ada.initialize(NEWEST_LEGACY).await;
    let first = bob.initialize(NEWEST_LEGACY).await;
    for _ in 0..4 {
        bob.initialize(NEWEST_LEGACY).await;
    }
    assert!(!is_open(&first).await);
    assert!(is_open(&kept).await);
}

#[tokio::test]
async fn a_second_reader_is_refused_and_one_that_comes_back_takes_over() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let mut first = session.stream().await;
        refused(session.get().send().await, 409, -32600).await;
        let mut second = session.resume("0-0").await.events();
        assert!(first.remaining().await.is_empty(), "the first has ended");
        refused(session.get().send().await, 409, -32600).await;
        assert_eq!(session.delete().await.status, 204);
        assert!(second.remaining().await.is_empty());
    }
}

#[tokio::test]
async fn a_reader_that_left_makes_room_for_the_next() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    drop(session.stream().await);
    wait_until("the stream to be free", || async {
        session.get().send().await.status == 200
    })
    .await;
}

#[tokio::test]
async fn notifications_and_responses_are_taken_without_a_word() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        for message in [
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/never-heard-of", "params": {} }),
            json!({ "jsonrpc": "2.0", "id": 7, "result": {} }),
            json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": -1, "message": "no" } }),
        ] {
            let mut answer = session.post(&message).send().await;
            assert_eq!(
                (answer.status, answer.text().await.as_str()),
                (202, ""),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn a_cancellation_without_an_id_is_let_be() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for params in [
        json!({}),
        json!({ "requestId": null }),
        json!({ "requestId": 99 }),
    ] {
        let answer = session.notify("notifications/cancelled", params).await;
        assert_eq!(
            answer.status, 202,
            "a notification is never answered with an error"
        );
    }
}

#[tokio::test]
async fn a_stream_is_for_those_who_take_events() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let get = session.get().set("Accept", "application/json");
    refused(get.send().await, 406, -32600).await;
}
