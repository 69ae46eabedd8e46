//! A transport to a server: sends messages one by one, and receives those of all streams in one
//! queue.
//!
//! Must not know: what the messages mean.

mod http;
mod sse;
mod stdio;

use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use serde_json::Value;

use crate::support::{Events, PATIENCE};

pub(super) use http::Http;
pub(super) use sse::SseTransport;
pub(super) use stdio::StdioTransport;

pub(super) trait Transport {
    fn send(&mut self, message: &Value);

    /// The next message.
    fn receive(&mut self) -> Value;

    /// Ends the session, if the transport has sessions.
    fn end(&mut self) {}
}

/// Forwards the messages of a stream until it ends or the receiver is gone.
fn forward(mut events: Events, into: Sender<Value>) {
    thread::spawn(move || {
        while let Some(message) = events.next() {
            if into.send(message).is_err() {
                return;
            }
        }
    });
}

#[track_caller]
fn next(receiver: &Receiver<Value>) -> Value {
    let message = receiver.recv_timeout(PATIENCE);
    message.unwrap_or_else(|error| panic!("no message: {error}"))
}
