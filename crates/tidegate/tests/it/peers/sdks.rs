//! The TypeScript and Python SDKs, 1.x and 2.x, with the scripts in `tests/peers`.

use std::process::Command;

use serde_json::{Value, json};
use tidegate_testkit::{MODERN, NEWEST_LEGACY};

use crate::support::home::program;
use crate::support::messages::{HEALTH, MODELS, STATS, and_gateway_tools};
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server};

/// Runs a peer over HTTP and checks its output.
fn over_http(peer: fn(&Tools, &Home) -> Command, era: &[&str], protocol: &str) {
    let server = Server::start();
    let mut command = peer(&Tools::find(), &server.home);
    command.args(["--url", &server.url()]).args(era);
    check(&mut command, protocol);
    let log = server.stop().stderr;
    assert!(!log.contains("ERROR") && !log.contains("WARN"), "{log}");
}

/// Runs a peer that starts the program itself.
fn over_stdio(peer: fn(&Tools, &Home) -> Command, era: &[&str], protocol: &str) {
    let home = Home::with_config("sources: {}\n");
    let mut command = peer(&Tools::find(), &home);
    command.args(["--stdio", program(), "stdio"]).args(era);
    check(&mut command, protocol);
}

#[track_caller]
fn check(command: &mut Command, protocol: &str) {
    let ended = Running::start(command).end().expect_code(0);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let expected = json!({
        "protocol": protocol,
        "server": "tidegate",
        "tools": and_gateway_tools(&["system__health"]),
        "resources": [HEALTH, MODELS, STATS],
        "templates": 1,
        "prompts": 0,
        "read": {
            HEALTH: "application/json",
            MODELS: "application/json",
            STATS: "application/json",
        },
        "health": "Healthy",
        "subscribed": true,
    });
    assert_eq!(found, expected, "{}", ended.stderr);
}

fn ts1(tools: &Tools, home: &Home) -> Command {
    tools.node_peer(home, "ts1.mjs")
}

fn ts2(tools: &Tools, home: &Home) -> Command {
    tools.node_peer(home, "ts2.mjs")
}

fn python_v1(tools: &Tools, home: &Home) -> Command {
    tools.python_peer(home, "python-v1", "python_v1.py")
}

fn python_v2(tools: &Tools, home: &Home) -> Command {
    tools.python_peer(home, "python-v2", "python_v2.py")
}

const LEGACY_ERA: &[&str] = &["--era", "legacy"];
const MODERN_ERA: &[&str] = &["--era", "modern"];

#[test]
fn typescript_1_over_http() {
    over_http(ts1, &[], NEWEST_LEGACY);
}

#[test]
fn typescript_1_over_stdio() {
    over_stdio(ts1, &[], NEWEST_LEGACY);
}

#[test]
fn typescript_2_over_http_with_a_session() {
    over_http(ts2, LEGACY_ERA, NEWEST_LEGACY);
}

#[test]
fn typescript_2_over_http_modern() {
    over_http(ts2, MODERN_ERA, MODERN);
}

#[test]
fn typescript_2_over_stdio_with_a_session() {
    over_stdio(ts2, LEGACY_ERA, NEWEST_LEGACY);
}

#[test]
fn typescript_2_over_stdio_modern() {
    over_stdio(ts2, MODERN_ERA, MODERN);
}

#[test]
fn python_1_over_http() {
    over_http(python_v1, &[], NEWEST_LEGACY);
}

#[test]
fn python_1_over_stdio() {
    over_stdio(python_v1, &[], NEWEST_LEGACY);
}

#[test]
fn python_2_over_http_with_a_session() {
    over_http(python_v2, LEGACY_ERA, NEWEST_LEGACY);
}

#[test]
fn python_2_over_http_modern() {
    over_http(python_v2, MODERN_ERA, MODERN);
}

#[test]
fn python_2_over_stdio_with_a_session() {
    over_stdio(python_v2, LEGACY_ERA, NEWEST_LEGACY);
}

#[test]
fn python_2_over_stdio_modern() {
    over_stdio(python_v2, MODERN_ERA, MODERN);
}
