//! A stream of server-sent events, message by message.

use std::io::{BufRead, BufReader};
use std::time::Instant;

use serde_json::Value;

use super::PATIENCE;
use super::http::{Body, Open};

/// An open stream.
pub(crate) struct Events(BufReader<Body>);

impl Events {
    #[track_caller]
    pub(crate) fn of(open: Open) -> Self {
        let kind = open.header("content-type").map(str::to_owned);
        if open.status != 200 || kind.as_deref() != Some("text/event-stream") {
            panic!("no stream of events: {:?}", open.answer());
        }
        Self(BufReader::new(open.body()))
    }

    /// The next message, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let data = self.next_data()?;
        Some(serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}")))
    }

    /// The next data, or `None` at the end. Comments and events without data are passed over.
    pub(crate) fn next_data(&mut self) -> Option<String> {
        // Comments keep the connection busy, so its own time-out is not enough.
        let patience = Instant::now() + PATIENCE;
        let mut data = String::new();
        while Instant::now() < patience {
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
        panic!("no message came");
    }

    /// The next message of this method.
    #[track_caller]
    pub(crate) fn find(&mut self, method: &str) -> Value {
        while let Some(message) = self.next() {
            if message["method"] == method {
                return message;
            }
        }
        panic!("the stream ended before a {method}");
    }
}
