//! Tool calls, from the request to the final response, including questions and notifications.
//!
//! Must not know: how messages are sent, or what they are about.

use serde_json::{Map, Value, json};

use super::ClientSession;

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    /// The notifications during the call.
    pub(crate) notifications_seen: Vec<Value>,
    /// The questions, as `method` and `params`.
    pub(crate) questions: Vec<Value>,
    /// The response, with a `result` or an `error`.
    pub(crate) answer: Value,
}

impl CallOutcome {
    /// The text of a successful result.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        let result = &self.answer["result"];
        let is_good = result.is_object() && result["isError"] != true;
        assert!(is_good, "{self:?}");
        result["content"][0]["text"].as_str().unwrap()
    }

    /// Whether it failed, with an error or a tool error.
    pub(crate) fn failed(&self) -> bool {
        self.answer.get("error").is_some() || self.answer["result"]["isError"] == true
    }

    /// The params of the notifications with this method.
    pub(crate) fn notifications(&self, method: &str) -> Vec<&Value> {
        let of_it = self.notifications_seen.iter();
        of_it
            .filter(|notice| notice["method"] == method)
            .map(|notice| &notice["params"])
            .collect()
    }
}

/// The questions of a result that requires input, by key.
pub(crate) fn input_requests(message: &Value) -> Vec<(String, Value)> {
    let asked = message["result"]["inputRequests"].as_object();
    let asked = asked.unwrap_or_else(|| panic!("no input required: {message}"));
    asked
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Adds the answers and the state of the previous result to the params of a request.
pub(crate) fn add_answers(params: &mut Value, before: &Value, answers: Map<String, Value>) {
    params["inputResponses"] = answers.into();
    if let Some(state) = before["result"].get("requestState") {
        params["requestState"] = state.clone();
    }
}

impl ClientSession {
    /// Starts a tool call; returns the id of the request.
    pub(crate) async fn start_call(&mut self, tool: &str, arguments: Value) -> Value {
        let token = format!("token-{}", self.last + 1);
        let params = json!({
            "name": self.tool(tool), "arguments": arguments, "_meta": { "progressToken": token },
        });
        self.start_request("tools/call", params).await
    }

    /// Calls a tool that asks no questions.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> CallOutcome {
        self.call_answering(tool, arguments, 1, |question| {
            unreachable!("unexpected question: {question}")
        })
        .await
    }

    /// Calls a tool and answers its questions, `at_once` together.
    pub(crate) async fn call_answering(
        &mut self,
        tool: &str,
        arguments: Value,
        at_once: usize,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> CallOutcome {
        let name = self.tool(tool);
        let mut notifications_seen = Vec::new();
        let mut questions = Vec::new();
        let mut open = Vec::new();
        let mut id = self.start_call(tool, arguments.clone()).await;
        loop {
            let message = self.next().await;
            if message.get("method").is_some() {
                if message.get("id").is_none() {
                    notifications_seen.push(message);
                    continue;
                }
                open.push(message.clone());
                questions.push(message);
                if open.len() == at_once {
                    for question in open.drain(..) {
                        let answers = answer(&question);
                        self.answer_question(&question["id"], answers).await;
                    }
                }
            } else if message["id"] == id {
                if message["result"]["resultType"] != "input_required" {
                    self.wait_for_ping(&id).await;
                    return CallOutcome {
                        notifications_seen,
                        questions,
                        answer: message,
                    };
                }
                let asked = input_requests(&message);
                assert!(asked.len() <= at_once, "{message}");
                let mut answers = Map::new();
                for (key, question) in asked {
                    answers.insert(key, answer(&question));
                    questions.push(question);
                }
                let mut params = json!({ "name": name, "arguments": arguments });
                add_answers(&mut params, &message, answers);
                id = self.start_request("tools/call", params).await;
            }
        }
    }

    /// Answers a question with a result, or with an error if the value has a `code`.
    pub(crate) async fn answer_question(&mut self, id: &Value, answers: Value) {
        let member = if answers.get("code").is_some() {
            "error"
        } else {
            "result"
        };
        let answer = json!({ "jsonrpc": "2.0", "id": id, member: answers });
        match self.batches {
            true => self.transport.send(&json!([answer])).await,
            false => self.transport.send(&answer).await,
        }
    }
}
