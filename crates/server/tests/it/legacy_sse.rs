//! The oldest HTTP transport: one stream for everything that is said, and an address to post to.

use serde_json::{Value, json};
use tidegate_testkit::{Client, Events, FakeSource, HttpResponse, LEGACY, TestGateway, wait_until};

use crate::support::{echoed, refused, standard};

async fn gateway(source: &FakeSource) -> TestGateway {
    TestGateway::with(source.clone()).legacy_sse().start().await
}

/// An open stream, and where to post.
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
            "an address of the same server: {}",
            first.data
        );
        Self {
            post: client.at(&first.data),
            events,
        }
    }

    async fn say(&self, message: &Value) -> HttpResponse {
        self.post.post(message).without("Accept").send().await
    }

    async fn request(&mut self, id: i64, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut answer = self.say(&request).await;
        assert_eq!((answer.status, answer.text().await.is_empty()), (202, true));
        let (event, message) = self
            .events
            .next_message()
            .await
            .expect("an answer on the stream");
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
async fn a_conversation_from_the_endpoint_event_on() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    for revision in LEGACY {
        let mut channel = Channel::open(&gateway.client()).await;
        let hello = channel.initialize(revision).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(channel.say(&noted).await.status, 202);
        let call = json!({ "name": "fake__echo", "arguments": { "canary": revision } });
        let answer = channel.request(1, "tools/call", call).await;
        assert_eq!(echoed(&answer["result"]), json!({ "canary": revision }));
        assert!(
            !channel.events.text().contains("\nid:"),
            "there is no coming back"
        );
    }
}

#[tokio::test]
async fn what_is_wrong_is_answered_on_the_stream() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    for (body, code) in [("{", -32700), ("{}", -32600), ("[1]", -32600)] {
        let answer = channel.post.post_text(body).send().await;
        assert_eq!(answer.status, 202);
        assert_eq!(channel.events.message().await["error"]["code"], code);
    }
}

#[tokio::test]
async fn events_of_a_call_and_changes_come_on_the_stream() {
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
    channel.say(&call).await;
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
    let stolen = refused(stolen, 404, -32600).await;
    let unknown = bob
        .at("/messages?sessionId=unknown")
        .post(&ping)
        .send()
        .await;
    let unknown = refused(unknown, 404, -32600).await;
    assert_eq!(stolen["error"]["message"], unknown["error"]["message"]);
    let nobody = gateway.client().at(path.unwrap()).post(&ping).send().await;
    refused(nobody, 401, -31401).await;
    refused(gateway.client().at("/sse").get().send().await, 401, -31401).await;
    channel.request(2, "ping", json!({})).await;
}

#[tokio::test]
async fn when_the_stream_goes_everything_goes_with_it() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    channel.initialize("2024-11-05").await;
    let params = json!({ "name": "fake__hold" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    assert_eq!(channel.say(&call).await.status, 202);
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
async fn two_streams_are_two_sessions() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut first = Channel::open(&gateway.client()).await;
    let mut second = Channel::open(&gateway.client()).await;
    for (number, channel) in [&mut first, &mut second].into_iter().enumerate() {
        channel.initialize("2024-11-05").await;
        let call = json!({ "name": "fake__echo", "arguments": { "canary": number } });
        let answer = channel.request(1, "tools/call", call).await;
        assert_eq!(echoed(&answer["result"]), json!({ "canary": number }));
    }
}

#[tokio::test]
async fn a_duplicate_id_on_one_stream_is_refused_by_that_id() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let mut channel = Channel::open(&gateway.client()).await;
    let params = json!({ "name": "fake__hold" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    channel.say(&call).await;
    source.started("hold", 1).await;
    channel.say(&call).await;
    let message = channel.events.message().await;
    assert_eq!(
        (&message["id"], &message["error"]["code"]),
        (&json!(2), &json!(-32600))
    );
    source.release("hold", 1);
    assert!(channel.events.message().await["result"].is_object());
}

#[tokio::test]
async fn wrong_ways_in_are_refused() {
    let source = FakeSource::standard();
    let gateway = gateway(&source).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let client = gateway.client();
    refused(client.at("/sse").post(&ping).send().await, 405, -32600).await;
    refused(client.at("/messages").get().send().await, 405, -32600).await;
    refused(client.at("/messages").post(&ping).send().await, 400, -32600).await;
    let not_events = client.at("/sse").get().set("Accept", "application/json");
    refused(not_events.send().await, 406, -32600).await;
    let channel = Channel::open(&client).await;
    let text = channel.post.post(&ping).set("Content-Type", "text/plain");
    refused(text.send().await, 415, -32600).await;
    let foreign = client
        .at("/sse")
        .get()
        .header("Origin", "http://evil.example");
    refused(foreign.send().await, 403, -31403).await;
}

#[tokio::test]
async fn too_many_streams_are_refused() {
    let gateway = TestGateway::with(FakeSource::standard())
        .legacy_sse()
        .limits(|limits| limits.max_streams = 1)
        .start()
        .await;
    let first = Channel::open(&gateway.client()).await;
    refused(gateway.client().at("/sse").get().send().await, 503, -31503).await;
    drop(first);
    wait_until("room", || async {
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
async fn where_it_is_off_there_is_nothing() {
    let (gateway, _) = standard().await;
    refused(gateway.client().at("/sse").get().send().await, 404, -32600).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let post = gateway.client().at("/messages?sessionId=x").post(&ping);
    refused(post.send().await, 404, -32600).await;
}
