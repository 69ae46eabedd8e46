//! A client over Streamable HTTP: one POST per message, and the responses.
//!
//! Must not know: what a message means, except for its headers.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use tidegate_testkit::{Client, MODERN, Request};
use tokio::sync::mpsc;

use super::readers::{LastEventIds, ReaderTask, read_events, read_response};

/// The first revision with the `MCP-Protocol-Version` header.
const FIRST_WITH_VERSION_HEADER: &str = "2025-06-18";

pub(super) struct Http {
    client: Client,
    revision: &'static str,
    session: Option<String>,
    /// The readers of the responses, by request id.
    requests: HashMap<String, ReaderTask>,
    session_stream: Option<ReaderTask>,
    last_events: LastEventIds,
}

impl Http {
    pub(super) fn new(client: Client, revision: &'static str) -> Self {
        Self {
            client,
            revision,
            session: None,
            requests: HashMap::new(),
            session_stream: None,
            last_events: Arc::default(),
        }
    }

    /// Opens the session's own stream.
    pub(super) async fn open_session_stream(&mut self, sender: &mpsc::Sender<Value>) {
        let events = self.with_headers(self.client.get()).send().await.events();
        self.session_stream = Some(read_events(events, sender.clone(), None));
    }

    /// Closes the stream of one request.
    pub(super) fn disconnect(&mut self, id: &str) {
        self.requests.remove(id).expect("a sent request");
    }

    /// Resumes the stream of a request.
    pub(super) async fn resume(&mut self, id: &str, sender: &mpsc::Sender<Value>) {
        let last = self.last_events.lock().unwrap()[id].clone();
        let get = self.with_headers(self.client.get());
        let events = get.header("Last-Event-ID", &last).send().await.events();
        let reading = read_events(events, sender.clone(), None);
        self.requests.insert(id.to_owned(), reading);
    }

    /// Sends a message. Responses to requests are read in the background; others are awaited.
    pub(super) async fn send(&mut self, message: &Value, sender: &mpsc::Sender<Value>) {
        let request = self.request(message);
        let first = message.get(0).unwrap_or(message);
        if first["method"] == "initialize" {
            let answer = request.send().await;
            self.session = answer.header("mcp-session-id").map(str::to_owned);
            sender.send(answer.message().await).await.unwrap();
        } else if first.get("method").is_some() && first.get("id").is_some() {
            let id = first["id"].to_string();
            let reading = read_response(
                request,
                sender.clone(),
                (id.clone(), Arc::clone(&self.last_events)),
            );
            self.requests.insert(id, reading);
        } else {
            let mut answer = request.send().await;
            let text = answer.text().await;
            assert_eq!((answer.status, text.as_str()), (202, ""), "{message}");
        }
    }

    fn request(&self, message: &Value) -> Request {
        let request = self.with_headers(self.client.post(message));
        if self.revision != MODERN {
            return request;
        }
        let request = match message["method"].as_str() {
            Some(method) => request.header("Mcp-Method", method),
            None => request,
        };
        let params = &message["params"];
        let name = params["name"].as_str().or(params["uri"].as_str());
        match name {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        }
    }

    fn with_headers(&self, request: Request) -> Request {
        let request = match &self.session {
            Some(session) => request.header("Mcp-Session-Id", session),
            None => request,
        };
        let in_session = self.session.is_some() && self.revision >= FIRST_WITH_VERSION_HEADER;
        match in_session || self.revision == MODERN {
            true => request.header("MCP-Protocol-Version", self.revision),
            false => request,
        }
    }
}
