//! A client built with the Rust SDK that answers questions.

#![expect(
    deprecated,
    reason = "the SDK deprecates what a later revision removes"
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

/// Answers every question.
#[derive(Clone, Default)]
struct AnsweringHandler {
    progress: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for AnsweringHandler {
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

/// Calls each tool; returns the texts of the results, which contain the answers.
pub(super) async fn run(url: &str, is_modern: bool) -> Value {
    match timeout(PATIENCE, run_client(url, is_modern)).await {
        Ok(answers) => answers,
        Err(_) => json!("timed out"),
    }
}

async fn run_client(url: &str, is_modern: bool) -> Value {
    let lifecycle = match is_modern {
        true => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        false => ClientLifecycleMode::Initialize,
    };
    let (handler, transport) = (
        AnsweringHandler::default(),
        StreamableHttpClientTransport::from_uri(url),
    );
    let served = handler.clone().serve_with_lifecycle(transport, lifecycle);
    let mut client = match served.await {
        Ok(client) => client,
        Err(error) => return json!(error.to_string()),
    };
    let mut answers = json!({});
    for tool in ["test_tool_with_progress"].into_iter().chain(TOOLS) {
        let called = client.call_tool(CallToolRequestParams::new(tool)).await;
        answers[tool] = match called.map(|result| wire(&result)) {
            Ok(result) => {
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                serde_json::from_str(text).unwrap_or_else(|_| result.clone())
            }
            Err(error) => json!(error.to_string()),
        };
    }
    client.close().await.ok();
    // The SDK handles each notification in a task of its own, so they can be reordered.
    let mut progress = handler.progress.lock().unwrap().clone();
    progress.sort_by(f64::total_cmp);
    answers["progress"] = json!(progress);
    answers
}

/// Converts JSON to a type of the SDK.
fn typed<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a value of the SDK's type")
}

fn wire(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}
