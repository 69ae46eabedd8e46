//! `tidegate stdio` as a process.

use std::io::Write;

use serde_json::{Value, json};

use super::messages::{handshake, notification, request, with_modern_meta};
use super::{Ended, Home, Running};

/// A gateway that serves one client over stdio.
pub(crate) struct Stdio {
    pub(crate) process: Running,
    /// Kept because the process runs in it.
    _home: Home,
    last_id: u64,
}

impl Stdio {
    /// With the `system` source only.
    pub(crate) fn start() -> Self {
        Self::start_in(Home::with_config("sources: {}\n"))
    }

    pub(crate) fn start_in(home: Home) -> Self {
        let process = Running::start(&mut home.tidegate(&["stdio"]));
        Self::of(home, process)
    }

    /// Wraps a started process.
    pub(crate) fn of(home: Home, process: Running) -> Self {
        Self {
            process,
            _home: home,
            last_id: 0,
        }
    }

    /// Writes raw bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.process.stdin().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// The next message; panics on a line that is not JSON.
    pub(crate) fn receive(&self) -> Value {
        let line = self.process.stdout.next().expect("the output is open");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and returns its response.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&request(id, method, params));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn modern(&mut self, method: &str, params: Value) -> Value {
        self.request(method, &with_modern_meta(params))
    }

    pub(crate) fn initialize(&mut self, revision: &str) {
        let answer = self.request("initialize", &handshake(revision));
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        self.send(&notification("notifications/initialized"));
    }

    /// Opens a subscription stream and returns its first message.
    pub(crate) fn listen(&mut self, filter: Value) -> Value {
        self.last_id += 1;
        self.send(&request(
            self.last_id,
            "subscriptions/listen",
            &with_modern_meta(filter),
        ));
        self.receive()
    }

    pub(crate) fn ping(&mut self) {
        let answer = self.request("ping", &json!({}));
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    /// Closes the input and checks that the program ended cleanly and wrote only JSON.
    pub(crate) fn end(self) -> Ended {
        let ended = self.process.end().expect_code(0);
        for line in ended.stdout.lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        }
        for word in ["panicked", "ERROR", "WARN"] {
            assert!(!ended.stderr.contains(word), "{}", ended.stderr);
        }
        ended
    }
}
