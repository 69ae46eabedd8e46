//! Servers that ask for roots right after the handshake, before the client has made a call, and list
//! nothing until they have an answer.

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, config};
use crate::support::messages::{LEGACY, handshake, request};
use crate::support::{Events, Post, Server};

const FLAGS: [&str; 4] = [
    "--era",
    "legacy",
    "--roots-after-handshake",
    "--lists-wait-for-roots",
];

/// A session of a client with roots.
struct RootsSession<'a> {
    gateway: &'a Server,
    path: String,
    id: String,
}

impl<'a> RootsSession<'a> {
    fn open(gateway: &'a Server, source: &str) -> Self {
        let path = format!("/mcp/{source}");
        let mut params = handshake(LEGACY[3]);
        params["capabilities"] = json!({ "roots": { "listChanged": true } });
        let body = request(1, "initialize", &params).to_string();
        let post = gateway.post().at(&path).with_mcp_headers();
        let opened = post.send(body.as_bytes());
        let id = opened.header("mcp-session-id").unwrap().to_owned();
        Self { gateway, path, id }
    }

    fn post(&self) -> Post {
        let post = self.gateway.post().at(&self.path).with_mcp_headers();
        post.header("Mcp-Session-Id", &self.id)
    }
}

fn check(gateway: &Server, source: &str) {
    let session = RootsSession::open(gateway, source);
    let list = request(2, "tools/list", &json!({})).to_string();
    let listed = session.post().send(list.as_bytes()).result();
    assert!(listed["tools"].as_array().unwrap().len() > 5, "{source}");
    assert_eq!(listed["_meta"], Value::Null, "{source}: nothing is missing");
    let call = json!({ "name": "test_slow", "arguments": { "steps": 1000, "ms": 1000 } });
    let call = request(3, "tools/call", &call).to_string();
    let mut events = Events::of(session.post().open(call.as_bytes()));
    let question = events.find("roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///harbour" }] });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots });
    let answered = session.post().send(answer.to_string().as_bytes());
    assert_eq!(answered.status, 202, "{source}");
}

#[test]
fn lists_do_not_wait_for_the_first_call() {
    let fixture = Fixture::start(&FLAGS);
    let over_stdio = json!({ "command": program(), "args": FLAGS });
    let sources = json!({ "http": { "url": fixture.url() }, "pipe": over_stdio });
    let gateway = Server::with_config(&config(&sources));
    for source in ["http", "pipe"] {
        check(&gateway, source);
    }
    gateway.stop();
    fixture.stop();
}
