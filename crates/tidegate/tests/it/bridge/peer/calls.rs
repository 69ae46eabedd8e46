//! Calls of tools, from the request to the last answer, with all that is asked and said on the way.
//!
//! Must not know: how messages travel, or what they are about.

use serde_json::{Map, Value, json};

use super::Peer;

/// How a call went.
#[derive(Debug)]
pub(crate) struct Went {
    /// What was said meanwhile.
    pub(crate) notices: Vec<Value>,
    /// What was asked, as `method` and `params`.
    pub(crate) questions: Vec<Value>,
    /// The answer: with a `result` or an `error`.
    pub(crate) answer: Value,
}

impl Went {
    /// The text of the result, which must be a good one.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        let result = &self.answer["result"];
        let is_good = result.is_object() && result["isError"] != true;
        assert!(is_good, "{self:?}");
        result["content"][0]["text"].as_str().unwrap()
    }

    /// Whether it failed, by an error or by a result that says so.
    pub(crate) fn failed(&self) -> bool {
        self.answer.get("error").is_some() || self.answer["result"]["isError"] == true
    }

    /// What was said meanwhile by notifications of a method.
    pub(crate) fn heard(&self, method: &str) -> Vec<&Value> {
        let of_it = self.notices.iter();
        of_it
            .filter(|notice| notice["method"] == method)
            .map(|notice| &notice["params"])
            .collect()
    }
}

/// The questions of a result that asks, by their keys.
pub(crate) fn asked(message: &Value) -> Vec<(String, Value)> {
    let asked = message["result"]["inputRequests"].as_object();
    let asked = asked.unwrap_or_else(|| panic!("it asks nothing: {message}"));
    asked
        .iter()
        .map(|(key, one)| (key.clone(), one.clone()))
        .collect()
}

/// Adds to the params of a request what the answer to the one before wants.
pub(crate) fn go_on(params: &mut Value, before: &Value, told: Map<String, Value>) {
    params["inputResponses"] = told.into();
    if let Some(state) = before["result"].get("requestState") {
        params["requestState"] = state.clone();
    }
}

impl Peer {
    /// Begins to call a tool; gives the id of the request.
    pub(crate) async fn begin_call(&mut self, tool: &str, arguments: Value) -> Value {
        let token = format!("token-{}", self.last + 1);
        let params = json!({
            "name": self.tool(tool), "arguments": arguments, "_meta": { "progressToken": token },
        });
        self.begin("tools/call", params).await
    }

    /// Calls a tool that asks nothing.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Went {
        self.call_answering(tool, arguments, 1, |question| {
            unreachable!("it asks nothing: {question}")
        })
        .await
    }

    /// Calls a tool and answers what it asks, `at_once` questions together; one for which there is no
    /// answer is left open.
    pub(crate) async fn call_answering(
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
            let message = self.next().await;
            if message.get("method").is_some() {
                if message.get("id").is_none() {
                    notices.push(message);
                    continue;
                }
                open.push(message.clone());
                questions.push(message);
                if open.len() == at_once {
                    for question in open.drain(..) {
                        let told = answer(&question);
                        self.tell(&question["id"], told).await;
                    }
                }
            } else if message["id"] == id {
                if message["result"]["resultType"] != "input_required" {
                    self.pong(&id).await;
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
    pub(crate) async fn tell(&mut self, id: &Value, told: Value) {
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
