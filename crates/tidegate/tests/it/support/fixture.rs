//! The testkit's server as a process of its own, and a gateway before it.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tidegate_testkit::{fixture::program, unique_loopback_address};

use super::messages::Modern;
use super::{Answer, Home, Post, Running, Server};

/// The name of the source in front of which [`before`] puts a gateway.
const NAME: &str = "fixture";

/// A server over HTTP.
pub(crate) struct Fixture {
    process: Running,
    pub(crate) address: SocketAddr,
    _home: Home,
}

impl Fixture {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_at(&unique_loopback_address().to_string(), args)
    }

    /// At an address, such as one where another was before.
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

    /// The bodies of the messages of a method that it got so far. It must speak the modern era.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        heard(Post::to(self.address, "/mcp"), method)
    }

    pub(crate) fn stop(self) {
        self.process.stop();
    }
}

/// The configuration of a gateway with these sources, which takes its time.
pub(crate) fn config(sources: &Value) -> String {
    json!({ "limits": { "startup_wait": "2m" }, "sources": sources }).to_string()
}

/// A gateway before one server. It is there when this returns.
pub(crate) fn before(fixture: &Fixture) -> Server {
    let gateway = Server::with_config(&config(&json!({ NAME: { "url": fixture.url() } })));
    gateway.process.stderr.find("the source is there");
    gateway
}

/// A POST to the source of [`before`] alone.
pub(crate) fn at_fixture(gateway: &Server) -> Post {
    gateway.post().at(&format!("/mcp/{NAME}"))
}

/// Calls a tool without a session.
pub(crate) fn call(post: Post, name: &str, arguments: &Value) -> Answer {
    let params = json!({ "name": name, "arguments": arguments });
    Modern::new("tools/call", params).post(post)
}

/// The messages of a method that a server got so far, which is behind this.
pub(crate) fn heard(post: Post, method: &str) -> Vec<Value> {
    let answer = call(post, "received_messages", &json!({ "method": method })).result();
    let all: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    let bodies = all.as_array().unwrap().iter().filter_map(|one| {
        let body = one.get("body").or_else(|| one.get("line"))?;
        serde_json::from_str(body.as_str()?).ok()
    });
    bodies.collect()
}
