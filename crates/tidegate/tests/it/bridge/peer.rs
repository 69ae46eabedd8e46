//! A client in the middle of a conversation: it calls, is asked, answers, and hears.
//!
//! Must not know: how messages travel, or what they are about.

mod calls;
mod wants;

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};
use tidegate_testkit::MODERN;

use super::wire::Wire;
pub(super) use calls::{Went, asked, go_on};

const META: &str = "io.modelcontextprotocol/";

/// A client of a gateway, before one source.
pub(super) struct Peer {
    pub(super) wire: Wire,
    pub(super) revision: &'static str,
    pub(super) capabilities: Value,
    /// The source it means, and whether it sees others too.
    pub(super) source: String,
    pub(super) sees_all: bool,
    /// Whether each request travels with a ping.
    pub(super) batches: bool,
    /// The requests whose pings were answered.
    pongs: HashSet<String>,
    /// What came while something else was waited for, oldest first.
    put_off: VecDeque<Value>,
    /// The notifications that came while an answer was waited for.
    passed_over: HashSet<String>,
    level: Option<String>,
    last: u64,
}

impl Peer {
    pub(super) fn new(wire: Wire, revision: &'static str, capabilities: Value) -> Self {
        Self {
            wire,
            revision,
            capabilities,
            source: String::new(),
            sees_all: false,
            batches: false,
            pongs: HashSet::new(),
            put_off: VecDeque::new(),
            passed_over: HashSet::new(),
            level: None,
            last: 0,
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Opens a session and listens, where there are sessions.
    pub(super) async fn greet(&mut self) {
        if self.is_modern() {
            return;
        }
        let params = json!({
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": { "name": "bridge", "version": "1.0.0" },
        });
        let batches = std::mem::take(&mut self.batches);
        let hello = self.request("initialize", params).await;
        self.batches = batches;
        assert_eq!(hello["result"]["protocolVersion"], self.revision, "{hello}");
        self.notify("notifications/initialized", json!({})).await;
        self.wire.stand_by().await;
    }

    /// The name of a tool of its source.
    pub(super) fn tool(&self, name: &str) -> String {
        match self.sees_all {
            true => format!("{}__{name}", self.source),
            false => name.to_owned(),
        }
    }

    /// The URI of a resource of its source.
    pub(super) fn uri(&self, uri: &str) -> String {
        match self.sees_all {
            true => format!("gateway://{}/{uri}", self.source),
            false => uri.to_owned(),
        }
    }

    /// Sends a request; gives its id.
    pub(super) async fn begin(&mut self, method: &str, params: Value) -> Value {
        let params = self.stateless(params);
        self.last += 1;
        let id = Value::from(self.last);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        match self.batches {
            false => self.wire.send(&request).await,
            true => {
                let ping = json!({ "jsonrpc": "2.0", "id": ping_of(&id), "method": "ping" });
                self.wire.send(&json!([request, ping])).await;
            }
        }
        id
    }

    /// The same params, with what the newest revision wants of each message.
    pub(super) fn stateless(&self, mut params: Value) -> Value {
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

    /// Sends a request and gives its answer.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(&id).await
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.wire.send(&message).await;
    }

    /// The next message that is not the answer to a ping of a batch.
    async fn next(&mut self) -> Value {
        if let Some(message) = self.put_off.pop_front() {
            return message;
        }
        loop {
            let message = self.wire.next().await;
            if !self.is_pong(&message) {
                return message;
            }
        }
    }

    /// Waits for the other answer of the batch that a request travelled in.
    async fn pong(&mut self, id: &Value) {
        let request = id.to_string();
        while self.batches && !self.pongs.remove(&request) {
            let message = self.wire.next().await;
            if !self.is_pong(&message) {
                self.put_off.push_back(message);
            }
        }
    }

    /// Whether a message is the answer to a ping of a batch, which is noted.
    fn is_pong(&mut self, message: &Value) -> bool {
        let ping = message["id"].as_str().and_then(pinged);
        let Some(request) = ping.filter(|_| message.get("method").is_none()) else {
            return false;
        };
        assert_eq!(message["result"], json!({}), "{message}");
        self.pongs.insert(request.to_owned())
    }

    /// The answer to a request; whatever else comes is passed over.
    pub(super) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message["id"] == *id {
                self.pong(id).await;
                return message;
            }
            let method = message["method"].as_str().map(str::to_owned);
            self.passed_over.extend(method);
        }
    }

    /// Waits for a notification of a method, if none was passed over since this was last asked.
    pub(super) async fn has_heard(&mut self, method: &str) {
        if !self.passed_over.remove(method) {
            self.hear(method).await;
        }
    }

    /// The next answer to anything.
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
                "before a question: {message}"
            );
            if message.get("method").is_some() && message.get("id").is_some() {
                return message;
            }
        }
    }

    /// The next notification of a method.
    pub(super) async fn hear(&mut self, method: &str) -> Value {
        self.hear_until(method).await.pop().expect("it was heard")["params"].take()
    }

    /// All that is said up to the next notification of a method.
    pub(super) async fn hear_until(&mut self, method: &str) -> Vec<Value> {
        let mut heard = Vec::new();
        loop {
            let message = self.next().await;
            assert!(
                message.get("error").is_none(),
                "before a {method}: {message}"
            );
            let is_it = message["method"] == method;
            heard.push(message);
            if is_it {
                return heard;
            }
        }
    }
}

/// The id of the ping that travels with a request.
fn ping_of(id: &Value) -> String {
    format!("ping-{id}")
}

/// With which request a ping travelled.
fn pinged(id: &str) -> Option<&str> {
    id.strip_prefix("ping-")
}
