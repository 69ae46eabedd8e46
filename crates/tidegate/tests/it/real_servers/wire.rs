//! A way to speak with a server: messages go out one by one, and whatever comes back on any of its
//! streams comes in one queue.
//!
//! Must not know: what the messages mean.

mod http;
mod old;
mod pipe;

use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use serde_json::Value;

use crate::support::{Events, PATIENCE};

pub(super) use http::Http;
pub(super) use old::Old;
pub(super) use pipe::Pipe;

pub(super) trait Wire {
    fn say(&mut self, message: &Value);

    /// The next message, whatever it is about.
    fn hear(&mut self) -> Value;

    /// Says goodbye, where that is done by more than going away.
    fn end(&mut self) {}
}

/// Passes on what comes on a stream, until it ends or nobody wants it.
fn pour(mut events: Events, into: Sender<Value>) {
    thread::spawn(move || {
        while let Some(message) = events.next() {
            if into.send(message).is_err() {
                return;
            }
        }
    });
}

#[track_caller]
fn next(coming: &Receiver<Value>) -> Value {
    let message = coming.recv_timeout(PATIENCE);
    message.unwrap_or_else(|error| panic!("nothing was heard: {error}"))
}
