//! Who comes in with which key, on every route.

use serde_json::json;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, TestGateway};

use crate::support::{plain, refused, served, standard, who};

async fn guarded() -> TestGateway {
    TestGateway::with(FakeSource::standard())
        .keys([("ada", "key-of-ada"), ("bob", "key-of-bob")])
        .legacy_sse()
        .start()
        .await
}

#[tokio::test]
async fn a_key_names_its_principal_in_both_eras() {
    let gateway = guarded().await;
    for (key, name) in [("key-of-ada", "ada"), ("key-of-bob", "bob")] {
        let client = gateway.client().with_key(key);
        let result = served(client.modern_call("fake__echo", json!({})).send().await).await;
        assert_eq!(who(&result), name);
        let alone = client.post(&plain("tools/call", json!({ "name": "fake__echo" })));
        assert_eq!(who(&served(alone.send().await).await), name);
    }
}

#[tokio::test]
async fn without_a_right_key_nothing_is_told() {
    let gateway = guarded().await;
    let client = gateway.client();
    let requests = [
        client.post(&plain("ping", json!({}))),
        client.modern("server/discover", json!({})).request(),
        client.initialize_request(NEWEST_LEGACY),
        client.get().header("Mcp-Session-Id", "x"),
        client.request("DELETE").header("Mcp-Session-Id", "x"),
        client.at("/mcp/fake").post(&plain("ping", json!({}))),
        client.at("/sse").get(),
        client
            .at("/messages?sessionId=x")
            .post(&plain("ping", json!({}))),
    ];
    for request in requests {
        for credential in [
            None,
            Some("Bearer "),
            Some("Bearer key-of-ad"),
            Some("Bearer KEY-OF-ADA"),
            Some("Basic key-of-ada"),
            Some("key-of-ada"),
            Some("Bearer ada"),
        ] {
            let request = match credential {
                Some(value) => request.clone().header("Authorization", value),
                None => request.clone(),
            };
            let answer = request.send().await;
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            let message = refused(answer, 401, -31401).await;
            assert!(!message.to_string().contains("key-of"), "{message}");
        }
    }
}

#[tokio::test]
async fn the_scheme_may_be_written_in_any_case() {
    let gateway = guarded().await;
    for value in [
        "bearer key-of-ada",
        "BEARER key-of-ada",
        "Bearer  key-of-ada",
    ] {
        let request = gateway
            .client()
            .post(&plain("ping", json!({})))
            .header("Authorization", value);
        served(request.send().await).await;
    }
}

#[tokio::test]
async fn a_key_is_asked_for_on_every_request_of_a_session() {
    let gateway = guarded().await;
    let session = gateway
        .client()
        .with_key("key-of-ada")
        .initialize(NEWEST_LEGACY)
        .await;
    let without = session.with_client(&gateway.client());
    refused(without.request("ping", json!({})).send().await, 401, -31401).await;
    refused(without.get().send().await, 401, -31401).await;
    refused(without.delete().await, 401, -31401).await;
}

#[tokio::test]
async fn health_is_open_to_everyone() {
    let gateway = guarded().await;
    for path in ["/healthz", "/readyz"] {
        let mut answer = gateway.client().at(path).request("GET").send().await;
        assert_eq!(answer.status, 200);
        assert!(!answer.text().await.is_empty());
    }
}

#[tokio::test]
async fn where_no_keys_are_asked_for_everyone_is_local() {
    let (gateway, _) = standard().await;
    for client in [gateway.client(), gateway.client().with_key("whatever")] {
        let result = served(client.modern_call("fake__echo", json!({})).send().await).await;
        assert_eq!(who(&result), "local");
    }
}

#[tokio::test]
async fn who_started_the_process_needs_no_key_on_its_pipe() {
    let mut pipe = TestGateway::with(FakeSource::standard())
        .keys([("ada", "key")])
        .stdio()
        .await;
    let call = json!({ "name": "fake__echo", "arguments": {} });
    let id = pipe.modern("tools/call", call).await;
    let answer = pipe.response(&json!(id)).await;
    assert_eq!(who(&answer["result"]), "local");
}
