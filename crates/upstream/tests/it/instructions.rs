//! The instructions of servers reach the clients of every endpoint.

use serde_json::json;
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::Fixture;

use crate::support::{RemoteGateway, SERVER};

#[tokio::test]
async fn the_merged_endpoint_contains_the_instructions_of_servers() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client_of_all_sources();
    let discover = client.modern("server/discover", json!({}));
    let discovered = discover.message().await;
    let instructions = discovered["result"]["instructions"].as_str().unwrap();
    let expected = format!("Instructions of `{SERVER}`:\nA scripted server for tests.");
    assert!(instructions.contains(&expected), "{instructions}");
    assert!(
        instructions.starts_with("a gateway under test"),
        "{instructions}"
    );
}
