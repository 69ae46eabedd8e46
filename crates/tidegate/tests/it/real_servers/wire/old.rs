//! The oldest HTTP transport: one stream to hear, and an endpoint to speak to.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::{Wire, next, pour};
use crate::support::{Events, Post};

/// A server by its address.
pub(crate) struct Old {
    address: SocketAddr,
    endpoint: String,
    coming: Receiver<Value>,
}

impl Old {
    pub(crate) fn to(address: SocketAddr, path: &str) -> Self {
        let get = Post::to(address, path).method("GET");
        let mut events = Events::of(get.header("Accept", "text/event-stream").open(b""));
        let endpoint = events.next_data().unwrap();
        let (came, coming) = channel();
        pour(events, came);
        Self {
            address,
            endpoint,
            coming,
        }
    }
}

impl Wire for Old {
    fn say(&mut self, message: &Value) {
        let post = Post::to(self.address, &self.endpoint);
        let post = post.header("Content-Type", "application/json");
        let answer = post.send(message.to_string().as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    fn hear(&mut self) -> Value {
        next(&self.coming)
    }
}
