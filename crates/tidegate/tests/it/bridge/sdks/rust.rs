//! A client made with the Rust SDK that a server can ask something.

#![expect(
    deprecated,
    reason = "the SDK warns of what a later revision will no longer have"
)]

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ListRootsResult, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::PATIENCE;

const TOOLS: [&str; 6] = [
    "ask_form",
    "ask_page",
    "ask_two",
    "ask_model",
    "ask_model_with_tools",
    "ask_roots",
];

/// What it does when it is asked something.
#[derive(Clone, Default)]
struct Able {
    progress: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Able {
    fn get_info(&self) -> ClientConfig {
        typed(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {},
            },
            "clientInfo": { "name": "rust", "version": "1.0.0" },
        }))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(typed(match wire(&asked)["mode"] == "url" {
            true => json!({ "action": "accept" }),
            false => json!({ "action": "accept", "content": { "name": "ada" } }),
        }))
    }

    async fn create_message(
        &self,
        asked: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let used =
            json!({ "type": "tool_use", "id": "u1", "name": "look_up", "input": { "word": "a" } });
        Ok(typed(match wire(&asked)["tools"].is_array() {
            true => json!({
                "role": "assistant", "model": "m", "content": [used], "stopReason": "toolUse",
            }),
            false => json!({
                "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" },
            }),
        }))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(typed(
            json!({ "roots": [{ "uri": "file:///home/ada", "name": "home" }] }),
        ))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(progress.progress);
    }
}

/// Calls each tool; gives the text of its answer, which has what the server was told.
pub(super) async fn play(url: &str, is_modern: bool) -> Value {
    match timeout(PATIENCE, played(url, is_modern)).await {
        Ok(told) => told,
        Err(_) => json!("it took too long"),
    }
}

async fn played(url: &str, is_modern: bool) -> Value {
    let lifecycle = match is_modern {
        true => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        false => ClientLifecycleMode::Initialize,
    };
    let (able, transport) = (
        Able::default(),
        StreamableHttpClientTransport::from_uri(url),
    );
    let served = able.clone().serve_with_lifecycle(transport, lifecycle);
    let mut client = match served.await {
        Ok(client) => client,
        Err(error) => return json!(error.to_string()),
    };
    let mut told = json!({});
    for tool in ["test_tool_with_progress"].into_iter().chain(TOOLS) {
        let called = client.call_tool(CallToolRequestParams::new(tool)).await;
        told[tool] = match called.map(|result| wire(&result)) {
            Ok(result) => {
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                serde_json::from_str(text).unwrap_or_else(|_| result.clone())
            }
            Err(error) => json!(error.to_string()),
        };
    }
    client.close().await.ok();
    // The SDK has each notification seen to by a task of its own: they may overtake one another.
    let mut progress = able.progress.lock().unwrap().clone();
    progress.sort_by(f64::total_cmp);
    told["progress"] = json!(progress);
    told
}

/// What the SDK calls by a type of its own.
fn typed<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the SDK knows it")
}

fn wire(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}
