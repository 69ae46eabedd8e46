//! HTTP+SSE: one event stream, and an endpoint for POSTs.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::{Transport, forward, next};
use crate::support::SseEndpoint;

/// A connection to an address.
pub(crate) struct SseTransport {
    endpoint: SseEndpoint,
    receiver: Receiver<Value>,
}

impl SseTransport {
    pub(crate) fn to(address: SocketAddr, path: &str) -> Self {
        let (endpoint, events) = SseEndpoint::open(address, path);
        let (sender, receiver) = channel();
        forward(events, sender);
        Self { endpoint, receiver }
    }
}

impl Transport for SseTransport {
    fn send(&mut self, message: &Value) {
        self.endpoint.send(message);
    }

    fn receive(&mut self) -> Value {
        next(&self.receiver)
    }
}
