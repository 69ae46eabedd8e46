//! A client of either era that answers questions.
//!
//! Must not know: scenarios.

use serde_json::{Value, json};
use tidegate_mcp::revision::meta_keys;

use super::answers::{answer, continuation_params};
use super::headers::parameter_headers;
use crate::{Client, MODERN, Session};

/// Limit on rounds of one call.
const MAX_ROUNDS: usize = 10;

/// Limit on pages of one list.
const MAX_PAGES: usize = 100;

pub(super) enum DriverClient {
    Session(Session),
    Modern(Client),
}

impl DriverClient {
    /// A client of this revision. A session declares these capabilities; a modern client all.
    pub(super) async fn new(client: &Client, revision: &str, capabilities: Value) -> Self {
        if revision == MODERN {
            Self::Modern(client.clone())
        } else {
            Self::Session(client.initialize_with(revision, &capabilities).await)
        }
    }

    /// All entries of a list: `tools`, `prompts` or `resources`.
    pub(super) async fn list(&self, list: &str) -> Vec<Value> {
        let (mut entries, mut params) = (Vec::new(), json!({}));
        for _ in 0..MAX_PAGES {
            let result = self.request(&format!("{list}/list"), params).await;
            entries.extend(result[list].as_array().expect("a list").iter().cloned());
            match result.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return entries,
            }
        }
        panic!("the list of {list} has more than {MAX_PAGES} pages");
    }

    /// Calls a tool by its definition and answers its questions.
    pub(super) async fn call(&self, tool: &Value, arguments: Value) -> Value {
        let headers = parameter_headers(&tool["inputSchema"], &arguments);
        let params = json!({ "name": tool["name"], "arguments": arguments });
        self.rounds("tools/call", params, &headers).await
    }

    /// The result of a request. Answers questions; panics on an error.
    pub(super) async fn request(&self, method: &str, params: Value) -> Value {
        self.rounds(method, params, &[]).await
    }

    async fn rounds(&self, method: &str, mut params: Value, headers: &[(String, String)]) -> Value {
        for _ in 0..MAX_ROUNDS {
            let result = self.exchange_once(method, &params, headers).await;
            match continuation_params(&params, &result) {
                Some(next) => params = next,
                None => return result,
            }
        }
        panic!("{method} is not complete after {MAX_ROUNDS} rounds");
    }

    /// The result of one exchange.
    pub(super) async fn exchange_once(
        &self,
        method: &str,
        params: &Value,
        headers: &[(String, String)],
    ) -> Value {
        let message = match self {
            Self::Session(session) => exchange(session, method, params).await,
            Self::Modern(client) => {
                let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
                let mut request = client
                    .modern(method, params.clone())
                    .meta(meta_keys::CLIENT_CAPABILITIES, capabilities);
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                request.message().await
            }
        };
        let result = message.get("result").cloned();
        result.unwrap_or_else(|| panic!("{method} failed: {message}"))
    }
}

/// Sends one request of a session and answers the questions that come before its response.
async fn exchange(session: &Session, method: &str, params: &Value) -> Value {
    let sent = session.request(method, params.clone()).send().await;
    if !sent.is_stream() {
        return sent.json().await;
    }
    let mut events = sent.events();
    loop {
        let message = events.message().await;
        match (message.get("method"), message.get("id")) {
            (None, _) => return message,
            (Some(_), None) => {}
            (Some(_), Some(id)) => {
                let result = answer(&message);
                let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                assert_eq!(session.post(&body).send().await.status, 202, "{body}");
            }
        }
    }
}
