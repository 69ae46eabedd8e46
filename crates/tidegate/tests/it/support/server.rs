//! `tidegate serve` on a free port.

use std::net::SocketAddr;

use serde_json::Value;

use super::messages::Modern;
use super::{Answer, Ended, Home, Post, Running};

/// Precedes the address in the log line for a listener.
const LISTENING: &str = "listening on http://";

/// A gateway that serves HTTP.
pub(crate) struct Server {
    pub(crate) home: Home,
    pub(crate) process: Running,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// With the `system` source only.
    pub(crate) fn start() -> Self {
        Self::with_config("sources: {}\n")
    }

    /// Without a configuration file.
    pub(crate) fn start_shipped() -> Self {
        Self::start_in(Home::new(), &[])
    }

    /// With this `tidegate.yaml`.
    pub(crate) fn with_config(text: &str) -> Self {
        Self::start_in(Home::with_config(text), &[])
    }

    /// On a free port, with additional arguments.
    pub(crate) fn start_in(home: Home, args: &[&str]) -> Self {
        let all = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        let process = Running::start(&mut home.tidegate(&all));
        Self::of(home, process)
    }

    /// Wraps a started process; waits until it listens.
    pub(crate) fn of(home: Home, process: Running) -> Self {
        let line = process.stderr.find(LISTENING);
        let (_, rest) = line.split_once(LISTENING).unwrap();
        let (address, path) = rest.split_once('/').unwrap();
        assert_eq!(path.split('"').next(), Some("mcp"), "{line}");
        Self {
            address: address.parse().unwrap(),
            home,
            process,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// A POST to the endpoint.
    pub(crate) fn post(&self) -> Post {
        Post::to(self.address, "/mcp")
    }

    /// Sends one modern request.
    pub(crate) fn modern(&self, method: &str, params: Value) -> Answer {
        Modern::new(method, params).post(self.post())
    }

    /// Stops it and checks that it shut down cleanly.
    pub(crate) fn stop(self) -> Ended {
        let ended = self.process.stop().expect_code(0);
        assert_eq!(ended.stdout, "", "stdout must stay empty");
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }
}
