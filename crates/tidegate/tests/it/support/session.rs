//! A legacy session over HTTP.

use std::cell::Cell;
use std::net::SocketAddr;

use serde_json::{Value, json};

use super::messages::{handshake, notification, request};
use super::{Answer, Events, Post};

/// The first revision with the `MCP-Protocol-Version` header.
const FIRST_WITH_VERSION_HEADER: &str = "2025-06-18";

/// An open session.
pub(crate) struct Session {
    address: SocketAddr,
    path: String,
    revision: String,
    id: String,
    key: Option<String>,
    last_id: Cell<u64>,
}

impl Session {
    pub(crate) fn open(address: SocketAddr, path: &str, revision: &str) -> Self {
        Self::open_as(address, path, revision, None)
    }

    /// As the principal with this key.
    pub(crate) fn open_as(
        address: SocketAddr,
        path: &str,
        revision: &str,
        key: Option<&str>,
    ) -> Self {
        let body = request(0, "initialize", &handshake(revision)).to_string();
        let post = with_key(Post::to(address, path), key);
        let answer = post.with_mcp_headers().send(body.as_bytes());
        assert_eq!(answer.result()["protocolVersion"], revision, "{answer:?}");
        let session = Self {
            address,
            path: path.to_owned(),
            revision: revision.to_owned(),
            id: answer.header("mcp-session-id").unwrap().to_owned(),
            last_id: Cell::new(0),
            key: key.map(str::to_owned),
        };
        let ready = notification("notifications/initialized").to_string();
        let answer = session.post().with_mcp_headers().send(ready.as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
        session
    }

    pub(crate) fn request(&self, method: &str, params: &Value) -> Answer {
        self.last_id.set(self.last_id.get() + 1);
        let body = request(self.last_id.get(), method, params).to_string();
        self.post().with_mcp_headers().send(body.as_bytes())
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        let answer = self.request("resources/subscribe", &json!({ "uri": uri }));
        assert_eq!(answer.result(), json!({}), "{uri}");
    }

    /// Opens the session's own stream.
    pub(crate) fn listen(&self) -> Events {
        let get = self.post().method("GET");
        Events::of(get.header("Accept", "text/event-stream").open(b""))
    }

    /// Ends the session with DELETE.
    pub(crate) fn end(self) {
        let answer = self.post().method("DELETE").send(b"");
        assert!((200..300).contains(&answer.status), "{answer:?}");
    }

    fn post(&self) -> Post {
        let post = Post::to(self.address, &self.path).header("Mcp-Session-Id", &self.id);
        let post = with_key(post, self.key.as_deref());
        match self.revision.as_str() >= FIRST_WITH_VERSION_HEADER {
            true => post.header("MCP-Protocol-Version", &self.revision),
            false => post,
        }
    }
}

fn with_key(post: Post, key: Option<&str>) -> Post {
    match key {
        Some(key) => post.header("Authorization", &format!("Bearer {key}")),
        None => post,
    }
}
