//! Runs a script against a server, directly or through the gateway, and records the responses.
//!
//! Must not know: which responses are correct. Two records are compared elsewhere.

use serde_json::{Value, json};

use super::client::{Client, Era, Exchange};
use super::names::Names;

/// Suffix of a step whose result asks questions.
pub(super) const ROUND: &str = ", questions";

/// Runs a script.
pub(super) struct Recorder {
    client: Client,
    names: Names,
    pub(super) record: Vec<Entry>,
}

/// A step and its outcome.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) step: String,
    pub(super) outcome: Value,
}

impl Recorder {
    pub(super) fn new(client: Client, names: Names) -> Self {
        let mut recorder = Self {
            client,
            names,
            record: Vec::new(),
        };
        let opened = recorder.client.open();
        recorder.record_exchange("open", opened);
        recorder
    }

    pub(super) fn is_modern(&self) -> bool {
        self.client.era == Era::Modern
    }

    /// Records all lists and returns their entries.
    pub(super) fn lists(&mut self) -> [Vec<Value>; 4] {
        [
            self.list("tools/list", "tools"),
            self.list("prompts/list", "prompts"),
            self.list("resources/list", "resources"),
            self.list("resources/templates/list", "resourceTemplates"),
        ]
    }

    /// One list with all its pages.
    fn list(&mut self, method: &str, member: &str) -> Vec<Value> {
        let mut whole = self.client.request(method, json!({})).answer;
        let at = format!("/result/{member}");
        let mut entries = Vec::new();
        for page_number in 0.. {
            assert!(page_number < 100, "{method} has more than 100 pages");
            let page = whole.pointer_mut(&at).and_then(Value::as_array_mut);
            entries.append(page.unwrap_or(&mut Vec::new()));
            let Some(cursor) = whole["result"]["nextCursor"].as_str() else {
                break;
            };
            let params = json!({ "cursor": cursor });
            whole = self.client.request(method, params).answer;
        }
        self.names.own(member, &mut entries);
        if let Some(list) = whole.pointer_mut(&at) {
            *list = entries.clone().into();
        }
        self.write(method, whole);
        entries
    }

    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.call_with(tool, arguments, json!({}))
    }

    /// A call with progress.
    pub(super) fn call_with_progress(&mut self, tool: &str, arguments: Value) -> Value {
        let meta = json!({ "progressToken": "how far" });
        self.call_with(tool, arguments, meta)
    }

    /// A call with log messages of this level and above.
    pub(super) fn call_with_logs(&mut self, tool: &str, arguments: Value, level: &str) -> Value {
        if self.is_modern() {
            let meta = json!({ "io.modelcontextprotocol/logLevel": level });
            return self.call_with(tool, arguments, meta);
        }
        self.ask("logging/setLevel", &json!({ "level": level }));
        self.call(tool, arguments)
    }

    fn call_with(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        let step = format!("call {tool} {arguments}");
        let mut params = json!({ "name": self.names.tool(tool) });
        params["arguments"] = arguments;
        params["_meta"] = meta;
        self.step(&step, "tools/call", &params)
    }

    /// A modern server asks in its result: the request is repeated with the answers.
    fn answer_rounds(
        &mut self,
        exchange: Exchange,
        step: &str,
        method: &str,
        params: &Value,
    ) -> Exchange {
        let result = &exchange.answer["result"];
        if result["resultType"] != "input_required" {
            return exchange;
        }
        let mut again = params.clone();
        again["requestState"] = result["requestState"].clone();
        for (key, question) in result["inputRequests"].as_object().unwrap() {
            again["inputResponses"][key] = self.client.answer_to(question);
        }
        self.record_exchange(&format!("{step}{ROUND}"), exchange);
        self.client.request(method, again)
    }

    pub(super) fn read(&mut self, uri: &str) -> Value {
        let params = json!({ "uri": self.names.uri(uri) });
        self.step(&format!("read {uri}"), "resources/read", &params)
    }

    pub(super) fn get(&mut self, prompt: &str, arguments: Value) -> Value {
        let step = format!("get {prompt} {arguments}");
        let mut get = json!({ "name": self.names.prompt(prompt) });
        get["arguments"] = arguments;
        self.step(&step, "prompts/get", &get)
    }

    /// Completes an argument of a prompt, given others.
    pub(super) fn complete_prompt(&mut self, prompt: &str, argument: [&str; 2], known: Value) {
        let step = format!("complete {prompt} {argument:?} {known}");
        let [name, value] = argument;
        let mut complete = json!({
            "ref": { "type": "ref/prompt", "name": self.names.prompt(prompt) },
            "argument": { "name": name, "value": value },
        });
        complete["context"]["arguments"] = known;
        self.step(&step, "completion/complete", &complete);
    }

    /// Completes a variable of a template.
    pub(super) fn complete_template(&mut self, template: &str, [name, value]: [&str; 2]) {
        let step = format!("complete {template} {name} {value}");
        let complete = json!({
            "ref": { "type": "ref/resource", "uri": self.names.uri(template) },
            "argument": { "name": name, "value": value },
        });
        self.step(&step, "completion/complete", &complete);
    }

    pub(super) fn subscribe(&mut self, uri: &str) {
        self.subscription("resources/subscribe", uri);
    }

    pub(super) fn unsubscribe(&mut self, uri: &str) {
        self.subscription("resources/unsubscribe", uri);
    }

    fn subscription(&mut self, method: &str, uri: &str) {
        let params = json!({ "uri": self.names.uri(uri) });
        self.step(&format!("{method} {uri}"), method, &params);
    }

    /// Sends a request without names.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.step(method, method, params)
    }

    /// Waits for a notification and records it.
    pub(super) fn notification(&mut self, method: &str) {
        let mut notification = self.client.notification(method);
        self.names.own_uris(&mut notification);
        self.write(&format!("notification {method}"), notification);
    }

    /// Discards the notifications received so far.
    pub(super) fn forget(&mut self) {
        self.client.forget();
    }

    /// Removes the last step, whose outcome depends on timing.
    pub(super) fn discard_last_step(&mut self) {
        self.record.pop();
    }

    pub(super) fn end(self) -> Vec<Entry> {
        self.client.end();
        self.record
    }

    fn step(&mut self, step: &str, method: &str, params: &Value) -> Value {
        let exchange = self.client.request(method, params.clone());
        let exchange = self.answer_rounds(exchange, step, method, params);
        self.record_exchange(step, exchange)
    }

    /// Records a step with the server's own names and returns its response.
    fn record_exchange(&mut self, step: &str, exchange: Exchange) -> Value {
        let mut outcome = exchange.answer;
        if !exchange.before_response.is_empty() {
            outcome["beforeResponse"] = exchange.before_response.into();
        }
        self.names.own_uris(&mut outcome);
        self.write(step, outcome.clone());
        outcome
    }

    fn write(&mut self, step: &str, outcome: Value) {
        let step = step.to_owned();
        self.record.push(Entry { step, outcome });
    }
}
