//! Servers that ask what their client did not say it can be asked (protocol 4.0.4 and 4.4): the
//! server is told so, and the client is not asked.

use serde_json::{Value, json};
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::{Fixture, RunningFixture};

use crate::support::Behind;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// What a client can do, what it is asked in spite of that, and what the server is told.
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

async fn stateless(behind: &Behind, capabilities: &Value, asked: &Value) -> Value {
    let params = json!({ "name": "fault_ask", "arguments": asked });
    let call = behind.client().modern("tools/call", params);
    let call = call.meta(CAPABILITIES, capabilities.clone());
    call.send().await.message().await
}

/// A call in a session, in which nothing may be asked.
async fn in_session(behind: &Behind, capabilities: &Value, asked: &Value) -> Value {
    let client = behind.client();
    let session = client.initialize_with(NEWEST_LEGACY, capabilities).await;
    let call = session.call("fault_ask", asked.clone());
    call.send().await.message().await
}

async fn faulty(fixture: Fixture) -> RunningFixture {
    fixture.with(|one| one.faults = true).start().await
}

#[tokio::test]
async fn a_server_with_sessions_is_told_what_its_client_cannot_be_asked() {
    let fixture = faulty(Fixture::legacy(NEWEST_LEGACY)).await;
    let behind = Behind::of(&fixture).await;
    for (capabilities, asked, told) in undeclared() {
        for done in [
            stateless(&behind, &capabilities, &asked).await,
            in_session(&behind, &capabilities, &asked).await,
        ] {
            assert_eq!(done["result"]["isError"], true, "{capabilities}: {done}");
            assert!(done.to_string().contains(told), "{capabilities}: {done}");
        }
    }
}

#[tokio::test]
async fn a_server_without_them_cannot_be_told_and_its_call_fails() {
    let fixture = faulty(Fixture::modern()).await;
    let behind = Behind::of(&fixture).await;
    for (capabilities, asked, told) in undeclared() {
        for done in [
            stateless(&behind, &capabilities, &asked).await,
            in_session(&behind, &capabilities, &asked).await,
        ] {
            let error = &done["error"];
            assert_eq!(
                error["data"]["kind"], "source_failed",
                "{capabilities}: {done}"
            );
            assert!(error["message"].as_str().unwrap().contains(told), "{done}");
        }
    }
}

/// Note (a) of the table of bridges: what a revision does not have, nobody declares in it.
#[tokio::test]
async fn what_its_revision_does_not_have_a_client_cannot_be_asked() {
    let fixture = faulty(Fixture::modern()).await;
    let behind = Behind::of(&fixture).await;
    let able = json!({ "elicitation": {} });
    let session = behind.client().initialize_with("2025-03-26", &able).await;
    let done = session
        .call("ask_form", json!({}))
        .send()
        .await
        .message()
        .await;
    assert!(done.to_string().contains("elicitation"), "{done}");
    assert!(!done.to_string().contains("cancel"), "{done}");
}
