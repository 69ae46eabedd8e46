//! Legacy sessions: ids, ownership, limits and expiry.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::{
    Client, FakeSource, LEGACY, NEWEST_LEGACY, Session, TestGateway, wait_until,
};

use crate::support::{
    bare_request, expect_error, expect_result, principal_of, standard, standard_with,
};

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

/// Whether a session still exists.
async fn is_open(session: &Session) -> bool {
    let response = session.request("ping", json!({})).send().await;
    assert!(matches!(response.status, 200 | 404), "{}", response.status);
    response.status == 200
}

#[tokio::test]
async fn session_ids_are_long_printable_and_unique() {
    let (gateway, _) = standard().await;
    let mut ids = std::collections::HashSet::new();
    for revision in LEGACY.into_iter().cycle().take(40) {
        let session = gateway.client().initialize(revision).await;
        let id = session.id().to_owned();
        assert!(id.len() >= 22, "at least 128 bits: {id}");
        assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
        assert!(ids.insert(id));
    }
}

#[tokio::test]
async fn a_client_cannot_choose_its_session_id() {
    let (gateway, _) = standard().await;
    let hello = gateway
        .client()
        .initialize_request(NEWEST_LEGACY)
        .header("Mcp-Session-Id", "mine");
    assert_ne!(hello.send().await.header("mcp-session-id"), Some("mine"));
    let ping = gateway
        .client()
        .post(&bare_request("ping", json!({})))
        .header("Mcp-Session-Id", "mine");
    expect_error(ping.send().await, 404, -32600).await;
}

/// T17: a session of another principal cannot be distinguished from an unknown one.
#[tokio::test]
async fn a_session_belongs_to_its_principal() {
    let (_gateway, ada, bob) = two_principals().await;
    let session = ada.initialize(NEWEST_LEGACY).await;
    let mut stream = session.stream().await;
    let stolen = session.with_client(&bob);
    let unknown = bob.initialize(NEWEST_LEGACY).await;
    unknown.delete().await;
    let ping = bare_request("ping", json!({}));
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
    for (of_stolen, of_unknown) in pairs {
        let of_stolen = expect_error(of_stolen.send().await, 404, -32600).await;
        let of_unknown = expect_error(of_unknown.send().await, 404, -32600).await;
        assert_eq!(
            of_stolen["error"]["message"],
            of_unknown["error"]["message"]
        );
        assert_eq!(of_stolen.get("id"), of_unknown.get("id"));
    }
    let cancelled = stolen
        .notify("notifications/cancelled", json!({ "requestId": 1 }))
        .await;
    expect_error(cancelled, 404, -32600).await;
    expect_error(stolen.delete().await, 404, -32600).await;
    // The session and the stream of the owner still work.
    assert!(is_open(&session).await);
    assert_eq!(session.delete().await.status, 204);
    assert_eq!(
        stream.next_message().await.map(|(_, message)| message),
        None
    );
}

#[tokio::test]
async fn calls_in_a_session_have_its_principal() {
    let (_gateway, ada, bob) = two_principals().await;
    for (client, name) in [(ada, "ada"), (bob, "bob")] {
        let session = client.initialize(NEWEST_LEGACY).await;
        let result = expect_result(session.call("fake__echo", json!({})).send().await).await;
        assert_eq!(principal_of(&result), name);
    }
}

#[tokio::test]
async fn a_session_belongs_to_its_endpoint() {
    let gateway = TestGateway::with(FakeSource::standard())
        .fake_source("other", FakeSource::standard())
        .start()
        .await;
    let everywhere = gateway.client();
    let (fake_only, other) = (everywhere.at("/mcp/fake"), everywhere.at("/mcp/other"));
    let session = fake_only.initialize(NEWEST_LEGACY).await;
    assert!(is_open(&session).await);
    for elsewhere in [&everywhere, &other] {
        let moved = session.with_client(elsewhere);
        assert!(!is_open(&moved).await);
        expect_error(moved.get().send().await, 404, -32600).await;
        expect_error(moved.delete().await, 404, -32600).await;
    }
    assert!(is_open(&session).await);
}

#[tokio::test]
async fn an_ended_session_is_unknown_and_its_calls_are_cancelled() {
    let (gateway, source) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let started = source.counts("hold").started;
        let call = session.call("fake__hold", json!({})).send_only().await;
        source.started("hold", started + 1).await;
        assert_eq!(session.delete().await.status, 204);
        source.dropped("hold", started + 1).await;
        drop(call);
        expect_error(session.delete().await, 404, -32600).await;
        expect_error(session.get().send().await, 404, -32600).await;
        assert!(!is_open(&session).await);
        let noted = session.notify("notifications/initialized", json!({})).await;
        expect_error(noted, 404, -32600).await;
    }
}

#[tokio::test]
async fn an_idle_session_expires() {
    let (gateway, source) = standard_with(|limits| {
        limits.session_idle_timeout = Duration::from_secs(2);
        limits.keep_alive_interval = Duration::from_millis(100);
    })
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
    // One comment per 100 ms of silence: this takes longer than the idle timeout.
    stream.comments(25).await;
    let ping = gateway.client().post(&bare_request("ping", json!({})));
    expect_error(
        ping.header("Mcp-Session-Id", &gone).send().await,
        404,
        -32600,
    )
    .await;
    assert!(is_open(&reading).await, "an open stream keeps the session");
    assert!(
        is_open(&calling).await,
        "a call in flight keeps the session"
    );
}

/// The idle time starts at the end of the last call, not at its start.
#[tokio::test]
async fn the_idle_time_starts_when_the_last_call_ends() {
    let (gateway, source) = standard_with(|limits| {
        limits.session_idle_timeout = Duration::from_secs(2);
        limits.keep_alive_interval = Duration::from_millis(100);
    })
    .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let mut call = session.call("fake__hold", json!({})).send().await.events();
    // One comment per 100 ms of silence: this takes longer than the idle timeout.
    call.comments(25).await;
    source.release("hold", 1);
    assert_eq!(call.remaining().await.len(), 1);
    assert!(is_open(&session).await, "the call has just ended");
}

#[tokio::test]
async fn at_the_limit_the_longest_idle_session_is_evicted() {
    let (gateway, source) = standard_with(|limits| limits.max_sessions = 3).await;
    let open = || async { gateway.client().initialize(NEWEST_LEGACY).await };
    let busy = open().await;
    let _call = busy.call("fake__hold", json!({})).send_only().await;
    source.started("hold", 1).await;
    let (older, newer) = (open().await, open().await);
    assert!(is_open(&older).await);
    // Now `newer` is the least recently used idle session: `busy` is older, but has a call in flight.
    let last = open().await;
    assert!(!is_open(&newer).await);
    for session in [&busy, &older, &last] {
        assert!(is_open(session).await);
    }
}

#[tokio::test]
async fn rejects_a_new_session_if_all_are_in_use() {
    let (gateway, _) = standard_with(|limits| limits.max_sessions = 2).await;
    let sessions = [
        gateway.client().initialize(NEWEST_LEGACY).await,
        gateway.client().initialize(NEWEST_LEGACY).await,
    ];
    let streams = [sessions[0].stream().await, sessions[1].stream().await];
    let response = gateway
        .client()
        .initialize_request(NEWEST_LEGACY)
        .send()
        .await;
    assert!(response.header("retry-after").is_some());
    expect_error(response, 503, -31503).await;
    drop(streams);
    wait_until("a free permit", || async {
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
async fn a_principal_cannot_evict_the_sessions_of_another() {
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
async fn rejects_a_second_reader_but_a_resuming_one_takes_over() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let mut first = session.stream().await;
        expect_error(session.get().send().await, 409, -32600).await;
        let mut second = session.resume("0-0").await.events();
        assert!(
            first.remaining().await.is_empty(),
            "the first reader was disconnected"
        );
        expect_error(session.get().send().await, 409, -32600).await;
        assert_eq!(session.delete().await.status, 204);
        assert!(second.remaining().await.is_empty());
    }
}

#[tokio::test]
async fn the_stream_can_be_opened_again_after_a_disconnect() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    drop(session.stream().await);
    wait_until("the stream to be free", || async {
        session.get().send().await.status == 200
    })
    .await;
}

#[tokio::test]
async fn notifications_and_responses_get_no_response() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        for message in [
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/unknown", "params": {} }),
            json!({ "jsonrpc": "2.0", "id": 7, "result": {} }),
            json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": -1, "message": "no" } }),
        ] {
            let mut response = session.post(&message).send().await;
            assert_eq!(
                (response.status, response.text().await.as_str()),
                (202, ""),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn a_cancellation_without_a_known_id_is_ignored() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for params in [
        json!({}),
        json!({ "requestId": null }),
        json!({ "requestId": 99 }),
    ] {
        let response = session.notify("notifications/cancelled", params).await;
        assert_eq!(response.status, 202, "a notification never gets an error");
    }
}

#[tokio::test]
async fn rejects_a_stream_for_a_client_that_does_not_accept_events() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let get = session.get().set("Accept", "application/json");
    expect_error(get.send().await, 406, -32600).await;
}
