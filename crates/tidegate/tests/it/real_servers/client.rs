//! A client of either era on any wire, which answers what it is asked.
//!
//! Must not know: which server it speaks with, and whether a gateway is in between.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::wire::Wire;
use crate::support::messages::{LEGACY, MODERN, notification, request};

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake.
    Legacy,
    /// Without.
    Modern,
}

/// What a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Can {
    Nothing,
    /// For the user's word, for the model's, and for its folders.
    BeAsked,
}

/// A client in the middle of its work.
pub(super) struct Client {
    wire: Box<dyn Wire>,
    pub(super) era: Era,
    can: Can,
    roots: Value,
    last: u64,
    /// What came without belonging to a request.
    unasked: VecDeque<Value>,
}

/// One request and all that came of it.
pub(super) struct Exchange {
    /// What the server said and asked on the way, in order.
    pub(super) on_the_way: Vec<Value>,
    /// The result or the error.
    pub(super) answer: Value,
}

impl Client {
    pub(super) fn new(wire: Box<dyn Wire>, era: Era, can: Can) -> Self {
        Self {
            wire,
            era,
            can,
            roots: json!([]),
            last: 0,
            unasked: VecDeque::new(),
        }
    }

    pub(super) fn with_roots(mut self, roots: Value) -> Self {
        self.roots = roots;
        self
    }

    /// What the server says of itself: the first thing a client of either era asks for.
    pub(super) fn greet(&mut self) -> Exchange {
        if self.era == Era::Modern {
            return self.request("server/discover", json!({}));
        }
        let hello = json!({
            "protocolVersion": LEGACY[3],
            "capabilities": self.capabilities(),
            "clientInfo": { "name": "it", "version": "1.0.0" },
        });
        let exchange = self.request("initialize", hello);
        self.wire.say(&notification("notifications/initialized"));
        exchange
    }

    /// Sends a request whose answer nobody waits for.
    pub(super) fn say(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let message = request(self.last, method, &self.complete(params));
        self.wire.say(&message);
        self.last
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Exchange {
        let id = self.say(method, params);
        let mut on_the_way = Vec::new();
        loop {
            let message = self.wire.hear();
            match message["method"].as_str() {
                None if message["id"] == id => {
                    let answer = without_envelope(message);
                    return Exchange { on_the_way, answer };
                }
                None => panic!("nobody asked for {message}"),
                Some(_) if !message["id"].is_null() => {
                    self.answer(&message);
                    on_the_way.push(without_envelope(message));
                }
                Some("notifications/progress" | "notifications/message") => {
                    on_the_way.push(without_envelope(message));
                }
                Some(_) => self.unasked.push_back(without_envelope(message)),
            }
        }
    }

    /// Waits for a notification of this method that no request asked for.
    pub(super) fn hear(&mut self, method: &str) -> Value {
        loop {
            let known = self.unasked.iter().position(|one| one["method"] == method);
            if let Some(at) = known {
                return self.unasked.remove(at).unwrap();
            }
            let message = self.wire.hear();
            if message["id"].is_null() {
                self.unasked.push_back(without_envelope(message));
            } else {
                self.answer(&message);
            }
        }
    }

    /// Forgets what came without being asked for.
    pub(super) fn forget(&mut self) {
        self.unasked.clear();
    }

    pub(super) fn end(mut self) {
        self.wire.end();
    }

    /// Parameters as this era has them.
    fn complete(&self, mut params: Value) -> Value {
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities();
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "it", "version": "1.0.0" });
        }
        params
    }

    fn capabilities(&self) -> Value {
        match self.can {
            Can::Nothing => json!({}),
            Can::BeAsked => json!({
                "elicitation": { "form": {}, "url": {} },
                "sampling": {},
                "roots": {},
            }),
        }
    }

    fn answer(&mut self, question: &Value) {
        let result = match question["method"].as_str() {
            Some("elicitation/create") => accept(&question["params"]),
            Some("sampling/createMessage") => json!({
                "role": "assistant", "model": "oracle", "stopReason": "endTurn",
                "content": { "type": "text", "text": "the tide turns" },
            }),
            Some("roots/list") => json!({ "roots": self.roots }),
            Some("ping") => json!({}),
            _ => panic!("nobody can answer {question}"),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        self.wire.say(&answer);
    }
}

/// What the user says to a question.
pub(super) fn accept(question: &Value) -> Value {
    match question["mode"].as_str() {
        Some("url") => json!({ "action": "accept" }),
        _ => json!({ "action": "accept", "content": { "name": "Ada" } }),
    }
}

/// What a message says, without what only tells messages apart.
fn without_envelope(mut message: Value) -> Value {
    let members = message.as_object_mut().unwrap();
    members.remove("jsonrpc");
    members.remove("id");
    message
}
