//! A client of one gateway: sends requests, answers questions, receives notifications.
//!
//! Must not know: how messages are sent, or what they are about.

mod calls;
mod subscriptions;

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};
use tidegate_testkit::MODERN;

use super::transport::ClientTransport;
pub(super) use calls::{CallOutcome, add_answers, input_requests};

const META: &str = "io.modelcontextprotocol/";

/// A client of a gateway that uses one source.
pub(super) struct ClientSession {
    pub(super) transport: ClientTransport,
    pub(super) revision: &'static str,
    pub(super) capabilities: Value,
    /// The source it uses, and whether its endpoint shows all sources.
    pub(super) source: String,
    pub(super) all_sources: bool,
    /// Whether each request is sent in a batch with a ping.
    pub(super) batches: bool,
    /// The requests whose pings were answered.
    pongs: HashSet<String>,
    /// Messages received while waiting for a ping, oldest first.
    deferred: VecDeque<Value>,
    /// The methods of notifications received while waiting for a response.
    skipped: HashSet<String>,
    level: Option<String>,
    last: u64,
}

impl ClientSession {
    pub(super) fn new(
        transport: ClientTransport,
        revision: &'static str,
        capabilities: Value,
    ) -> Self {
        Self {
            transport,
            revision,
            capabilities,
            source: String::new(),
            all_sources: false,
            batches: false,
            pongs: HashSet::new(),
            deferred: VecDeque::new(),
            skipped: HashSet::new(),
            level: None,
            last: 0,
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Opens a session and its stream, in the revisions that have sessions.
    pub(super) async fn open(&mut self) {
        if self.is_modern() {
            return;
        }
        let params = json!({
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": { "name": "bridge", "version": "1.0.0" },
        });
        let batches = std::mem::take(&mut self.batches);
        let response = self.request("initialize", params).await;
        self.batches = batches;
        assert_eq!(
            response["result"]["protocolVersion"], self.revision,
            "{response}"
        );
        self.notify("notifications/initialized", json!({})).await;
        self.transport.open_session_stream().await;
    }

    /// The name of a tool of its source.
    pub(super) fn tool(&self, name: &str) -> String {
        match self.all_sources {
            true => format!("{}__{name}", self.source),
            false => name.to_owned(),
        }
    }

    /// The URI of a resource of its source.
    pub(super) fn uri(&self, uri: &str) -> String {
        match self.all_sources {
            true => format!("gateway://{}/{uri}", self.source),
            false => uri.to_owned(),
        }
    }

    /// Sends a request; returns its id.
    pub(super) async fn start_request(&mut self, method: &str, params: Value) -> Value {
        let params = self.with_modern_meta(params);
        self.last += 1;
        let id = Value::from(self.last);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        match self.batches {
            false => self.transport.send(&request).await,
            true => {
                let ping = json!({ "jsonrpc": "2.0", "id": ping_of(&id), "method": "ping" });
                self.transport.send(&json!([request, ping])).await;
            }
        }
        id
    }

    /// Adds the `_meta` of a modern request.
    pub(super) fn with_modern_meta(&self, mut params: Value) -> Value {
        if self.is_modern() {
            let meta = &mut params["_meta"];
            meta[format!("{META}protocolVersion")] = MODERN.into();
            meta[format!("{META}clientCapabilities")] = self.capabilities.clone();
            meta[format!("{META}clientInfo")] = json!({ "name": "bridge", "version": "1.0.0" });
            if let Some(level) = &self.level {
                meta[format!("{META}logLevel")] = level.as_str().into();
            }
        }
        params
    }

    /// Sends a request and returns its response.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_request(method, params).await;
        self.answer(&id).await
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.transport.send(&message).await;
    }

    /// The next message other than the response to a ping of a batch.
    async fn next(&mut self) -> Value {
        if let Some(message) = self.deferred.pop_front() {
            return message;
        }
        loop {
            let message = self.transport.next().await;
            if !self.is_pong(&message) {
                return message;
            }
        }
    }

    /// Waits for the ping response of the batch of a request.
    async fn wait_for_ping(&mut self, id: &Value) {
        let request = id.to_string();
        while self.batches && !self.pongs.remove(&request) {
            let message = self.transport.next().await;
            if !self.is_pong(&message) {
                self.deferred.push_back(message);
            }
        }
    }

    /// Whether a message is the response to a ping of a batch; records it.
    fn is_pong(&mut self, message: &Value) -> bool {
        let ping = message["id"].as_str().and_then(pinged);
        let Some(request) = ping.filter(|_| message.get("method").is_none()) else {
            return false;
        };
        assert_eq!(message["result"], json!({}), "{message}");
        self.pongs.insert(request.to_owned())
    }

    /// The response to a request; skips other messages.
    pub(super) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message["id"] == *id {
                self.wait_for_ping(id).await;
                return message;
            }
            let method = message["method"].as_str().map(str::to_owned);
            self.skipped.extend(method);
        }
    }

    /// Waits for a notification, unless one was skipped since the last call.
    pub(super) async fn wait_for_notification(&mut self, method: &str) {
        if !self.skipped.remove(method) {
            self.notification(method).await;
        }
    }

    /// The next response to any request.
    pub(super) async fn response(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// The next question of the server.
    pub(super) async fn question(&mut self) -> Value {
        loop {
            let message = self.next().await;
            assert!(
                message.get("error").is_none(),
                "expected a question: {message}"
            );
            if message.get("method").is_some() && message.get("id").is_some() {
                return message;
            }
        }
    }

    /// The next notification with this method.
    pub(super) async fn notification(&mut self, method: &str) -> Value {
        self.messages_until(method)
            .await
            .pop()
            .expect("at least one message")["params"]
            .take()
    }

    /// All messages up to the next notification with this method.
    pub(super) async fn messages_until(&mut self, method: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let message = self.next().await;
            assert!(
                message.get("error").is_none(),
                "expected {method}: {message}"
            );
            let is_it = message["method"] == method;
            messages.push(message);
            if is_it {
                return messages;
            }
        }
    }
}

/// The id of the ping in the batch of a request.
fn ping_of(id: &Value) -> String {
    format!("ping-{id}")
}

/// The request of a ping.
fn pinged(id: &str) -> Option<&str> {
    id.strip_prefix("ping-")
}
