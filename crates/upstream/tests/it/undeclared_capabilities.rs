//! Questions for which a client did not declare the capability (protocol 4.0.4 and 4.4): the server
//! gets an error, and the client is not asked.

use serde_json::{Value, json};
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::{Fixture, RunningFixture};

use crate::support::RemoteGateway;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The capabilities of a client, a question that they do not cover, and what the error names.
fn undeclared() -> [(Value, Value, &'static str); 4] {
    let form = json!({ "message": "m", "requestedSchema": { "type": "object" } });
    let form = json!({ "method": "elicitation/create", "params": form });
    let page = json!({ "mode": "url", "message": "m", "url": "https://example.com" });
    let page = json!({ "method": "elicitation/create", "params": page });
    let tools = json!({ "messages": [], "maxTokens": 1, "tools": [] });
    let tools = json!({ "method": "sampling/createMessage", "params": tools });
    [
        (
            json!({ "elicitation": { "url": {} } }),
            form.clone(),
            "`elicitation.form`",
        ),
        (json!({ "elicitation": {} }), page, "`elicitation.url`"),
        (json!({ "sampling": {} }), tools, "`sampling.tools`"),
        (json!({ "sampling": {} }), form, "`elicitation`"),
    ]
}

async fn stateless(gateway: &RemoteGateway, capabilities: &Value, question: &Value) -> Value {
    let params = json!({ "name": "fault_ask", "arguments": question });
    let call = gateway.client().modern("tools/call", params);
    let call = call.meta(CAPABILITIES, capabilities.clone());
    call.send().await.message().await
}

/// A call in a session. The client must not be asked.
async fn in_session(gateway: &RemoteGateway, capabilities: &Value, question: &Value) -> Value {
    let client = gateway.client();
    let session = client.initialize_with(NEWEST_LEGACY, capabilities).await;
    let call = session.call("fault_ask", question.clone());
    call.send().await.message().await
}

async fn faulty(fixture: Fixture) -> RunningFixture {
    fixture
        .with(|settings| settings.faults = true)
        .start()
        .await
}

#[tokio::test]
async fn a_legacy_server_gets_an_error_for_its_question() {
    let fixture = faulty(Fixture::legacy(NEWEST_LEGACY)).await;
    let gateway = RemoteGateway::over(&fixture).await;
    for (capabilities, question, capability) in undeclared() {
        for done in [
            stateless(&gateway, &capabilities, &question).await,
            in_session(&gateway, &capabilities, &question).await,
        ] {
            assert_eq!(done["result"]["isError"], true, "{capabilities}: {done}");
            assert!(
                done.to_string().contains(capability),
                "{capabilities}: {done}"
            );
        }
    }
}

#[tokio::test]
async fn the_call_to_a_modern_server_fails() {
    let fixture = faulty(Fixture::modern()).await;
    let gateway = RemoteGateway::over(&fixture).await;
    for (capabilities, question, capability) in undeclared() {
        for done in [
            stateless(&gateway, &capabilities, &question).await,
            in_session(&gateway, &capabilities, &question).await,
        ] {
            let error = &done["error"];
            assert_eq!(
                error["data"]["kind"], "source_failed",
                "{capabilities}: {done}"
            );
            assert!(
                error["message"].as_str().unwrap().contains(capability),
                "{done}"
            );
        }
    }
}

/// Note (a) of the bridge table: a capability that a revision lacks cannot be declared in it.
#[tokio::test]
async fn a_client_is_not_asked_what_its_revision_lacks() {
    let fixture = faulty(Fixture::modern()).await;
    let gateway = RemoteGateway::over(&fixture).await;
    let able = json!({ "elicitation": {} });
    let session = gateway.client().initialize_with("2025-03-26", &able).await;
    let done = session
        .call("ask_form", json!({}))
        .send()
        .await
        .message()
        .await;
    assert!(done.to_string().contains("elicitation"), "{done}");
    assert!(!done.to_string().contains("cancel"), "{done}");
}
