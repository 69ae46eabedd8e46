//! The HTTP+SSE transport of 2024-11-05: one stream for all responses, and an endpoint for messages.

use serde_json::{Value, json};
use tidegate_testkit::{Client, Events, FakeSource, HttpResponse, LEGACY, TestGateway, wait_until};

use crate::support::{echoed, expect_error, standard};

async fn gateway(source: &FakeSource) -> TestGateway {
    TestGateway::with(source.clone()).legacy_sse().start().await
}

/// An open stream and its endpoint for messages.
struct Channel {
    events: Events,
    post: Client,
}

impl Channel {
    async fn open(client: &Client) -> Self {
        let mut events = client.at("/sse").get().send().await.events();
        let first = events.next().await.expect("an event");
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        assert!(
            first.data.starts_with('/'),
            "not a path on the same server: {}",
            first.data
        );
        Self {
            post: client.at(&first.data),
            events,
        }
    }

    async fn send(&self, message: &Value) -> HttpResponse {
        self.post.post(message).without("Accept").send().await
    }

    async fn request(&mut self, id: i64, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut response = self.send(&request).await;
        assert_eq!(
            (response.status, response.text().await.is_empty()),
            (202, true)
        );
        let (event, message) = self
            .events
            .next_message()
            .await
            .expect("a response on the stream");
        assert_eq!(event.name.as_deref(), Some("message"));
        assert_eq!(message["id"], id);
        message
    }

    async fn initialize(&mut self, revision: &str) -> Value {
        let client = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        self.request(0, "initialize", params).await
    }
}

#[tokio::test]
async fn serves_calls_of_every_legacy_revision() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    for revision in LEGACY {
        let mut channel = Channel::open(&gateway.client()).await;
        let hello = channel.initialize(revision).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(channel.send(&noted).await.status, 202);
        let call = json!({ "name": "fake__echo", "arguments": { "canary": revision } });
        let response = channel.request(1, "tools/call", call).await;
        assert_eq!(echoed(&response["result"]), json!({ "canary": revision }));
        assert!(
            !channel.events.text().contains("\nid:"),
            "this transport has no resumption"
        );
    }
}

#[tokio::test]
async fn errors_are_sent_on_the_stream() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    for (body, code) in [("{", -32700), ("{}", -32600), ("[1]", -32600)] {
        let response = channel.post.post_text(body).send().await;
        assert_eq!(response.status, 202);
        assert_eq!(channel.events.message().await["error"]["code"], code);
    }
}

#[tokio::test]
async fn progress_and_changes_are_sent_on_the_stream() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    channel.initialize("2024-11-05").await;
    channel
        .request(1, "resources/subscribe", json!({ "uri": "fake://note" }))
        .await;
    source.updated("fake://note");
    assert_eq!(
        channel.events.message().await["params"]["uri"],
        "fake://note"
    );
    let params = json!({ "name": "fake__progress", "_meta": { "progressToken": "t" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    channel.send(&call).await;
    for _ in 0..3 {
        assert_eq!(
            channel.events.message().await["params"]["progressToken"],
            "t"
        );
    }
    assert_eq!(channel.events.message().await["id"], 2);
}

#[tokio::test]
async fn a_stream_belongs_to_its_principal() {
    let gateway = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .legacy_sse()
        .start()
        .await;
    let (ada, bob) = (
        gateway.client().with_key("key-of-ada"),
        gateway.client().with_key("key-of-bob"),
    );
    let mut channel = Channel::open(&ada).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let path = channel
        .events
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("data: "));
    let stolen = bob.at(path.unwrap()).post(&ping).send().await;
    let stolen = expect_error(stolen, 404, -32600).await;
    let unknown = bob
        .at("/messages?sessionId=unknown")
        .post(&ping)
        .send()
        .await;
    let unknown = expect_error(unknown, 404, -32600).await;
    assert_eq!(stolen["error"]["message"], unknown["error"]["message"]);
    let nobody = gateway.client().at(path.unwrap()).post(&ping).send().await;
    expect_error(nobody, 401, -31401).await;
    expect_error(gateway.client().at("/sse").get().send().await, 401, -31401).await;
    channel.request(2, "ping", json!({})).await;
}

#[tokio::test]
async fn closing_the_stream_ends_the_session_and_its_calls() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    channel.initialize("2024-11-05").await;
    let params = json!({ "name": "fake__hold" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    assert_eq!(channel.send(&call).await.status, 202);
    source.started("hold", 1).await;
    let Channel { events, post } = channel;
    drop(events);
    source.dropped("hold", 1).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    wait_until("the session to be gone", || async {
        post.post(&ping).send().await.status == 404
    })
    .await;
}

#[tokio::test]
async fn each_stream_is_its_own_session() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut first = Channel::open(&gateway.client()).await;
    let mut second = Channel::open(&gateway.client()).await;
    for (number, channel) in [&mut first, &mut second].into_iter().enumerate() {
        channel.initialize("2024-11-05").await;
        let call = json!({ "name": "fake__echo", "arguments": { "canary": number } });
        let response = channel.request(1, "tools/call", call).await;
        assert_eq!(echoed(&response["result"]), json!({ "canary": number }));
    }
}

#[tokio::test]
async fn rejects_a_duplicate_id_on_one_stream() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    let params = json!({ "name": "fake__hold" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    channel.send(&call).await;
    source.started("hold", 1).await;
    channel.send(&call).await;
    let message = channel.events.message().await;
    assert_eq!(
        (&message["id"], &message["error"]["code"]),
        (&json!(2), &json!(-32600))
    );
    source.release("hold", 1);
    assert!(channel.events.message().await["result"].is_object());
}

#[tokio::test]
async fn rejects_wrong_methods_headers_and_origins() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let client = gateway.client();
    expect_error(client.at("/sse").post(&ping).send().await, 405, -32600).await;
    expect_error(client.at("/messages").get().send().await, 405, -32600).await;
    expect_error(client.at("/messages").post(&ping).send().await, 400, -32600).await;
    let not_events = client.at("/sse").get().set("Accept", "application/json");
    expect_error(not_events.send().await, 406, -32600).await;
    let channel = Channel::open(&client).await;
    let text = channel.post.post(&ping).set("Content-Type", "text/plain");
    expect_error(text.send().await, 415, -32600).await;
    let foreign = client
        .at("/sse")
        .get()
        .header("Origin", "http://evil.example");
    expect_error(foreign.send().await, 403, -31403).await;
}

#[tokio::test]
async fn rejects_streams_over_the_limit() {
    let gateway = TestGateway::with(FakeSource::standard())
        .legacy_sse()
        .limits(|limits| limits.max_streams = 1)
        .start()
        .await;
    let first = Channel::open(&gateway.client()).await;
    expect_error(gateway.client().at("/sse").get().send().await, 503, -31503).await;
    drop(first);
    wait_until("a free permit", || async {
        gateway.client().at("/sse").get().send().await.status == 200
    })
    .await;
}

#[tokio::test]
async fn a_silent_stream_is_kept_open_by_comments() {
    let gateway = TestGateway::with(FakeSource::standard())
        .legacy_sse()
        .limits(|limits| limits.keep_alive_interval = std::time::Duration::from_millis(20))
        .start()
        .await;
    let mut channel = Channel::open(&gateway.client()).await;
    channel.events.comments(3).await;
    channel.request(1, "ping", json!({})).await;
}

#[tokio::test]
async fn the_routes_do_not_exist_if_disabled() {
    let (gateway, _) = standard().await;
    expect_error(gateway.client().at("/sse").get().send().await, 404, -32600).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let post = gateway.client().at("/messages?sessionId=x").post(&ping);
    expect_error(post.send().await, 404, -32600).await;
}
