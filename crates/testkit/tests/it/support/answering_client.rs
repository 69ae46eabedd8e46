//! A legacy client over Streamable HTTP that answers questions.

use serde_json::{Value, json};
use tidegate_testkit::{Client, Events, Request};

/// An open session with client capabilities.
pub(crate) struct AnsweringClient {
    client: Client,
    id: String,
    revision: String,
}

impl AnsweringClient {
    pub(crate) async fn open(client: &Client, revision: &str, capabilities: Value) -> Self {
        let info = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = client.post(&hello).send().await;
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let client = Self {
            client: client.clone(),
            id,
            revision: revision.to_owned(),
        };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&initialized).send().await.status, 202);
        client
    }

    pub(crate) fn post(&self, message: &Value) -> Request {
        self.with_session_headers(self.client.post(message))
    }

    /// Calls a tool and reads the stream of the call.
    pub(crate) async fn call(&self, tool: &str) -> Events {
        let params = json!({ "name": tool, "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        self.post(&call).send().await.events()
    }

    /// Answers a question.
    pub(crate) async fn answer(&self, question: &Value, result: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        assert_eq!(self.post(&answer).send().await.status, 202);
    }

    pub(crate) async fn stream(&self) -> Events {
        self.with_session_headers(self.client.get())
            .send()
            .await
            .events()
    }

    fn with_session_headers(&self, request: Request) -> Request {
        request
            .header("Mcp-Session-Id", &self.id)
            .header("MCP-Protocol-Version", &self.revision)
    }
}
