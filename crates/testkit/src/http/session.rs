//! A session of the legacy era, from its handshake on.
//!
//! Must not know: what a right answer is.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{Answer, Client, Events, Request};

/// An open session.
#[derive(Debug)]
pub struct Session {
    client: Client,
    id: String,
    revision: String,
    /// What the gateway said in the handshake.
    pub hello: Value,
    next_id: AtomicU64,
}

/// The handshake's message.
fn hello(revision: &str, capabilities: &Value) -> Value {
    let client = json!({ "name": "test", "version": "0" });
    let params = json!({
        "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client,
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

impl Client {
    /// The handshake alone, for a test that wants to look at it or to spoil it.
    pub fn hello(&self, revision: &str) -> Request {
        self.post(&hello(revision, &json!({})))
    }
}

impl Session {
    pub(super) async fn open(client: &Client, revision: &str, capabilities: &Value) -> Self {
        let answer = client.post(&hello(revision, capabilities)).send().await;
        let id = answer.header("mcp-session-id").map(str::to_owned);
        let hello = answer.json().await;
        let session = Self {
            client: client.clone(),
            id: id.unwrap_or_else(|| panic!("no session: {hello}")),
            revision: revision.to_owned(),
            hello,
            next_id: AtomicU64::new(1),
        };
        let noted = session.notify("notifications/initialized", json!({})).await;
        assert_eq!(noted.status, 202);
        session
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The same session in another client's hands, or at another endpoint.
    #[must_use]
    pub fn used_by(&self, client: &Client) -> Self {
        Self {
            client: client.clone(),
            id: self.id.clone(),
            revision: self.revision.clone(),
            hello: self.hello.clone(),
            next_id: AtomicU64::new(self.next_id.load(Ordering::Relaxed) + 1000),
        }
    }

    /// A POST of anything, with the headers of the session.
    pub fn post(&self, body: &Value) -> Request {
        self.dressed(self.client.post(body))
    }

    /// A request with a fresh id.
    pub fn request(&self, method: &str, params: Value) -> Request {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    /// A call of a tool with a fresh id.
    pub fn call(&self, tool: &str, arguments: Value) -> Request {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// A call of a tool that wants progress.
    pub fn call_with_progress(&self, tool: &str, token: Value) -> Request {
        let meta = json!({ "progressToken": token });
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": {}, "_meta": meta }),
        )
    }

    /// Sends a request and gives the message of its answer.
    pub async fn ask(&self, method: &str, params: Value) -> Value {
        self.request(method, params).send().await.message().await
    }

    pub async fn notify(&self, method: &str, params: Value) -> Answer {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.post(&message).send().await
    }

    /// A GET for the stream of what no call asked for.
    pub fn get(&self) -> Request {
        self.dressed(self.client.get())
    }

    /// Opens the stream of what no call asked for.
    pub async fn stream(&self) -> Events {
        self.get().send().await.events()
    }

    /// A GET for the rest of a stream.
    pub async fn resume(&self, last_event: &str) -> Answer {
        self.get().header("Last-Event-ID", last_event).send().await
    }

    /// Ends the session.
    pub async fn end(&self) -> Answer {
        self.dressed(self.client.request("DELETE")).send().await
    }

    fn dressed(&self, request: Request) -> Request {
        let request = request.header("Mcp-Session-Id", &self.id);
        // Older revisions do not know the header.
        if self.revision.as_str() < "2025-06-18" {
            request
        } else {
            request.header("MCP-Protocol-Version", &self.revision)
        }
    }
}
