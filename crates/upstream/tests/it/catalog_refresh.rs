//! Lists are kept while a server is down, and refreshed when it is back.

use serde_json::json;
use tidegate_core::Health;
use tidegate_testkit::fixture::Fixture;
use tidegate_testkit::{NEWEST_LEGACY, poll_for, wait_until};

use crate::support::{RemoteGateway, tools};

#[tokio::test]
async fn lists_are_kept_while_a_server_is_down_and_refreshed_after() {
    let fixture = Fixture::modern().start().await;
    let address = fixture.address();
    let gateway = RemoteGateway::over(&fixture).await;
    let (client, nothing) = (gateway.client(), json!({}));
    let before = tools(&client, true, &nothing).await;
    drop(fixture);
    let call = || async {
        let call = client.modern_call("test_simple_text", json!({}));
        Box::pin(call.message()).await
    };
    wait_until("calls fail", || async { call().await["error"].is_object() }).await;
    assert_eq!(tools(&client, true, &nothing).await, before);
    let restarted = poll_for("the port is free", async || {
        Fixture::modern().start_at(address).await.ok()
    })
    .await;
    wait_until("calls succeed again", || async {
        call().await["result"].is_object()
    })
    .await;
    restarted.add_tool("after_all");
    wait_until("the new tool is listed", || async {
        let tools = tools(&client, true, &nothing).await;
        tools.iter().any(|name| name == "after_all")
    })
    .await;
}

/// An unreachable server is reported as missing: in the lists, and in errors about unknown targets that
/// it may have.
#[tokio::test]
async fn an_unreachable_server_is_reported() {
    let fixture = Fixture::modern().start().await;
    let gone = "http://127.0.0.1:1/mcp".parse().unwrap();
    let gateway = RemoteGateway::with(&fixture, Vec::new(), |config| {
        let trust = tidegate_upstream::TrustStore::system();
        let endpoint = tidegate_upstream::Endpoint::new(gone, Vec::new(), &trust, None);
        config.transport = tidegate_upstream::TransportConfig::Http(endpoint);
    })
    .await;
    let client = gateway.client().at("/mcp");
    let list = client.modern("tools/list", json!({}));
    let result = list.send().await.message().await["result"].clone();
    let missing = result["_meta"]["dev.tidegate/missing"]["server"].as_str();
    let missing = missing.unwrap_or_else(|| panic!("{result}"));
    assert!(missing.contains("connection refused"), "{missing}");
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
            message.contains("`server` is unavailable: http")
                && message.contains("connection refused"),
            "{answer}"
        );
        assert_eq!(answer["error"]["data"]["kind"], kind, "{answer}");
    }
}

/// A link to an unlisted resource leads back to its server. A web link stays as it is.
#[tokio::test]
async fn a_link_to_an_unlisted_resource_leads_back_to_its_server() {
    let fixture = Fixture::modern().start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client().at("/mcp");
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

/// The cache lifetime of a list in milliseconds.
async fn ttl(client: &tidegate_testkit::Client, method: &str) -> u64 {
    let list = Box::pin(client.modern(method, json!({})).message()).await;
    let ttl = list["result"]["ttlMs"].as_u64();
    ttl.unwrap_or_else(|| panic!("{list}"))
}

/// Protocol 4.9: the cache lifetime is the server's, and zero where it is unknown.
#[tokio::test]
async fn a_list_carries_the_cache_lifetime_of_its_server() {
    let minute = 60_000;
    for (fixture, least, most) in [
        (
            Fixture::modern().with(|settings| settings.ttl_ms = 1000),
            0,
            1000,
        ),
        (
            Fixture::modern().with(|settings| settings.ttl_ms = 50_000),
            1,
            50_000,
        ),
        (
            Fixture::modern().with(|settings| settings.ttl_ms = 500_000),
            minute,
            minute,
        ),
        (Fixture::legacy(NEWEST_LEGACY), minute, minute),
        (
            Fixture::legacy(NEWEST_LEGACY).with(|settings| settings.no_list_changed = true),
            0,
            0,
        ),
    ] {
        let fixture = fixture.start().await;
        let gateway = RemoteGateway::over(&fixture).await;
        for client in [gateway.client(), gateway.client_of_all_sources()] {
            let lifetime = ttl(&client, "tools/list").await;
            assert!(
                (least..=most).contains(&lifetime),
                "{lifetime} not in {least}..={most}"
            );
        }
    }
}

#[tokio::test]
async fn an_incomplete_list_is_not_cached() {
    let incomplete = Fixture::legacy(NEWEST_LEGACY)
        .with(|settings| settings.invalid_list = vec!["prompts".to_owned()]);
    let fixture = incomplete.start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    assert_eq!(ttl(&gateway.client(), "prompts/list").await, 0);
    assert_eq!(ttl(&gateway.client(), "tools/list").await, 60_000);
    drop(fixture);
    wait_until("the disconnected server announces no changes", || async {
        ttl(&gateway.client(), "tools/list").await == 0
    })
    .await;
}

/// A server that is gone shows in health within seconds, also if it allows its lists to be cached.
#[tokio::test]
async fn a_server_that_is_gone_is_not_healthy() {
    for fixture in [
        Fixture::legacy(NEWEST_LEGACY).with(|settings| settings.no_list_changed = true),
        Fixture::modern().with(|settings| settings.ttl_ms = 3_600_000),
    ] {
        let fixture = fixture.start().await;
        let gateway = RemoteGateway::over(&fixture).await;
        assert_eq!(gateway.health(), Health::Healthy);
        fixture.stop().await;
        wait_until("the source is critical", async || {
            matches!(gateway.health(), Health::Critical(_))
        })
        .await;
    }
}
