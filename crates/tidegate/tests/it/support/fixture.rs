//! The testkit's fixture as a process, and a gateway in front of it.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tidegate_testkit::{fixture::program, unique_loopback_address};

use super::messages::Modern;
use super::{Answer, Home, Post, Running, Server};

/// The id of the source that [`before`] configures.
const NAME: &str = "fixture";

/// A fixture over HTTP.
pub(crate) struct Fixture {
    process: Running,
    pub(crate) address: SocketAddr,
    _home: Home,
}

impl Fixture {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_at(&unique_loopback_address().to_string(), args)
    }

    /// Starts it on an address, for example that of a stopped fixture.
    pub(crate) fn start_at(address: &str, args: &[&str]) -> Self {
        let home = Home::new();
        let mut command = home.command(program());
        command.args(["--listen", address]).args(args);
        let process = Running::start(&mut command);
        let url = process.stdout.find("http://");
        let address = url.split('/').nth(2).unwrap();
        Self {
            address: address.parse().unwrap(),
            process,
            _home: home,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The bodies of the received messages with this method. The fixture must support the modern
    /// era.
    pub(crate) fn received_for(&self, method: &str) -> Vec<Value> {
        received_for(Post::to(self.address, "/mcp"), method)
    }

    pub(crate) fn stop(self) {
        self.process.stop();
    }
}

/// A configuration with these sources and a long start-up wait.
pub(crate) fn config(sources: &Value) -> String {
    json!({ "limits": { "startup_wait": "2m" }, "sources": sources }).to_string()
}

/// Starts a gateway in front of a fixture; returns when the source is connected.
pub(crate) fn before(fixture: &Fixture) -> Server {
    let gateway = Server::with_config(&config(&json!({ NAME: { "url": fixture.url() } })));
    gateway.process.stderr.find("source connected");
    gateway
}

/// A POST to the endpoint of the source of [`before`].
pub(crate) fn at_fixture(gateway: &Server) -> Post {
    gateway.post().at(&format!("/mcp/{NAME}"))
}

/// Calls a tool without a session.
pub(crate) fn call(post: Post, name: &str, arguments: &Value) -> Answer {
    let params = json!({ "name": name, "arguments": arguments });
    Modern::new("tools/call", params).post(post)
}

/// The messages with this method that the fixture behind an endpoint received so far.
pub(crate) fn received_for(post: Post, method: &str) -> Vec<Value> {
    let answer = call(post, "received_messages", &json!({ "method": method })).result();
    let all: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    let bodies = all.as_array().unwrap().iter().filter_map(|received| {
        let body = received.get("body").or_else(|| received.get("line"))?;
        serde_json::from_str(body.as_str()?).ok()
    });
    bodies.collect()
}
