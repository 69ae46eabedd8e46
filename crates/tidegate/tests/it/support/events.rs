//! Reads an event stream, message by message.

use std::io::{BufRead, BufReader};
use std::time::Instant;

use serde_json::Value;

use super::PATIENCE;
use super::http::{Body, OpenResponse};

/// An open event stream.
pub(crate) struct Events(BufReader<Body>);

impl Events {
    #[track_caller]
    pub(crate) fn of(open: OpenResponse) -> Self {
        let kind = open.header("content-type").map(str::to_owned);
        if open.status != 200 || kind.as_deref() != Some("text/event-stream") {
            panic!("not an event stream: {:?}", open.answer());
        }
        Self(BufReader::new(open.body()))
    }

    /// The next message; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let data = self.next_data()?;
        Some(serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}")))
    }

    /// The next event data; `None` at the end. Skips comments and events without data.
    pub(crate) fn next_data(&mut self) -> Option<String> {
        // Comments keep the connection busy, so the read timeout of the socket is not enough.
        let deadline = Instant::now() + PATIENCE;
        let mut data = String::new();
        while Instant::now() < deadline {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end_matches(['\r', '\n']).split_once(':') {
                Some(("data", text)) => data.push_str(text.strip_prefix(' ').unwrap_or(text)),
                None if !data.is_empty() => return Some(data),
                _ => {}
            }
        }
        panic!("no message within {} s", PATIENCE.as_secs());
    }

    /// The next message with this method; skips others.
    #[track_caller]
    pub(crate) fn find(&mut self, method: &str) -> Value {
        while let Some(message) = self.next() {
            if message["method"] == method {
                return message;
            }
        }
        panic!("the stream ended without {method}");
    }
}
