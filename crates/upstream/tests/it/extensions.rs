//! Extensions at the endpoint of one source: what server and client declare reaches the other side, and the
//! extension of an invented vendor works without the gateway knowing it.

use serde_json::{Value, json};
use tidegate_mcp::revision::meta_keys::{CLIENT_INFO, PROTOCOL_VERSION, SUBSCRIPTION_ID};
use tidegate_testkit::fixture::{Era, Fixture, RunningFixture};
use tidegate_testkit::{Client, Events, MODERN, NEWEST_LEGACY};

use crate::support::RemoteGateway;
use crate::tasks::CAPABILITIES;

const APPS: &str = "io.modelcontextprotocol/ui";
const SKILLS: &str = "io.modelcontextprotocol/skills";
const VENDOR: &str = "com.example/tides";

/// What the clients of these tests declare.
fn client_extensions() -> Value {
    json!({ APPS: { "mimeTypes": ["text/html;profile=mcp-app"] }, VENDOR: { "unit": "m" } })
}

fn client_capabilities() -> Value {
    json!({ "extensions": client_extensions(), "experimental": { "com.example/e": {} } })
}

async fn server(era: Era) -> RunningFixture {
    let fixture = Fixture::new().with(|settings| {
        settings.era = era;
        settings.apps = true;
        settings.skills = true;
        settings.vendor_extension = true;
    });
    fixture.start().await
}

/// What an endpoint declares to clients of both eras.
async fn declared(client: &Client) -> [Value; 2] {
    let modern = client.modern("server/discover", json!({}));
    let modern = modern.meta(CAPABILITIES, client_capabilities());
    let modern = modern.message().await;
    let legacy = client
        .initialize_with(NEWEST_LEGACY, &client_capabilities())
        .await;
    let legacy = &legacy.initialize_response;
    [&modern, legacy].map(|answer| answer["result"]["capabilities"].clone())
}

#[tokio::test]
async fn the_endpoint_of_a_source_declares_what_its_server_declares() {
    for era in [Era::Modern, Era::Legacy, Era::Both] {
        let fixture = server(era).await;
        let gateway = RemoteGateway::over(&fixture).await;
        for declared in declared(&gateway.client()).await {
            let expected = json!({
                APPS: {}, SKILLS: { "directoryRead": true }, VENDOR: { "levels": [1, 2] },
            });
            assert_eq!(declared["extensions"], expected, "{era:?}");
            let experimental = json!({ "com.example/trial": { "limit": 3 } });
            assert_eq!(declared["experimental"], experimental, "{era:?}");
            let unknown = &declared["com.example/capability"];
            assert_eq!(*unknown, json!({ "on": true }), "{era:?}");
        }
    }
}

#[tokio::test]
async fn the_endpoint_of_all_sources_declares_only_extensions_that_can_be_merged() {
    let fixture = server(Era::Both).await;
    let gateway = RemoteGateway::over(&fixture).await;
    for declared in declared(&gateway.client_of_all_sources()).await {
        let expected = json!({ APPS: {}, SKILLS: { "directoryRead": true } });
        assert_eq!(declared["extensions"], expected);
        assert_eq!(declared.get("experimental"), None);
    }
}

#[tokio::test]
async fn what_a_client_declares_reaches_the_server() {
    for era in [Era::Modern, Era::Legacy] {
        let fixture = server(era).await;
        let gateway = RemoteGateway::over(&fixture).await;
        let client = gateway.client();
        let params = json!({ "depth": 1 });
        let modern = client.modern("tides/measure", params.clone());
        let modern = modern.meta(CAPABILITIES, client_capabilities());
        let mut events = modern.events().await;
        let (_, response) = (events.message().await, events.message().await);
        let declared = &response["result"]["declaredByClient"];
        assert_eq!(*declared, client_extensions(), "{era:?}: {response}");
        let session = client
            .initialize_with(NEWEST_LEGACY, &client_capabilities())
            .await;
        let response = session.exchange("tides/measure", params).await;
        let declared = &response["result"]["declaredByClient"];
        assert_eq!(*declared, client_extensions(), "{era:?}: {response}");
    }
}

#[tokio::test]
async fn a_method_of_an_unknown_extension_is_relayed_with_its_notifications() {
    for era in [Era::Modern, Era::Legacy] {
        let fixture = server(era).await;
        let gateway = RemoteGateway::over(&fixture).await;
        let client = gateway.client();
        let params = json!({ "depth": 1.5 });
        let mut modern = client
            .modern("tides/measure", params.clone())
            .events()
            .await;
        let session = client.initialize(NEWEST_LEGACY).await;
        let legacy = session.request("tides/measure", params).send().await;
        let mut legacy = legacy.events();
        let mut result_types = Vec::new();
        for events in [&mut modern, &mut legacy] {
            let notification = events.message().await;
            assert_eq!(notification["method"], "notifications/tides/rising");
            assert_eq!(notification["params"], json!({ "level": 2 }));
            let response = events.message().await;
            let result_type = response["result"].get("resultType").cloned();
            result_types.push(result_type.unwrap_or_default());
            let measured = &response["result"]["measured"];
            assert_eq!(*measured, json!({ "depth": 1.5 }), "{response}");
        }
        let result_type = match era {
            Era::Modern => "com.example/measurement",
            _ => "complete",
        };
        assert_eq!(result_types, [json!(result_type), Value::Null]);
        let received = fixture.received_for("tides/measure").pop().unwrap();
        let header = (era == Era::Modern).then_some("tides/measure");
        assert_eq!(received.header("mcp-method"), header);
    }
}

#[tokio::test]
async fn an_unknown_method_is_an_error_where_no_server_has_it() {
    let fixture = Fixture::new().start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    for client in [gateway.client(), gateway.client_of_all_sources()] {
        let modern = client.modern("tides/measure", json!({})).message().await;
        let session = client.initialize(NEWEST_LEGACY).await;
        let legacy = session.exchange("tides/measure", json!({})).await;
        for answer in [modern, legacy] {
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
        }
    }
}

#[tokio::test]
async fn notifications_of_an_unknown_extension_pass_in_both_directions() {
    let fixture = server(Era::Legacy).await;
    let gateway = RemoteGateway::over(&fixture).await;
    let sessions = [
        gateway.client().initialize(NEWEST_LEGACY).await,
        gateway.client().initialize(NEWEST_LEGACY).await,
    ];
    for (number, session) in sessions.iter().enumerate() {
        let params = json!({ "level": number });
        let accepted = session.notify("notifications/tides/subscribe", params.clone());
        assert_eq!(accepted.await.status, 202);
        let notification = session.stream().await.message().await;
        assert_eq!(notification["method"], "notifications/tides/subscribed");
        assert_eq!(notification["params"], params, "each client gets its own");
    }
}

fn client_info(name: &str) -> Value {
    json!({ "name": name, "version": "1.0.0" })
}

/// Opens a change stream of a modern client, with a member of the extension. Returns it with the
/// acknowledged filter.
async fn listen(client: &Client, name: &str) -> (Events, Value) {
    let params = json!({ "notifications": { VENDOR: { "unit": "m" }, "toolsListChanged": true } });
    let listen = client.modern("subscriptions/listen", params);
    let listen = listen.id("\"stream\"").meta(CLIENT_INFO, client_info(name));
    let mut events = listen.events().await;
    let acknowledged = events.message().await;
    let filter = acknowledged["params"]["notifications"].clone();
    (events, filter)
}

/// Sends a notification of a modern client, which describes itself if it has a name.
async fn subscribe(client: &Client, name: Option<&str>, level: usize) {
    let mut params = json!({ "level": level });
    if let Some(name) = name {
        params["_meta"] = json!({
            PROTOCOL_VERSION: MODERN, CAPABILITIES: {}, CLIENT_INFO: client_info(name),
        });
    }
    let method = "notifications/tides/subscribe";
    let body = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    let post = client.post(&body).header("MCP-Protocol-Version", MODERN);
    assert_eq!(post.send().await.status, 202);
}

/// The next notification on a change stream must be the answer to this client.
async fn expect_answer(events: &mut Events, level: usize) {
    let notification = events.message().await;
    let expected = json!({ "level": level, "_meta": { SUBSCRIPTION_ID: "stream" } });
    assert_eq!(notification["method"], "notifications/tides/subscribed");
    assert_eq!(notification["params"], expected, "{notification}");
}

/// Gateways with a server of each era, over HTTP and over stdio.
async fn gateways(fixtures: &[RunningFixture; 2]) -> Vec<RemoteGateway> {
    let mut gateways = Vec::new();
    for (fixture, era) in fixtures.iter().zip(["legacy", "modern"]) {
        gateways.push(RemoteGateway::over(fixture).await);
        let args = ["--era", era, "--vendor-extension"];
        gateways.push(RemoteGateway::over_stdio(fixture, &args).await);
    }
    gateways
}

#[tokio::test]
async fn modern_clients_get_notifications_of_an_unknown_extension_on_their_change_streams() {
    let fixtures = [server(Era::Legacy).await, server(Era::Modern).await];
    for gateway in gateways(&fixtures).await {
        let client = gateway.client();
        let (mut ada, filter) = listen(&client, "ada").await;
        let expected = json!({ VENDOR: { "unit": "m" }, "toolsListChanged": true });
        assert_eq!(filter, expected);
        let (mut bob, _) = listen(&client, "bob").await;
        for level in [1, 3] {
            subscribe(&client, Some("ada"), level).await;
            expect_answer(&mut ada, level).await;
            subscribe(&client, Some("bob"), level + 1).await;
            expect_answer(&mut bob, level + 1).await;
        }
    }
}

#[tokio::test]
async fn notifications_for_a_modern_client_do_not_reach_a_session() {
    let fixture = server(Era::Legacy).await;
    let gateway = RemoteGateway::over(&fixture).await;
    let client = gateway.client();
    let session = client.initialize(NEWEST_LEGACY).await;
    let mut of_session = session.stream().await;
    let (mut modern, _) = listen(&client, "ada").await;
    subscribe(&client, Some("ada"), 1).await;
    expect_answer(&mut modern, 1).await;
    let params = json!({ "level": 2 });
    let method = "notifications/tides/subscribe";
    session.notify(method, params.clone()).await;
    assert_eq!(of_session.message().await["params"], params);
    subscribe(&client, Some("ada"), 3).await;
    expect_answer(&mut modern, 3).await;
}

#[tokio::test]
async fn the_notifications_and_calls_of_a_client_arrive_in_order() {
    let fixture = server(Era::Legacy).await;
    let over_http = RemoteGateway::over(&fixture).await;
    let args = ["--era", "legacy", "--vendor-extension"];
    let over_stdio = RemoteGateway::over_stdio(&fixture, &args).await;
    for gateway in [over_http, over_stdio] {
        let client = gateway.client();
        for level in 0..20 {
            subscribe(&client, Some("ada"), level).await;
        }
        let call = client.modern_call("received_messages", json!({}));
        let call = call.meta(CLIENT_INFO, client_info("ada"));
        let received = call.message().await;
        let received = received["result"]["content"][0]["text"].as_str().unwrap();
        let received: Vec<Value> = serde_json::from_str(received).unwrap();
        let messages = received.iter().filter_map(|received| {
            let text = received.get("body").or_else(|| received.get("line"))?;
            serde_json::from_str::<Value>(text.as_str()?).ok()
        });
        let levels =
            messages.filter(|message| message["method"] == "notifications/tides/subscribe");
        let levels: Vec<_> = levels
            .map(|message| message["params"]["level"].as_u64())
            .collect();
        assert_eq!(levels, (0..20).map(Some).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_notification_that_does_not_describe_its_client_is_from_the_only_client() {
    let unused = server(Era::Legacy).await;
    let args = ["--era", "legacy", "--vendor-extension"];
    let gateway = RemoteGateway::over_stdio(&unused, &args).await;
    let client = gateway.client();
    let (mut ada, _) = listen(&client, "ada").await;
    subscribe(&client, None, 1).await;
    expect_answer(&mut ada, 1).await;
    let (mut bob, _) = listen(&client, "bob").await;
    subscribe(&client, None, 2).await;
    for (name, events) in [("ada", &mut ada), ("bob", &mut bob)] {
        subscribe(&client, Some(name), 3).await;
        expect_answer(events, 3).await;
    }
}

#[tokio::test]
async fn members_of_a_filter_are_acknowledged_only_where_a_server_honours_them() {
    let without = Fixture::new().with(|settings| settings.era = Era::Modern);
    let without = RemoteGateway::over(&without.start().await).await;
    let fixture = server(Era::Modern).await;
    let with = RemoteGateway::over(&fixture).await;
    for client in [without.client(), with.client_of_all_sources()] {
        let (_, filter) = listen(&client, "ada").await;
        assert_eq!(filter, json!({ "toolsListChanged": true }));
    }
}
