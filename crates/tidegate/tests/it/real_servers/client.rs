//! A client of either era over any transport that answers questions.
//!
//! Must not know: which server it is connected to, and whether through a gateway.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::transport::Transport;
use crate::support::messages::{LEGACY, MODERN, notification, request};

/// The era of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake.
    Legacy,
    /// Modern.
    Modern,
}

/// The capabilities of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientCapabilities {
    None,
    /// Elicitation, sampling and roots.
    All,
}

/// A connected client.
pub(super) struct Client {
    transport: Box<dyn Transport>,
    pub(super) era: Era,
    capabilities: ClientCapabilities,
    roots: Value,
    name: &'static str,
    last: u64,
    /// Notifications that do not belong to a request.
    notifications: VecDeque<Value>,
}

/// One request and everything received for it.
pub(super) struct Exchange {
    /// The notifications and questions before the response, in order.
    pub(super) before_response: Vec<Value>,
    /// The result or the error.
    pub(super) answer: Value,
}

impl Client {
    pub(super) fn new(
        transport: Box<dyn Transport>,
        era: Era,
        capabilities: ClientCapabilities,
    ) -> Self {
        Self {
            transport,
            era,
            capabilities,
            roots: json!([]),
            name: "it",
            last: 0,
            notifications: VecDeque::new(),
        }
    }

    pub(super) fn with_roots(mut self, roots: Value) -> Self {
        self.roots = roots;
        self
    }

    /// Clients with different names are different clients, also without sessions.
    pub(super) fn with_name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// `initialize` or `server/discover`, depending on the era.
    pub(super) fn open(&mut self) -> Exchange {
        if self.era == Era::Modern {
            return self.request("server/discover", json!({}));
        }
        let hello = json!({
            "protocolVersion": LEGACY[3],
            "capabilities": self.capabilities(),
            "clientInfo": { "name": self.name, "version": "1.0.0" },
        });
        let exchange = self.request("initialize", hello);
        self.transport
            .send(&notification("notifications/initialized"));
        exchange
    }

    /// Sends a request without waiting for its response.
    pub(super) fn send_request(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let message = request(self.last, method, &self.complete(params));
        self.transport.send(&message);
        self.last
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Exchange {
        let id = self.send_request(method, params);
        let mut before_response = Vec::new();
        loop {
            let message = self.transport.receive();
            match message["method"].as_str() {
                None if message["id"] == id => {
                    let answer = without_envelope(message);
                    return Exchange {
                        before_response,
                        answer,
                    };
                }
                None => panic!("unexpected response: {message}"),
                Some(_) if !message["id"].is_null() => {
                    self.answer(&message);
                    before_response.push(without_envelope(message));
                }
                Some("notifications/progress" | "notifications/message") => {
                    before_response.push(without_envelope(message));
                }
                Some(_) => self.notifications.push_back(without_envelope(message)),
            }
        }
    }

    /// Waits for a notification with this method that does not belong to a request.
    pub(super) fn notification(&mut self, method: &str) -> Value {
        loop {
            let known = self
                .notifications
                .iter()
                .position(|notification| notification["method"] == method);
            if let Some(at) = known {
                return self.notifications.remove(at).unwrap();
            }
            let message = self.transport.receive();
            if message["id"].is_null() {
                self.notifications.push_back(without_envelope(message));
            } else {
                self.answer(&message);
            }
        }
    }

    /// Discards the notifications received so far.
    pub(super) fn forget(&mut self) {
        self.notifications.clear();
    }

    pub(super) fn end(mut self) {
        self.transport.end();
    }

    /// Adds the `_meta` of this era.
    fn complete(&self, mut params: Value) -> Value {
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities();
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": self.name, "version": "1.0.0" });
        }
        params
    }

    fn capabilities(&self) -> Value {
        match self.capabilities {
            ClientCapabilities::None => json!({}),
            ClientCapabilities::All => json!({
                "elicitation": { "form": {}, "url": {} },
                "sampling": {},
                "roots": {},
            }),
        }
    }

    fn answer(&mut self, question: &Value) {
        let result = self.answer_to(question);
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        self.transport.send(&answer);
    }

    /// The result of a question.
    pub(super) fn answer_to(&self, question: &Value) -> Value {
        match question["method"].as_str() {
            Some("elicitation/create") => accept(&question["params"]),
            Some("sampling/createMessage") => json!({
                "role": "assistant", "model": "oracle", "stopReason": "endTurn",
                "content": { "type": "text", "text": "the tide turns" },
            }),
            Some("roots/list") => json!({ "roots": self.roots }),
            Some("ping") => json!({}),
            _ => panic!("unknown question: {question}"),
        }
    }
}

/// The user's answer to an elicitation.
fn accept(question: &Value) -> Value {
    match question["mode"].as_str() {
        Some("url") => json!({ "action": "accept" }),
        _ => json!({ "action": "accept", "content": { "name": "Ada" } }),
    }
}

/// A message without its envelope.
fn without_envelope(mut message: Value) -> Value {
    let members = message.as_object_mut().unwrap();
    members.remove("jsonrpc");
    members.remove("id");
    message
}
