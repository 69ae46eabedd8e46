//! A stateless request: its headers say what its body says, unless a test wants otherwise.
//!
//! Must not know: what a right answer is.

use serde_json::{Value, json};
use tidegate_mcp::revision::key;

use super::{Answer, Client, Events, Request};
use crate::MODERN;
use crate::pipe::stateless;

/// A stateless request that is being written.
#[derive(Clone, Debug)]
pub struct ModernRequest {
    client: Client,
    id: String,
    method: String,
    params: Value,
    /// Those beside the ones that every stateless request has.
    headers: Vec<(String, String)>,
}

impl ModernRequest {
    pub(super) fn new(client: &Client, method: &str, params: Value) -> Self {
        Self {
            client: client.clone(),
            id: "1".to_owned(),
            method: method.to_owned(),
            params: stateless(params),
            headers: Vec::new(),
        }
    }

    /// The id, as JSON text.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.id);
        self
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Says something in `_meta`.
    #[must_use]
    pub fn meta(mut self, key: &str, value: Value) -> Self {
        self.params["_meta"][key] = value;
        self
    }

    /// Wants progress under this token.
    #[must_use]
    pub fn progress(self, token: Value) -> Self {
        self.meta("progressToken", token)
    }

    /// Wants log messages from this level up.
    #[must_use]
    pub fn log_level(self, level: &str) -> Self {
        self.meta(key::LOG_LEVEL, level.into())
    }

    /// The request as HTTP, for a test that wants to spoil it.
    pub fn request(&self) -> Request {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}}"#,
            self.id, self.method, self.params
        );
        let mut request = self
            .client
            .post_text(&body)
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", &self.method);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let addressed = match self.method.as_str() {
            "tools/call" | "prompts/get" => self.params.get("name"),
            "resources/read" => self.params.get("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.params.get("taskId"),
            _ => None,
        };
        match addressed.and_then(Value::as_str) {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        }
    }

    pub async fn send(&self) -> Answer {
        self.request().send().await
    }

    /// Sends it and gives the answer's message.
    pub async fn message(&self) -> Value {
        self.send().await.message().await
    }

    /// Sends it and reads the answer as events.
    pub async fn events(&self) -> Events {
        self.send().await.events()
    }
}

impl Client {
    /// Listens for changes, under an id given as JSON text.
    pub async fn listen(&self, id: &str, notifications: Value) -> Events {
        let params = json!({ "notifications": notifications });
        self.modern("subscriptions/listen", params)
            .id(id)
            .events()
            .await
    }
}
