//! HTTP as of today: each message is a POST, and its answer is JSON or a stream.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use super::{Wire, next, pour};
use crate::support::http::Open;
use crate::support::{Events, Post};

/// A server by its address.
pub(crate) struct Http {
    address: SocketAddr,
    path: String,
    /// The session, once there is one, and its revision.
    session: Option<(String, String)>,
    came: Sender<Value>,
    coming: Receiver<Value>,
}

impl Http {
    pub(crate) fn to(address: SocketAddr, path: &str) -> Self {
        let (came, coming) = channel();
        Self {
            address,
            path: path.to_owned(),
            session: None,
            came,
            coming,
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

    /// A stateless request repeats parts of its body in its headers.
    fn post_of(&self, message: &Value) -> Post {
        let post = self.post().usual();
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

    /// What a handshake is answered with opens the session, and its own stream.
    fn enter(&mut self, id: &str, hello: &Value) {
        let revision = hello["result"]["protocolVersion"].as_str().unwrap();
        self.session = Some((id.to_owned(), revision.to_owned()));
    }

    fn listen(&self) {
        let get = self.post().method("GET");
        let stream = get.header("Accept", "text/event-stream").open(b"");
        // A server need not have one.
        if stream.status == 200 {
            pour(Events::of(stream), self.came.clone());
        }
    }

    fn take(&self, answer: Open) {
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        if kind.starts_with("text/event-stream") {
            pour(Events::of(answer), self.came.clone());
        } else if answer.status != 202 {
            self.came.send(answer.answer().json()).unwrap();
        }
    }
}

impl Wire for Http {
    fn say(&mut self, message: &Value) {
        let body = message.to_string();
        let answer = self.post_of(message).open(body.as_bytes());
        let session = answer.header("mcp-session-id").map(str::to_owned);
        self.take(answer);
        match (message["method"].as_str(), session) {
            (Some("initialize"), Some(id)) => {
                let hello = next(&self.coming);
                self.enter(&id, &hello);
                self.came.send(hello).unwrap();
            }
            (Some("notifications/initialized"), _) => self.listen(),
            _ => {}
        }
    }

    fn hear(&mut self) -> Value {
        next(&self.coming)
    }

    fn end(&mut self) {
        if self.session.is_some() {
            let answer = self.post().method("DELETE").send(b"");
            assert!((200..300).contains(&answer.status), "{answer:?}");
        }
    }
}
