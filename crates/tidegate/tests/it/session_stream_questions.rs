//! Questions on a session's own stream, where nothing assigns them to a call.

use serde_json::{Value, json};

use crate::support::fixture::{Fixture, before};
use crate::support::http::OpenResponse;
use crate::support::messages::{handshake, request};
use crate::support::{Events, Post, Server};

/// A session of a client with elicitation.
struct ElicitationSession<'a> {
    gateway: &'a Server,
    id: String,
}

impl<'a> ElicitationSession<'a> {
    fn open(gateway: &'a Server) -> Self {
        let mut initialize = handshake("2025-11-25");
        initialize["capabilities"] = json!({ "elicitation": {} });
        let initialize = request(1, "initialize", &initialize).to_string();
        let opened = gateway.post().at("/mcp/fixture").with_mcp_headers();
        let opened = opened.send(initialize.as_bytes());
        let id = opened.header("mcp-session-id").unwrap().to_owned();
        Self { gateway, id }
    }

    fn post(&self) -> Post {
        let post = self.gateway.post().at("/mcp/fixture").with_mcp_headers();
        post.header("Mcp-Session-Id", &self.id)
    }

    /// Calls a tool with this id and requests progress.
    fn call(&self, id: u64, name: &str, arguments: &Value) -> OpenResponse {
        let meta = json!({ "progressToken": id });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let body = request(id, "tools/call", &params).to_string();
        self.post().open(body.as_bytes())
    }
}

/// §4.4: with one call in flight the question belongs to it.
#[test]
fn question_belongs_to_the_only_call_in_flight() {
    let fixture = Fixture::start(&["--era", "legacy", "--questions-on-session-stream"]);
    let gateway = before(&fixture);
    let client = ElicitationSession::open(&gateway);
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

/// With two calls it may belong to either. Both are of one client, which is asked on the stream of the
/// older one.
#[test]
fn question_reaches_the_client_if_two_calls_are_in_flight() {
    let fixture = Fixture::start(&["--era", "legacy", "--questions-on-session-stream"]);
    let gateway = before(&fixture);
    let client = ElicitationSession::open(&gateway);
    let arguments = json!({ "steps": 1000, "ms": 1000 });
    let mut slow = Events::of(client.call(8, "test_slow", &arguments));
    slow.find("notifications/progress");
    let asking = client.call(7, "test_elicitation", &json!({}));
    let question = slow.find("elicitation/create");
    let answer = json!({ "action": "accept", "content": { "username": "Ada" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    let accepted = client.post().send(answer.to_string().as_bytes());
    assert_eq!(accepted.status, 202);
    let done = Events::of(asking).next().unwrap();
    assert!(done["result"].to_string().contains("Ada"), "{done}");
    let cancelled = json!({ "requestId": 8 });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
    client.post().send(cancelled.to_string().as_bytes());
    gateway.stop();
    fixture.stop();
}
