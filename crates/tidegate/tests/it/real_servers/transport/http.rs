//! Streamable HTTP: each message is a POST, whose response is JSON or an event stream.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use super::{Transport, forward, next};
use crate::support::http::OpenResponse;
use crate::support::{Events, Post};

/// A connection to an address.
pub(crate) struct Http {
    address: SocketAddr,
    path: String,
    /// The session id and its revision.
    session: Option<(String, String)>,
    sender: Sender<Value>,
    receiver: Receiver<Value>,
}

impl Http {
    pub(crate) fn to(address: SocketAddr, path: &str) -> Self {
        let (sender, receiver) = channel();
        Self {
            address,
            path: path.to_owned(),
            session: None,
            sender,
            receiver,
        }
    }

    fn post(&self) -> Post {
        let post = Post::to(self.address, &self.path);
        match &self.session {
            None => post,
            Some((id, revision)) => post
                .header("Mcp-Session-Id", id)
                .header("MCP-Protocol-Version", revision),
        }
    }

    /// A modern request repeats parts of its body in its headers.
    fn post_of(&self, message: &Value) -> Post {
        let post = self.post().with_mcp_headers();
        let params = &message["params"];
        let revision = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let (Some(revision), Some(method)) = (revision.as_str(), message["method"].as_str()) else {
            return post;
        };
        let post = post
            .header("MCP-Protocol-Version", revision)
            .header("Mcp-Method", method);
        match params["name"].as_str().or(params["uri"].as_str()) {
            Some(name) => post.header("Mcp-Name", name),
            None => post,
        }
    }

    /// Stores the session of a handshake.
    fn enter(&mut self, id: &str, response: &Value) {
        let revision = response["result"]["protocolVersion"].as_str().unwrap();
        self.session = Some((id.to_owned(), revision.to_owned()));
    }

    fn listen(&self) {
        let get = self.post().method("GET");
        let stream = get.header("Accept", "text/event-stream").open(b"");
        // The stream is optional.
        if stream.status == 200 {
            forward(Events::of(stream), self.sender.clone());
        }
    }

    fn take(&self, answer: OpenResponse) {
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        if kind.starts_with("text/event-stream") {
            forward(Events::of(answer), self.sender.clone());
        } else if answer.status != 202 {
            self.sender.send(answer.answer().json()).unwrap();
        }
    }
}

impl Transport for Http {
    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let answer = self.post_of(message).open(body.as_bytes());
        let session = answer.header("mcp-session-id").map(str::to_owned);
        self.take(answer);
        match (message["method"].as_str(), session) {
            (Some("initialize"), Some(id)) => {
                let response = next(&self.receiver);
                self.enter(&id, &response);
                self.sender.send(response).unwrap();
            }
            (Some("notifications/initialized"), _) => self.listen(),
            _ => {}
        }
    }

    fn receive(&mut self) -> Value {
        next(&self.receiver)
    }

    fn end(&mut self) {
        if self.session.is_some() {
            let answer = self.post().method("DELETE").send(b"");
            assert!((200..300).contains(&answer.status), "{answer:?}");
        }
    }
}
