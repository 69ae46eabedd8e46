//! Stdio of a server process.

use std::io::Write;
use std::process::Command;

use serde_json::Value;

use super::Transport;
use crate::support::Running;

/// A server process.
pub(crate) struct StdioTransport(Running);

impl StdioTransport {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(Running::start(command))
    }
}

impl Transport for StdioTransport {
    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.0.stdin().write_all(line.as_bytes()).unwrap();
    }

    fn receive(&mut self) -> Value {
        loop {
            let Some(line) = self.0.stdout.next() else {
                panic!("the server ended: {}", self.0.stderr.all());
            };
            // Some servers print a greeting, which clients ignore.
            if line.starts_with('{') {
                return serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("{error}: {line:?}"));
            }
        }
    }
}
