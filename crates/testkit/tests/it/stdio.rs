//! The fixture over stdio.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, ProbeResponse, Received};
use tidegate_testkit::{NEWEST_LEGACY, wait_until};

use crate::support::{StdioPeer, text};

#[tokio::test]
async fn both_eras_work_on_one_connection() {
    let (_running, input, output) = Fixture::new().stdio();
    let mut pipe = StdioPeer::new(output, input);
    pipe.modern(1, "server/discover", json!({})).await;
    assert!(pipe.next().await.unwrap()["result"]["supportedVersions"].is_array());
    pipe.request(2, "tools/list", json!({})).await;
    assert_eq!(pipe.next().await.unwrap()["error"]["code"], -32600);
    let hello = pipe
        .initialize(NEWEST_LEGACY, json!({ "elicitation": {} }))
        .await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST_LEGACY);
    let call = json!({ "name": "test_elicitation", "arguments": {} });
    pipe.request(3, "tools/call", call).await;
    let question = pipe.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let accepted = json!({ "action": "accept" });
    pipe.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted }))
        .await;
    assert!(text(&pipe.next().await.unwrap()).contains("accept"));
    pipe.modern(4, "tools/call", json!({ "name": "test_simple_text" }))
        .await;
    assert_eq!(
        pipe.next().await.unwrap()["result"]["resultType"],
        "complete"
    );
}

#[tokio::test]
async fn subscriptions_and_cancellation_work_over_stdio() {
    let (running, input, output) = Fixture::new().stdio();
    let mut pipe = StdioPeer::new(output, input);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    pipe.modern(1, "subscriptions/listen", filter).await;
    assert_eq!(
        pipe.next().await.unwrap()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
    running.add_tool("new");
    assert_eq!(
        pipe.next().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipe.send(&cancel).await;
    wait_until("the subscription to end", async || running.listeners() == 0).await;
    let cancelled = Received::Cancelled {
        id: "1".to_owned(),
        method: "subscriptions/listen".to_owned(),
        arguments: Value::Null,
    };
    wait_until("the cancellation to be recorded", async || {
        running.received().contains(&cancelled)
    })
    .await;
}

#[tokio::test]
async fn legacy_server_responds_to_a_modern_request_as_configured() {
    let probed = |probe| {
        let fixture = Fixture::legacy(NEWEST_LEGACY);
        fixture
            .with(|settings| settings.probe_response = probe)
            .stdio()
    };
    for (probe, code) in [(None, -32601), (Some(ProbeResponse::Refused), -32000)] {
        let (_running, input, output) = probed(probe);
        let mut pipe = StdioPeer::new(output, input);
        pipe.modern(1, "server/discover", json!({})).await;
        assert_eq!(pipe.next().await.unwrap()["error"]["code"], code);
    }
    let (_running, input, output) = probed(Some(ProbeResponse::Silent));
    let mut pipe = StdioPeer::new(output, input);
    pipe.modern(1, "server/discover", json!({})).await;
    let hello = pipe.initialize(NEWEST_LEGACY, json!({})).await;
    assert_eq!(hello["id"], 0, "no response to the modern request");
    let (_running, input, output) = probed(Some(ProbeResponse::Exit));
    let mut pipe = StdioPeer::new(output, input);
    pipe.modern(1, "server/discover", json!({})).await;
    assert_eq!(pipe.line().await, None);
}

#[tokio::test]
async fn invalid_message_gets_an_error_and_the_connection_continues() {
    let (_running, input, output) = Fixture::new().stdio();
    let mut pipe = StdioPeer::new(output, input);
    pipe.send(&json!("no message")).await;
    assert_eq!(pipe.next().await.unwrap()["error"]["code"], -32600);
    pipe.modern(1, "tools/list", json!({})).await;
    assert!(pipe.next().await.unwrap()["result"].is_object());
}
