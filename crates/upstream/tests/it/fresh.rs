//! Lists stay when a server goes, and are made anew when it comes back.

use std::time::Duration;

use serde_json::json;
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::Fixture;

use crate::support::{Behind, tools, wait_until};

#[tokio::test]
async fn lists_are_kept_while_a_server_is_down_and_made_anew_after() {
    let fixture = Fixture::modern().start().await;
    let address = fixture.address();
    let behind = Behind::of(&fixture).await;
    let (client, nothing) = (behind.client(), json!({}));
    let before = tools(&client, true, &nothing).await;
    drop(fixture);
    let call = || async {
        let call = client.modern_call("test_simple_text", json!({}));
        call.send().await.message().await
    };
    wait_until("calls fail", || async { call().await["error"].is_object() }).await;
    assert_eq!(tools(&client, true, &nothing).await, before);
    let again = loop {
        match Fixture::modern().start_at(address).await {
            Ok(fixture) => break fixture,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    wait_until("calls go on", || async {
        call().await["result"].is_object()
    })
    .await;
    again.add_tool("after_all");
    wait_until("the new list is there", || async {
        let tools = tools(&client, true, &nothing).await;
        tools.iter().any(|name| name == "after_all")
    })
    .await;
}

/// A server that cannot be reached is said to be missing, in the list itself and to whoever asks for
/// what it may have.
#[tokio::test]
async fn what_is_missing_is_said() {
    let fixture = Fixture::modern().start().await;
    let gone = "http://127.0.0.1:1/mcp".parse().unwrap();
    let behind = Behind::with(&fixture, Vec::new(), |config| {
        let trust = tidegate_upstream::TrustStore::system();
        let endpoint = tidegate_upstream::Endpoint::new(gone, Vec::new(), &trust, None);
        config.transport = tidegate_upstream::TransportConfig::Http(endpoint);
    })
    .await;
    let client = behind.client().at("/mcp");
    let list = client.modern("tools/list", json!({}));
    let result = list.send().await.message().await["result"].clone();
    let missing = result["_meta"]["dev.tidegate/missing"]["server"].as_str();
    let missing = missing.unwrap_or_else(|| panic!("{result}"));
    assert!(missing.contains("nothing listens"), "{missing}");
    for (method, params, kind) in [
        (
            "tools/call",
            json!({ "name": "server__echo" }),
            "source_down",
        ),
        (
            "prompts/get",
            json!({ "name": "server/greet" }),
            "source_down",
        ),
        ("tools/call", json!({ "name": "echo" }), "unknown_target"),
        (
            "resources/read",
            json!({ "uri": "test://static-text" }),
            "resource_not_found",
        ),
    ] {
        let answer = client.modern(method, params).send().await.message().await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("`server` is missing: nothing listens"),
            "{answer}"
        );
        assert_eq!(answer["error"]["data"]["kind"], kind, "{answer}");
    }
}

/// A link to what a server does not list leads back to it all the same; one into the web is left as
/// it is, for whoever reads it.
#[tokio::test]
async fn a_link_to_what_is_not_listed_leads_back() {
    let fixture = Fixture::modern().start().await;
    let behind = Behind::of(&fixture).await;
    let client = behind.client().at("/mcp");
    for (given, seen) in [
        ("test://static-text", "test://static-text"),
        ("other://unlisted", "gateway://server/other://unlisted"),
        ("https://example.com/page", "https://example.com/page"),
    ] {
        let params = json!({ "name": "server__test_resource_link", "arguments": { "uri": given } });
        let done = client
            .modern("tools/call", params)
            .send()
            .await
            .message()
            .await;
        assert_eq!(done["result"]["content"][0]["uri"], seen, "{done}");
    }
    let params = json!({ "uri": "gateway://server/other://unlisted" });
    client
        .modern("resources/read", params)
        .send()
        .await
        .message()
        .await;
    let asked = fixture.received_for("resources/read");
    assert_eq!(asked[0].message()["params"]["uri"], "other://unlisted");
}

/// How long a list may be kept, in milliseconds.
async fn ttl(client: &tidegate_testkit::Client, method: &str) -> u64 {
    let list = client
        .modern(method, json!({}))
        .send()
        .await
        .message()
        .await;
    let ttl = list["result"]["ttlMs"].as_u64();
    ttl.unwrap_or_else(|| panic!("{list}"))
}

/// Protocol 4.9: a list may be kept as long as its server says, and not at all where nobody knows.
#[tokio::test]
async fn a_list_is_good_for_as_long_as_is_known() {
    let minute = 60_000;
    for (fixture, least, most) in [
        (Fixture::modern().with(|one| one.ttl_ms = 1000), 0, 1000),
        (Fixture::modern().with(|one| one.ttl_ms = 50_000), 1, 50_000),
        (
            Fixture::modern().with(|one| one.ttl_ms = 500_000),
            minute,
            minute,
        ),
        (Fixture::legacy(NEWEST_LEGACY), minute, minute),
        (
            Fixture::legacy(NEWEST_LEGACY).with(|one| one.no_list_changed = true),
            0,
            0,
        ),
    ] {
        let fixture = fixture.start().await;
        let behind = Behind::of(&fixture).await;
        for client in [behind.client(), behind.everywhere()] {
            let told = ttl(&client, "tools/list").await;
            assert!(
                (least..=most).contains(&told),
                "{told} of {least} to {most}"
            );
        }
    }
}

#[tokio::test]
async fn a_list_of_which_something_is_missing_is_not_kept() {
    let flawed =
        Fixture::legacy(NEWEST_LEGACY).with(|one| one.invalid_list = vec!["prompts".to_owned()]);
    let fixture = flawed.start().await;
    let behind = Behind::of(&fixture).await;
    assert_eq!(ttl(&behind.client(), "prompts/list").await, 0);
    assert_eq!(ttl(&behind.client(), "tools/list").await, 60_000);
    drop(fixture);
    wait_until("nobody tells of changes any more", || async {
        ttl(&behind.client(), "tools/list").await == 0
    })
    .await;
}
