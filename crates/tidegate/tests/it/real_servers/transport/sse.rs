//! HTTP+SSE: one event stream, and an endpoint for POSTs.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::{Transport, forward, next};
use crate::support::{Events, Post};

/// A connection to an address.
pub(crate) struct SseTransport {
    address: SocketAddr,
    endpoint: String,
    receiver: Receiver<Value>,
}

impl SseTransport {
    pub(crate) fn to(address: SocketAddr, path: &str) -> Self {
        let get = Post::to(address, path).method("GET");
        let mut events = Events::of(get.header("Accept", "text/event-stream").open(b""));
        let endpoint = events.next_data().unwrap();
        let (sender, receiver) = channel();
        forward(events, sender);
        Self {
            address,
            endpoint,
            receiver,
        }
    }
}

impl Transport for SseTransport {
    fn send(&mut self, message: &Value) {
        let post = Post::to(self.address, &self.endpoint);
        let post = post.header("Content-Type", "application/json");
        let answer = post.send(message.to_string().as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    fn receive(&mut self) -> Value {
        next(&self.receiver)
    }
}
