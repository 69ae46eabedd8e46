//! After a restart the gateway answers from what it saved, before its servers have started.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::support::Server;
use crate::support::fixture::{Fixture, at_fixture, before};
use crate::support::messages::{LEGACY, Modern, handshake, request};
use crate::support::proc::poll_for;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Restarts a gateway on the same data folder.
fn restart(gateway: Server) -> Server {
    let Server { home, process, .. } = gateway;
    process.stop().expect_code(0);
    Server::start_in(home, &[])
}

/// Waits until the file of the source contains this text.
fn wait_until_saved(gateway: &Server, part: &str) {
    let file = gateway
        .home
        .path()
        .join("data/tidegate/catalogs/fixture.json");
    poll_for("the catalog to be saved", || {
        let text = fs::read_to_string(&file).ok()?;
        text.contains(part).then_some(())
    });
}

/// The tools that a modern client with these capabilities sees.
fn tools(gateway: &Server, capabilities: &Value) -> Value {
    let mut list = Modern::new("tools/list", json!({}));
    list.set_meta(CAPABILITIES, capabilities.clone());
    list.post(at_fixture(gateway)).result()["tools"].clone()
}

/// What a legacy client is told about the server.
fn initialize(gateway: &Server) -> Value {
    let body = request(1, "initialize", &handshake(LEGACY[3])).to_string();
    let post = at_fixture(gateway).with_mcp_headers();
    post.send(body.as_bytes()).result()
}

/// A class that saw the default lists sees them at once, while its server is down.
#[test]
fn client_classes_with_the_default_lists_are_saved() {
    let fixture = Fixture::start(&[]);
    let gateway = before(&fixture);
    let capabilities = json!({ "sampling": {}, "experimental": { "com.example/a": {} } });
    let expected = tools(&gateway, &capabilities);
    assert!(!expected.as_array().unwrap().is_empty());
    wait_until_saved(&gateway, "com.example/a");
    fixture.stop();
    let gateway = restart(gateway);
    assert_eq!(tools(&gateway, &capabilities), expected);
    gateway.stop();
}

/// The list of all sources does not wait for a server whose list is known.
#[test]
fn the_first_list_of_all_sources_does_not_wait_for_servers() {
    let fixture = Fixture::start(&[]);
    let source = json!({ "url": fixture.url(), "connect_timeout": "5m" });
    let limits = json!({ "startup_wait": "5m" });
    let config = json!({ "limits": limits, "sources": { "fixture": source } });
    let gateway = Server::with_config(&config.to_string());
    let expected = gateway.modern("tools/list", json!({})).result()["tools"].clone();
    assert!(expected.as_array().unwrap().len() > 10);
    wait_until_saved(&gateway, "fixture");
    let address = fixture.address;
    fixture.stop();
    // It accepts connections and never answers.
    let _silent = TcpListener::bind(address).unwrap();
    let gateway = restart(gateway);
    let listed = gateway.modern("tools/list", json!({})).result();
    assert_eq!(listed["tools"], expected);
    let body = request(1, "initialize", &handshake(LEGACY[3])).to_string();
    let post = gateway.post().with_mcp_headers();
    assert!(post.send(body.as_bytes()).result()["capabilities"].is_object());
    gateway.stop();
}

/// What a server declares in a session is known before it is reached.
#[test]
fn facts_of_sessions_are_saved() {
    let fixture = Fixture::start(&["--separate-eras"]);
    let sources = json!({ "fixture": { "url": fixture.url() } });
    let limits = json!({ "startup_wait": "1s" });
    let gateway = json!({ "limits": limits, "sources": sources }).to_string();
    let gateway = Server::with_config(&gateway);
    gateway.process.stderr.find("source connected");
    let expected = initialize(&gateway);
    assert!(expected["capabilities"]["logging"].is_object());
    wait_until_saved(&gateway, r#""sessions":{"#);
    fixture.stop();
    let gateway = restart(gateway);
    assert_eq!(initialize(&gateway), expected);
    gateway.stop();
}
