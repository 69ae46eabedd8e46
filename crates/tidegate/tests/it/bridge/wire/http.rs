//! A client over Streamable HTTP: a request for each message, and what each is answered.
//!
//! Must not know: what a message means, but for what HTTP must say of it.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use tidegate_testkit::{Client, MODERN, Request};
use tokio::sync::mpsc;

use super::reading::{Places, Reading, Stream, read_answer, read_events};

/// From this revision on, clients repeat the revision in a header.
const SAYS_REVISION: &str = "2025-06-18";

pub(super) struct Http {
    client: Client,
    revision: &'static str,
    session: Option<String>,
    /// What is being read of each request, by its id.
    requests: HashMap<String, Reading>,
    standing: Option<Reading>,
    last_events: Places,
}

impl Http {
    pub(super) fn new(client: Client, revision: &'static str) -> Self {
        Self {
            client,
            revision,
            session: None,
            requests: HashMap::new(),
            standing: None,
            last_events: Arc::default(),
        }
    }

    /// Opens the stream of what no request asked for.
    pub(super) async fn stand_by(&mut self, said: &mpsc::Sender<Value>) {
        let events = Stream::of(self.dressed(self.client.get()).send().await);
        self.standing = Some(read_events(events, said.clone(), None));
    }

    /// Goes away from one request.
    pub(super) fn leave(&mut self, id: &str) {
        self.requests.remove(id).expect("it was sent");
    }

    /// Comes back for the rest of what a request is answered.
    pub(super) async fn come_back(&mut self, id: &str, said: &mpsc::Sender<Value>) {
        let last = self.last_events.lock().unwrap()[id].clone();
        let get = self.dressed(self.client.get());
        let events = Stream::of(get.header("Last-Event-ID", &last).send().await);
        let reading = read_events(events, said.clone(), None);
        self.requests.insert(id.to_owned(), reading);
    }

    /// A request is answered while other things happen; the rest is over when it is taken.
    pub(super) async fn send(&mut self, message: &Value, said: &mpsc::Sender<Value>) {
        let request = self.request(message);
        let first = message.get(0).unwrap_or(message);
        if first["method"] == "initialize" {
            let answer = request.send().await;
            self.session = answer.header("mcp-session-id").map(str::to_owned);
            said.send(answer.message().await).await.unwrap();
        } else if first.get("method").is_some() && first.get("id").is_some() {
            let id = first["id"].to_string();
            let reading = read_answer(
                request,
                said.clone(),
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
        let request = self.dressed(self.client.post(message));
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

    fn dressed(&self, request: Request) -> Request {
        let request = match &self.session {
            Some(session) => request.header("Mcp-Session-Id", session),
            None => request,
        };
        let says = self.session.is_some() && self.revision >= SAYS_REVISION;
        match says || self.revision == MODERN {
            true => request.header("MCP-Protocol-Version", self.revision),
            false => request,
        }
    }
}
