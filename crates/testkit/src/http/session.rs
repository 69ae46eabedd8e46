//! A legacy session, from its handshake on.
//!
//! Must not know: which response is correct.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{Client, Events, HttpResponse, Request};

/// An open session.
#[derive(Debug)]
pub struct Session {
    client: Client,
    id: String,
    revision: String,
    /// The response to `initialize`.
    pub initialize_response: Value,
    next_id: AtomicU64,
}

/// The `initialize` request.
fn initialize_request(revision: &str, capabilities: &Value) -> Value {
    let client = json!({ "name": "test", "version": "0" });
    let params = json!({
        "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client,
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

impl Client {
    /// An `initialize` request, for a test that inspects or modifies it.
    pub fn initialize_request(&self, revision: &str) -> Request {
        self.post(&initialize_request(revision, &json!({})))
    }
}

impl Session {
    pub(super) async fn open(client: &Client, revision: &str, capabilities: &Value) -> Self {
        let response = client
            .post(&initialize_request(revision, capabilities))
            .send()
            .await;
        let id = response.header("mcp-session-id").map(str::to_owned);
        let initialize_response = response.json().await;
        let session = Self {
            client: client.clone(),
            id: id.unwrap_or_else(|| panic!("no session: {initialize_response}")),
            revision: revision.to_owned(),
            initialize_response,
            next_id: AtomicU64::new(1),
        };
        let accepted = session.notify("notifications/initialized", json!({})).await;
        assert_eq!(accepted.status, 202);
        session
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The same session used by another client or at another endpoint.
    #[must_use]
    pub fn with_client(&self, client: &Client) -> Self {
        Self {
            client: client.clone(),
            id: self.id.clone(),
            revision: self.revision.clone(),
            initialize_response: self.initialize_response.clone(),
            next_id: AtomicU64::new(self.next_id.load(Ordering::Relaxed) + 1000),
        }
    }

    /// A POST of any message, with the headers of the session.
    pub fn post(&self, body: &Value) -> Request {
        self.with_session_headers(self.client.post(body))
    }

    /// A request with a new id.
    pub fn request(&self, method: &str, params: Value) -> Request {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    /// A tool call with a new id.
    pub fn call(&self, tool: &str, arguments: Value) -> Request {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// A tool call that requests progress.
    pub fn call_with_progress(&self, tool: &str, token: Value) -> Request {
        let meta = json!({ "progressToken": token });
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": {}, "_meta": meta }),
        )
    }

    /// Sends a request and returns the message of its response.
    pub async fn exchange(&self, method: &str, params: Value) -> Value {
        self.request(method, params).send().await.message().await
    }

    pub async fn notify(&self, method: &str, params: Value) -> HttpResponse {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.post(&message).send().await
    }

    /// A GET for the session's own stream.
    pub fn get(&self) -> Request {
        self.with_session_headers(self.client.get())
    }

    /// Opens the session's own stream.
    pub async fn stream(&self) -> Events {
        self.get().send().await.events()
    }

    /// Resumes a stream after an event.
    pub async fn resume(&self, last_event: &str) -> HttpResponse {
        self.get().header("Last-Event-ID", last_event).send().await
    }

    /// Ends the session with DELETE.
    pub async fn delete(&self) -> HttpResponse {
        self.with_session_headers(self.client.request("DELETE"))
            .send()
            .await
    }

    fn with_session_headers(&self, request: Request) -> Request {
        let request = request.header("Mcp-Session-Id", &self.id);
        // Older revisions do not have the header.
        if self.revision.as_str() < "2025-06-18" {
            request
        } else {
            request.header("MCP-Protocol-Version", &self.revision)
        }
    }
}
