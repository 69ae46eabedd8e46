//! The HTTP+SSE transport: an event stream, and an endpoint for POSTs.

use std::net::SocketAddr;

use serde_json::Value;

use super::{Events, Post};

/// The endpoint that the event stream of a connection announced.
pub(crate) struct SseEndpoint {
    address: SocketAddr,
    path: String,
}

impl SseEndpoint {
    /// Opens a connection; returns its endpoint and its event stream.
    pub(crate) fn open(address: SocketAddr, path: &str) -> (Self, Events) {
        let get = Post::to(address, path).method("GET");
        let mut events = Events::of(get.header("Accept", "text/event-stream").open(b""));
        let path = events.next_data().unwrap();
        (Self { address, path }, events)
    }

    pub(crate) fn send(&self, message: &Value) {
        let post = Post::to(self.address, &self.path);
        let post = post.header("Content-Type", "application/json");
        let answer = post.send(message.to_string().as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
    }
}
