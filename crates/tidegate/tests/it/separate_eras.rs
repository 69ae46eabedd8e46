//! Servers that support both eras, name only the modern revision in `server/discover`, and declare
//! something else in each: legacy clients see what they would see at the server.

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, at_fixture, before, config, received_for};
use crate::support::messages::{LEGACY, Modern, handshake, request};
use crate::support::{Post, Server, Session};

const SEPARATE: &str = "--separate-eras";
const WATCHED: &str = "test://watched-resource";

/// What a server declares to a legacy client with these capabilities.
fn initialize(post: Post, revision: &str, capabilities: &Value) -> Value {
    let mut params = handshake(revision);
    params["capabilities"] = capabilities.clone();
    let body = request(1, "initialize", &params).to_string();
    let mut result = post.with_mcp_headers().send(body.as_bytes()).result();
    result.as_object_mut().unwrap().remove("serverInfo");
    result
}

/// What a server declares to a modern client.
fn discover(post: Post) -> Value {
    let result = Modern::new("server/discover", json!({}))
        .post(post)
        .result();
    json!([result["capabilities"], result["instructions"]])
}

fn check_declarations(gateway: &Server, direct: &Fixture) {
    for capabilities in [json!({}), json!({ "elicitation": {}, "roots": {} })] {
        for revision in [LEGACY[2], LEGACY[3]] {
            assert_eq!(
                initialize(at_fixture(gateway), revision, &capabilities),
                initialize(Post::to(direct.address, "/mcp"), revision, &capabilities),
                "{revision} {capabilities}"
            );
        }
    }
    let [through, direct] = [at_fixture(gateway), Post::to(direct.address, "/mcp")].map(discover);
    assert_eq!(without_list_changed(through), direct);
}

/// The gateway detects changes of lists itself.
fn without_list_changed(mut declared: Value) -> Value {
    for capability in ["tools", "prompts", "resources"] {
        let capability = declared[0][capability].as_object_mut().unwrap();
        assert_eq!(capability.remove("listChanged"), Some(json!(true)));
    }
    declared
}

#[test]
fn clients_see_what_a_server_declares_in_their_era() {
    let fixture = Fixture::start(&[SEPARATE]);
    let gateway = before(&fixture);
    check_declarations(&gateway, &fixture);
    gateway.stop();
    fixture.stop();
}

#[test]
fn clients_see_what_a_process_declares_in_their_era() {
    let fixture = Fixture::start(&[SEPARATE]);
    let source = json!({ "command": program(), "args": [SEPARATE] });
    let gateway = Server::with_config(&config(&json!({ "fixture": source })));
    check_declarations(&gateway, &fixture);
    gateway.stop();
    fixture.stop();
}

#[test]
fn legacy_clients_use_the_server_in_a_session() {
    let fixture = Fixture::start(&[SEPARATE]);
    let gateway = before(&fixture);
    let session = Session::open(gateway.address, "/mcp/fixture", LEGACY[3]);
    session.subscribe(WATCHED);
    let level = json!({ "level": "debug" });
    session.request("logging/setLevel", &level).result();
    let call = json!({ "name": "test_tool_with_logging", "arguments": {} });
    session.request("tools/call", &call);
    let unsubscribe = session.request("resources/unsubscribe", &json!({ "uri": WATCHED }));
    assert_eq!(unsubscribe.result(), json!({}));
    for method in [
        "resources/subscribe",
        "logging/setLevel",
        "resources/unsubscribe",
    ] {
        assert_eq!(fixture.received_for(method).len(), 1, "{method}");
    }
    session.end();
    gateway.stop();
    fixture.stop();
}

/// A modern server that rejects `initialize` is used in the modern era for all clients, over stdio
/// too.
#[test]
fn legacy_clients_use_a_modern_server_without_a_session() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let over_stdio = json!({ "command": program(), "args": ["--era", "modern"] });
    let sources = json!({ "http": { "url": fixture.url() }, "pipe": over_stdio });
    let gateway = Server::with_config(&config(&sources));
    for source in ["http", "pipe"] {
        let path = format!("/mcp/{source}");
        let session = Session::open(gateway.address, &path, LEGACY[3]);
        let call = json!({ "name": "test_simple_text", "arguments": {} });
        session.request("tools/call", &call).result();
        let sent = received_for(gateway.post().at(&path), "tools/call");
        assert!(!sent.is_empty(), "{source}");
        session.end();
    }
    gateway.stop();
    fixture.stop();
}
