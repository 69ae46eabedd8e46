//! A modern request whose headers repeat its body, unless a test changes them.
//!
//! Must not know: which response is correct.

use serde_json::{Value, json};
use tidegate_mcp::revision::meta_keys;

use super::{Client, Events, HttpResponse, Request};
use crate::MODERN;
use crate::stdio::with_modern_meta;

/// A modern request under construction.
#[derive(Clone, Debug)]
pub struct ModernRequest {
    client: Client,
    id: String,
    method: String,
    params: Value,
    /// Headers in addition to those of every modern request.
    headers: Vec<(String, String)>,
}

impl ModernRequest {
    pub(super) fn new(client: &Client, method: &str, params: Value) -> Self {
        Self {
            client: client.clone(),
            id: "1".to_owned(),
            method: method.to_owned(),
            params: with_modern_meta(params),
            headers: Vec::new(),
        }
    }

    /// The id, as JSON text.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.id);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a member of `_meta`.
    #[must_use]
    pub fn meta(mut self, key: &str, value: Value) -> Self {
        self.params["_meta"][key] = value;
        self
    }

    /// Requests progress with this token.
    #[must_use]
    pub fn progress(self, token: Value) -> Self {
        self.meta("progressToken", token)
    }

    /// Requests log messages of this level and above.
    #[must_use]
    pub fn log_level(self, level: &str) -> Self {
        self.meta(meta_keys::LOG_LEVEL, level.into())
    }

    /// The HTTP request, for a test that modifies it.
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

    pub async fn send(&self) -> HttpResponse {
        self.request().send().await
    }

    /// Sends it and returns the message of the response.
    pub async fn message(&self) -> Value {
        self.send().await.message().await
    }

    /// Sends it and reads the response as events.
    pub async fn events(&self) -> Events {
        self.send().await.events()
    }
}

impl Client {
    /// Opens a subscription stream, with an id given as JSON text.
    pub async fn listen(&self, id: &str, notifications: Value) -> Events {
        let params = json!({ "notifications": notifications });
        self.modern("subscriptions/listen", params)
            .id(id)
            .events()
            .await
    }
}
