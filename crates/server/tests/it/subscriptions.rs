//! Hearing of changes: legacy sessions on their standing stream, stateless clients by listening.

use serde_json::{Value, json};
use tidegate_core::Change;
use tidegate_testkit::{
    Events, FakeSource, LEGACY, NEWEST_LEGACY, Session, TestGateway, sooner_or_later,
};

use crate::support::{methods, refused, standard};

const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

async fn subscribe(session: &Session, uri: &str) {
    let answer = session
        .ask("resources/subscribe", json!({ "uri": uri }))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
}

async fn next(events: &mut Events) -> (String, Value) {
    let message = events.message().await;
    (
        message["method"].as_str().unwrap_or_default().to_owned(),
        message["params"].clone(),
    )
}

#[tokio::test]
async fn a_session_hears_of_what_it_subscribed_to_until_it_does_not_want_to() {
    let (gateway, source) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let mut stream = session.stream().await;
        subscribe(&session, "fake://note").await;
        source.updated("fake://folder");
        source.updated("fake://note");
        let heard = next(&mut stream).await;
        assert_eq!(
            heard,
            (UPDATED.to_owned(), json!({ "uri": "fake://note" })),
            "{revision}"
        );
        let answer = session
            .ask("resources/unsubscribe", json!({ "uri": "fake://note" }))
            .await;
        assert_eq!(answer["result"], json!({}));
        subscribe(&session, "fake://folder").await;
        source.updated("fake://note");
        source.updated("fake://folder");
        assert_eq!(next(&mut stream).await.1, json!({ "uri": "fake://folder" }));
        session.end().await;
        assert!(stream.rest().await.is_empty());
    }
}

#[tokio::test]
async fn many_changes_of_one_thing_wait_as_one() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    subscribe(&session, "fake://note").await;
    subscribe(&session, "fake://folder").await;
    for _ in 0..100 {
        source.updated("fake://note");
    }
    source.updated("fake://folder");
    // The folder's change comes after all of the note's.
    let mut stream = session.stream().await;
    let mut uris = Vec::new();
    while uris.last().is_none_or(|uri| uri != "fake://folder") {
        uris.push(
            next(&mut stream).await.1["uri"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    assert!(uris.len() < 20, "{} events for 100 changes", uris.len());
    // After it was read, a change is news again.
    source.updated("fake://note");
    assert_eq!(next(&mut stream).await.1["uri"], "fake://note");
}

#[tokio::test]
async fn a_session_hears_of_what_lies_below_its_uri() {
    let (gateway, source) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    subscribe(&session, "fake://folder").await;
    let mut stream = session.stream().await;
    source.updated("fake://folders");
    source.updated("fake://folder/file");
    assert_eq!(next(&mut stream).await.1["uri"], "fake://folder/file");
}

#[tokio::test]
async fn what_cannot_be_subscribed_to_is_named_in_the_refusal() {
    let deaf = FakeSource::empty()
        .resource("deaf://note", "x")
        .without_updates();
    let gateway = TestGateway::with(FakeSource::standard())
        .and("deaf", deaf)
        .start()
        .await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        for uri in ["fake://nothing", "deaf://note", "nonsense"] {
            let request = session.request("resources/subscribe", json!({ "uri": uri }));
            let message = refused(request.send().await, 200, -32602).await;
            assert_eq!(message["error"]["data"]["uri"], uri);
        }
        let request = session.request("resources/subscribe", json!({}));
        refused(request.send().await, 200, -32602).await;
        let unsubscribe = session
            .ask("resources/unsubscribe", json!({ "uri": "fake://nothing" }))
            .await;
        assert_eq!(
            unsubscribe["result"],
            json!({}),
            "not being subscribed is no error"
        );
    }
}

#[tokio::test]
async fn a_session_has_a_bound_of_subscriptions() {
    let source = (0..4).fold(FakeSource::empty(), |source, number| {
        source.resource(&format!("fake://{number}"), "x")
    });
    let gateway = TestGateway::with(source)
        .limits(|limits| limits.subscriptions = 2)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    subscribe(&session, "fake://0").await;
    subscribe(&session, "fake://1").await;
    subscribe(&session, "fake://1").await;
    let third = session
        .ask("resources/subscribe", json!({ "uri": "fake://2" }))
        .await;
    assert_eq!(third["error"]["code"], -31503, "{third}");
    session
        .ask("resources/unsubscribe", json!({ "uri": "fake://0" }))
        .await;
    subscribe(&session, "fake://2").await;
    let uris = ["fake://0", "fake://1", "fake://2"];
    let listen = json!({ "notifications": { "resourceSubscriptions": uris } });
    let answer = gateway
        .client()
        .modern("subscriptions/listen", listen)
        .send()
        .await;
    assert_eq!(answer.json().await["error"]["code"], -32602);
}

/// The lists of every session are watched from the handshake on.
#[tokio::test]
async fn a_session_hears_when_a_list_changes() {
    let (gateway, source) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        // A round trip, so that what the handshake began has begun.
        session.ask("ping", json!({})).await;
        let mut stream = session.stream().await;
        for (change, method) in [
            (Change::Tools, "notifications/tools/list_changed"),
            (Change::Prompts, "notifications/prompts/list_changed"),
            (Change::Resources, "notifications/resources/list_changed"),
        ] {
            source.change(change);
            let message = stream.message().await;
            assert_eq!(message["method"], method, "{revision}");
            assert!(message["params"]["_meta"].get(SUBSCRIPTION).is_none());
        }
    }
}

#[tokio::test]
async fn a_listen_is_acknowledged_first_with_what_it_will_hear() {
    let deaf = FakeSource::empty()
        .resource("deaf://note", "x")
        .without_updates();
    let gateway = TestGateway::with(FakeSource::standard())
        .and("deaf", deaf)
        .start()
        .await;
    let wanted = json!({
        "toolsListChanged": true,
        "promptsListChanged": false,
        "resourceSubscriptions": ["fake://note", "fake://nothing", "deaf://note"],
        "someday": true,
    });
    let mut events = gateway.client().listen("7", wanted).await;
    let (method, params) = next(&mut events).await;
    assert_eq!(method, ACKNOWLEDGED);
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": ["fake://note"] });
    assert_eq!(params["notifications"], honoured);
    assert_eq!(params["_meta"][SUBSCRIPTION], json!(7));
}

#[tokio::test]
async fn a_listen_hears_what_it_asked_for_and_nothing_else() {
    let (gateway, source) = standard().await;
    let everything = [
        Change::Prompts,
        Change::Updated("fake://note".into()),
        Change::Updated("fake://folder/x".into()),
        Change::Resources,
        Change::Tools,
    ];
    for (wanted, expected) in [
        (
            json!({ "toolsListChanged": true }),
            vec!["notifications/tools/list_changed"],
        ),
        (
            json!({ "resourcesListChanged": true, "toolsListChanged": true }),
            vec![
                "notifications/resources/list_changed",
                "notifications/tools/list_changed",
            ],
        ),
        (
            json!({ "promptsListChanged": true, "toolsListChanged": true }),
            vec![
                "notifications/prompts/list_changed",
                "notifications/tools/list_changed",
            ],
        ),
        (
            json!({ "resourceSubscriptions": ["fake://folder"], "toolsListChanged": true }),
            vec![UPDATED, "notifications/tools/list_changed"],
        ),
    ] {
        let mut events = gateway.client().listen("\"a\"", wanted).await;
        assert_eq!(next(&mut events).await.0, ACKNOWLEDGED);
        for change in everything.clone() {
            source.change(change);
        }
        for method in expected {
            let (heard, params) = next(&mut events).await;
            assert_eq!(heard, method);
            assert_eq!(params["_meta"][SUBSCRIPTION], "a");
        }
    }
}

#[tokio::test]
async fn the_id_of_a_subscription_keeps_its_type() {
    let (gateway, source) = standard().await;
    for id in ["7", "\"7\"", "7.0", "\"é\"", "9223372036854775808"] {
        let mut events = gateway
            .client()
            .listen(id, json!({ "toolsListChanged": true }))
            .await;
        events.message().await;
        source.change(Change::Tools);
        events.message().await;
        let tag = format!("\"{SUBSCRIPTION}\":{id}}}");
        assert_eq!(events.text().matches(&tag).count(), 2, "{}", events.text());
    }
}

#[tokio::test]
async fn several_listens_at_once_each_hear_their_own() {
    let (gateway, source) = standard().await;
    let mut listens = Vec::new();
    for id in 0..10 {
        // All under one id: it is the connection that tells them apart.
        let uri = if id % 2 == 0 {
            "fake://note"
        } else {
            "fake://folder"
        };
        let wanted = json!({ "resourceSubscriptions": [uri] });
        let mut events = gateway.client().listen("1", wanted).await;
        assert_eq!(next(&mut events).await.0, ACKNOWLEDGED);
        listens.push((events, uri));
    }
    source.updated("fake://folder");
    source.updated("fake://note");
    for (events, uri) in &mut listens {
        assert_eq!(next(events).await.1["uri"], *uri);
    }
}

#[tokio::test]
async fn a_listen_that_was_left_gives_its_room_back() {
    let gateway = TestGateway::with(FakeSource::standard())
        .limits(|limits| limits.streams = 1)
        .start()
        .await;
    for _ in 0..3 {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let listen = gateway.client().modern("subscriptions/listen", wanted);
        let answer = sooner_or_later("room for a listen", || async {
            let answer = listen.send().await;
            (answer.status == 200).then_some(answer)
        })
        .await;
        drop(answer);
    }
}

#[tokio::test]
async fn a_listen_needs_a_filter_that_can_be_read() {
    let (gateway, _) = standard().await;
    for params in [
        json!({}),
        json!({ "notifications": [] }),
        json!({ "notifications": { "toolsListChanged": "yes" } }),
        json!({ "notifications": { "resourceSubscriptions": "fake://note" } }),
        json!({ "notifications": { "resourceSubscriptions": [1] } }),
    ] {
        let answer = gateway
            .client()
            .modern("subscriptions/listen", params)
            .send()
            .await;
        refused(answer, 200, -32602).await;
    }
}

/// The endpoint of one source is that source alone, in its changes too.
#[tokio::test]
async fn the_endpoint_of_a_source_tells_no_changes_of_another() {
    let (one, other) = (
        FakeSource::standard(),
        FakeSource::empty().resource("other://x", "x"),
    );
    let gateway = TestGateway::with(one.clone())
        .and("other", other.clone())
        .start()
        .await;
    let client = gateway.client().at("/mcp/fake");
    let wanted = json!({ "toolsListChanged": true, "resourcesListChanged": true });
    let mut listening = client.listen("1", wanted).await;
    listening.message().await;
    let session = client.initialize(NEWEST_LEGACY).await;
    session.ask("ping", json!({})).await;
    let mut standing = session.stream().await;
    // Until the other source's change has been heard where it belongs, it may still be on its way.
    let mut everywhere = gateway
        .client()
        .listen("2", json!({ "toolsListChanged": true }))
        .await;
    everywhere.message().await;
    other.change(Change::Tools);
    everywhere.message().await;
    one.change(Change::Resources);
    for events in [&mut listening, &mut standing] {
        let message = events.message().await;
        assert_eq!(
            methods(&[message]),
            ["notifications/resources/list_changed"]
        );
    }
}
