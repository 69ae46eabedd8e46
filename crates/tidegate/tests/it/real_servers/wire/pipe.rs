//! The pipes of a process.

use std::io::Write;
use std::process::Command;

use serde_json::Value;

use super::Wire;
use crate::support::Running;

/// A server that is a process of ours.
pub(crate) struct Pipe(Running);

impl Pipe {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(Running::start(command))
    }
}

impl Wire for Pipe {
    fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.0.stdin().write_all(line.as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let Some(line) = self.0.stdout.next() else {
            panic!("the server has ended: {}", self.0.stderr.all());
        };
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}
