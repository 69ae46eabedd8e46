//! Configurations of clients that a page shows: the server that they name is reached as the client
//! would reach it, and answers.

use std::io::Write as _;

use serde_json::{Value, json};

use super::session::Session;
use crate::support::Running;

/// What every client sends first.
fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "reader", "version": "1" } } })
}

pub(super) fn check(session: &Session, place: &str, language: &str, text: &str) {
    let config: Value = match language {
        "toml" => toml(text),
        _ => serde_json::from_str(text)
            .unwrap_or_else(|error| panic!("{place}: not JSON: {error}\n{text}")),
    };
    let servers = ["mcpServers", "servers", "context_servers", "mcp_servers"];
    let servers = servers.iter().find_map(|name| config[name].as_object());
    for (name, server) in servers.into_iter().flatten() {
        let place = format!("{place}: `{name}`");
        match server["url"].as_str() {
            Some(url) => answers_http(session, &place, url),
            None => answers_stdio(session, &place, server),
        }
    }
}

fn answers_stdio(session: &Session, place: &str, server: &Value) {
    let command = server["command"].as_str().unwrap_or_else(|| {
        panic!("{place}: neither a command nor a URL: {server}");
    });
    let command = command.rsplit('/').next().unwrap();
    let args = server["args"].as_array().cloned().unwrap_or_default();
    let mut process = session.command(command);
    process.args(args.iter().map(|arg| arg.as_str().unwrap()));
    let mut running = Running::start(&mut process);
    writeln!(running.stdin(), "{}", initialize()).unwrap();
    let answer = running.stdout.next().unwrap_or_default();
    is_answered(place, &answer);
}

fn answers_http(session: &Session, place: &str, url: &str) {
    let expected = format!("http://localhost:{}/mcp", session.port());
    assert!(url.starts_with(&expected), "{place}: {url}");
    let mut serve = session.command("tidegate");
    let gateway = Running::start(serve.arg("serve"));
    let line = gateway.stderr.next().unwrap_or_default();
    assert!(line.contains("listening on"), "{place}: {line}");
    let mut curl = session.command("curl");
    curl.args(["-sS", "--noproxy", "*", url]);
    curl.args(["-H", "Content-Type: application/json"]);
    curl.args(["-d", &initialize().to_string()]);
    is_answered(place, &Running::start(&mut curl).end().stdout);
    gateway.stop();
}

fn is_answered(place: &str, answer: &str) {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let name = &answer["result"]["serverInfo"]["name"];
    assert_eq!(name, "tidegate", "{place}: {answer}");
}

/// The few forms of TOML that client configurations use: tables, strings and arrays of strings.
fn toml(text: &str) -> Value {
    let mut config = json!({});
    let mut table: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            table = name.split('.').map(ToOwned::to_owned).collect();
        } else if let Some((key, value)) = line.split_once('=') {
            let value: Value = serde_json::from_str(value.trim()).unwrap();
            let mut place = &mut config;
            for part in &table {
                place = &mut place[part.as_str()];
            }
            place[key.trim()] = value;
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line}");
        }
    }
    config
}

#[test]
fn reads_the_toml_of_clients() {
    let text = "[mcp_servers.tidegate]\ncommand = \"tidegate\"\nargs = [\"stdio\"]\n";
    let expected =
        json!({ "mcp_servers": { "tidegate": { "command": "tidegate", "args": ["stdio"] } } });
    assert_eq!(toml(text), expected);
}
