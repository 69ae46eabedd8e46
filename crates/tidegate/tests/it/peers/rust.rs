//! The Rust SDK.

use rmcp::model::{
    CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::RunningService;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde::Serialize;
use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::messages::{HEALTH, MODELS, STATS, and_gateway_tools};
use crate::support::{Home, PATIENCE, Server};

type Client = RunningService<RoleClient, ()>;

/// The lifecycle of a client and the expected revision.
struct Lifecycle {
    lifecycle: ClientLifecycleMode,
    protocol: ProtocolVersion,
}

fn handshake() -> Lifecycle {
    Lifecycle {
        lifecycle: ClientLifecycleMode::Initialize,
        protocol: ProtocolVersion::V_2025_11_25,
    }
}

fn discover() -> Lifecycle {
    Lifecycle {
        lifecycle: ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        protocol: ProtocolVersion::V_2026_07_28,
    }
}

fn auto() -> Lifecycle {
    Lifecycle {
        lifecycle: ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
        protocol: ProtocolVersion::V_2026_07_28,
    }
}

async fn over_http(expected: Lifecycle) {
    let server = Server::start();
    let transport = StreamableHttpClientTransport::from_uri(server.url());
    connect_and_walk(transport, expected).await;
    server.stop();
}

async fn over_stdio(expected: Lifecycle) {
    let home = Home::with_config("sources: {}\n");
    let command = Command::from(home.tidegate(&["stdio"]));
    connect_and_walk(TokioChildProcess::new(command).unwrap(), expected).await;
}

async fn connect_and_walk<T, E, A>(transport: T, expected: Lifecycle)
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let everything = async {
        let mut client = ().serve_with_lifecycle(transport, expected.lifecycle).await.unwrap();
        let server = client.peer_info().unwrap();
        assert_eq!(server.protocol_version, expected.protocol);
        let name = server.server_info.as_ref().map(|info| info.name.as_str());
        assert_eq!(name, Some("tidegate"));
        walk(&client).await;
        match expected.protocol == ProtocolVersion::V_2026_07_28 {
            true => listen(&client).await,
            false => subscribe(&client).await,
        }
        client.close().await.unwrap();
    };
    timeout(PATIENCE, everything)
        .await
        .expect("the walk timed out");
}

async fn walk(client: &Client) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(all(&tools, "name"), and_gateway_tools(&["system__health"]));
    let resources = client.list_all_resources().await.unwrap();
    assert_eq!(all(&resources, "uri"), [HEALTH, MODELS, STATS]);
    assert!(client.list_all_prompts().await.unwrap().is_empty());
    let templates = client.list_all_resource_templates().await.unwrap();
    assert_eq!(
        all(&templates, "uriTemplate"),
        ["gateway://gateway/explain/{+uri}"]
    );

    for uri in [HEALTH, MODELS, STATS] {
        let read = client
            .read_resource(ReadResourceRequestParams::new(uri))
            .await;
        let contents = wire(&read.unwrap().contents);
        assert_eq!(contents[0]["uri"], uri);
        assert_eq!(contents[0]["mimeType"], "application/json");
        let text = contents[0]["text"].as_str().unwrap();
        assert!(serde_json::from_str::<Value>(text).unwrap().is_object());
    }

    let call = CallToolRequestParams::new("system__health");
    let called = client.call_tool(call).await.unwrap();
    assert_eq!(called.is_error, Some(false));
    let report = called.structured_content.unwrap();
    assert_eq!(report["overallStatus"], "Healthy");
}

#[expect(
    deprecated,
    reason = "the SDK deprecates what the newest revision removed"
)]
async fn subscribe(client: &Client) {
    let subscribed = client.subscribe(SubscribeRequestParams::new(HEALTH)).await;
    subscribed.unwrap();
    let ended = client
        .unsubscribe(UnsubscribeRequestParams::new(HEALTH))
        .await;
    ended.unwrap();
}

async fn listen(client: &Client) {
    let filter = SubscriptionFilter::builder()
        .resource_subscription(HEALTH)
        .build();
    let mut subscription = client.listen(filter.clone()).await.unwrap();
    assert_eq!(*subscription.acknowledged(), filter);
    subscription.cancel().await.unwrap();
}

/// A member of every entry, by its JSON name.
fn all<T: Serialize>(entries: &[T], key: &str) -> Vec<String> {
    let entries = entries.iter().map(wire);
    entries
        .map(|entry| entry[key].as_str().unwrap().to_owned())
        .collect()
}

fn wire(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[tokio::test]
async fn over_http_with_a_session() {
    over_http(handshake()).await;
}

#[tokio::test]
async fn over_http_modern() {
    over_http(discover()).await;
}

#[tokio::test]
async fn over_http_with_era_detection() {
    over_http(auto()).await;
}

#[tokio::test]
async fn over_stdio_with_a_session() {
    over_stdio(handshake()).await;
}

#[tokio::test]
async fn over_stdio_modern() {
    over_stdio(discover()).await;
}

#[tokio::test]
async fn over_stdio_with_era_detection() {
    over_stdio(auto()).await;
}
