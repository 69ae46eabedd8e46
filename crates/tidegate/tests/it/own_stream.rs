//! Questions of a server on the stream of a session, where nothing links them to a call.

use serde_json::{Value, json};

use crate::support::fixture::{Fixture, before};
use crate::support::http::Open;
use crate::support::messages::{handshake, request};
use crate::support::{Events, Post, Server};

/// A session of a client that can be asked.
struct Asked<'a> {
    gateway: &'a Server,
    id: String,
}

impl<'a> Asked<'a> {
    fn open(gateway: &'a Server) -> Self {
        let mut hello = handshake("2025-11-25");
        hello["capabilities"] = json!({ "elicitation": {} });
        let hello = request(1, "initialize", &hello).to_string();
        let opened = gateway.post().at("/mcp/fixture").usual();
        let opened = opened.send(hello.as_bytes());
        let id = opened.header("mcp-session-id").unwrap().to_owned();
        Self { gateway, id }
    }

    fn post(&self) -> Post {
        let post = self.gateway.post().at("/mcp/fixture").usual();
        post.header("Mcp-Session-Id", &self.id)
    }

    /// Calls a tool under this id; wants to hear of its progress.
    fn call(&self, id: u64, name: &str, arguments: &Value) -> Open {
        let meta = json!({ "progressToken": id });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let body = request(id, "tools/call", &params).to_string();
        self.post().open(body.as_bytes())
    }
}

/// §4.4: with one call under way there is no doubt whose question it is.
#[test]
fn a_question_is_that_of_the_only_call_under_way() {
    let fixture = Fixture::start(&["--era", "legacy", "--questions-on-session-stream"]);
    let gateway = before(&fixture);
    let client = Asked::open(&gateway);
    let mut events = Events::of(client.call(7, "test_elicitation", &json!({})));
    let question = events.find("elicitation/create");
    let answer = json!({ "action": "accept", "content": { "username": "Ada" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    assert_eq!(
        client.post().send(answer.to_string().as_bytes()).status,
        202
    );
    let done = events.next().unwrap();
    assert!(done["result"].to_string().contains("Ada"), "{done}");
    gateway.stop();
    fixture.stop();
}

/// §4.4: with two there is, and nobody is asked what may be for someone else.
#[test]
fn a_question_that_may_be_of_two_calls_is_that_of_none() {
    let fixture = Fixture::start(&["--era", "legacy", "--questions-on-session-stream"]);
    let gateway = before(&fixture);
    let client = Asked::open(&gateway);
    let slowly = json!({ "steps": 1000, "ms": 1000 });
    let mut slow = Events::of(client.call(8, "test_slow", &slowly));
    slow.find("notifications/progress");
    let done = client
        .call(7, "test_elicitation", &json!({}))
        .answer()
        .json();
    assert_eq!(done["result"]["isError"], true, "{done}");
    let given_up = json!({ "requestId": 8 });
    let given_up =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": given_up });
    client.post().send(given_up.to_string().as_bytes());
    gateway.stop();
    fixture.stop();
}
