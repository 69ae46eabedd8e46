//! A client in the middle of a conversation: it calls, is asked, answers, and hears.
//!
//! Must not know: how messages travel, or what they are about.

use serde_json::{Map, Value, json};
use tidegate_testkit::MODERN;

use super::wire::Wire;

const META: &str = "io.modelcontextprotocol/";

/// A client of a gateway, before one source.
pub(super) struct Peer {
    pub(super) wire: Wire,
    pub(super) revision: &'static str,
    pub(super) capabilities: Value,
    /// The source it means, and whether it sees others too.
    pub(super) source: String,
    pub(super) sees_all: bool,
    pub(super) batches: bool,
    level: Option<String>,
    last: u64,
}

/// How a call went.
#[derive(Debug)]
pub(super) struct Went {
    /// What was said meanwhile.
    pub(super) notices: Vec<Value>,
    /// What was asked, as `method` and `params`.
    pub(super) questions: Vec<Value>,
    /// The answer: with a `result` or an `error`.
    pub(super) answer: Value,
}

impl Went {
    /// The text of the result, which must be a good one.
    #[track_caller]
    pub(super) fn text(&self) -> &str {
        let result = &self.answer["result"];
        let is_good = result.is_object() && result["isError"] != true;
        assert!(is_good, "{self:?}");
        result["content"][0]["text"].as_str().unwrap()
    }

    /// Whether it failed, by an error or by a result that says so.
    pub(super) fn failed(&self) -> bool {
        self.answer.get("error").is_some() || self.answer["result"]["isError"] == true
    }
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
                let ping =
                    json!({ "jsonrpc": "2.0", "id": format!("ping-{id}"), "method": "ping" });
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

    /// Says from which level on it wants to hear of what is logged.
    pub(super) async fn log_level(&mut self, level: &str) {
        self.level = Some(level.to_owned());
        if !self.is_modern() {
            let set = self
                .request("logging/setLevel", json!({ "level": level }))
                .await;
            assert_eq!(set["result"], json!({}), "{set}");
        }
    }

    /// Wants to hear of the changes of a resource.
    pub(super) async fn watch(&mut self, uri: &str) {
        if self.is_modern() {
            self.listen(json!({ "resourceSubscriptions": [uri] })).await;
        } else {
            let done = self
                .request("resources/subscribe", json!({ "uri": uri }))
                .await;
            assert_eq!(done["result"], json!({}), "{done}");
        }
    }

    /// Wants to hear of changes of the list of tools, which a client with a session does anyway.
    pub(super) async fn listen_for_tools(&mut self) {
        if self.is_modern() {
            self.listen(json!({ "toolsListChanged": true })).await;
        }
    }

    async fn listen(&mut self, wanted: Value) {
        self.begin("subscriptions/listen", json!({ "notifications": wanted }))
            .await;
        let agreed = self.hear("notifications/subscriptions/acknowledged").await;
        assert_eq!(agreed["notifications"], wanted, "{agreed}");
    }

    /// The names of all tools.
    pub(super) async fn tools(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.request("tools/list", params).await;
            let tools = page["result"]["tools"].as_array().expect("a list");
            names.extend(
                tools
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap().to_owned()),
            );
            match page["result"].get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return names,
            }
        }
    }

    /// The next question of the server.
    pub(super) async fn question(&mut self) -> Value {
        loop {
            let message = self.wire.next().await;
            assert!(
                message.get("error").is_none(),
                "before a question: {message}"
            );
            if message.get("method").is_some() && message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Begins to call a tool; gives the id of the request.
    pub(super) async fn begin_call(&mut self, tool: &str, arguments: Value) -> Value {
        let token = format!("token-{}", self.last + 1);
        let params = json!({
            "name": self.tool(tool), "arguments": arguments, "_meta": { "progressToken": token },
        });
        self.begin("tools/call", params).await
    }

    /// Sends a request and gives its answer.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(&id).await
    }

    /// The answer to a request; whatever else comes is passed over.
    pub(super) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.wire.next().await;
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
        }
    }

    /// The next answer to anything.
    pub(super) async fn response(&mut self) -> Value {
        loop {
            let message = self.wire.next().await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// The next notification of a method.
    pub(super) async fn hear(&mut self, method: &str) -> Value {
        loop {
            let message = self.wire.next().await;
            assert!(
                message.get("error").is_none(),
                "before a {method}: {message}"
            );
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.wire.send(&message).await;
    }

    /// Calls a tool that asks nothing.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Went {
        self.call_answering(tool, arguments, 1, |_| unreachable!("it asks nothing"))
            .await
    }

    /// Calls a tool and answers what it asks, `at_once` questions together; one for which there is no
    /// answer is left open.
    pub(super) async fn call_answering(
        &mut self,
        tool: &str,
        arguments: Value,
        at_once: usize,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> Went {
        let name = self.tool(tool);
        let mut notices = Vec::new();
        let mut questions = Vec::new();
        let mut open = Vec::new();
        let mut id = self.begin_call(tool, arguments.clone()).await;
        loop {
            let message = self.wire.next().await;
            if message.get("method").is_some() {
                match message.get("id") {
                    None => notices.push(message),
                    Some(_) => {
                        open.push(message.clone());
                        questions.push(message);
                        if open.len() == at_once {
                            for question in open.drain(..) {
                                let told = answer(&question);
                                self.tell(&question["id"], told).await;
                            }
                        }
                    }
                }
            } else if message["id"] == id {
                if message["result"]["resultType"] != "input_required" {
                    return Went {
                        notices,
                        questions,
                        answer: message,
                    };
                }
                let asked = asked(&message);
                assert!(asked.len() <= at_once, "{message}");
                let mut told = Map::new();
                for (key, question) in asked {
                    told.insert(key, answer(&question));
                    questions.push(question);
                }
                let mut params = json!({ "name": name, "arguments": arguments });
                go_on(&mut params, &message, told);
                id = self.begin("tools/call", params).await;
            }
        }
    }

    /// Answers a question of the server: with a result, or with an error if that is what it is.
    pub(super) async fn tell(&mut self, id: &Value, told: Value) {
        let member = if told.get("code").is_some() {
            "error"
        } else {
            "result"
        };
        let answer = json!({ "jsonrpc": "2.0", "id": id, member: told });
        match self.batches {
            true => self.wire.send(&json!([answer])).await,
            false => self.wire.send(&answer).await,
        }
    }
}

/// The questions of a result that asks, by their keys.
pub(super) fn asked(message: &Value) -> Vec<(String, Value)> {
    let asked = message["result"]["inputRequests"].as_object().unwrap();
    asked
        .iter()
        .map(|(key, one)| (key.clone(), one.clone()))
        .collect()
}

/// Adds to the params of a request what the answer to the one before wants.
pub(super) fn go_on(params: &mut Value, before: &Value, told: Map<String, Value>) {
    params["inputResponses"] = told.into();
    if let Some(state) = before["result"].get("requestState") {
        params["requestState"] = state.clone();
    }
}
