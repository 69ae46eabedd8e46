//! The Inspector's `mcpdo`, which keeps a connection and can subscribe.

use std::process::Command;

use serde_json::Value;

use crate::support::messages::HEALTH;
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server};

/// The program with its own daemon, which is stopped on drop.
struct Mcpdo<'a> {
    home: &'a Home,
    /// Environment variables that connect its commands to the daemon.
    variables: Vec<(String, String)>,
}

impl<'a> Mcpdo<'a> {
    fn new(home: &'a Home) -> Self {
        let mut mcpdo = Self {
            home,
            variables: Vec::new(),
        };
        let output = mcpdo.run(&["private"]);
        mcpdo.variables = output.lines().filter_map(variable).collect();
        assert!(!mcpdo.variables.is_empty(), "{output}");
        mcpdo
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command =
            Tools::find().script(self.home, "inspector/clients/mcpdo/build/mcp-bin.js");
        command
            .env("MCP_INSPECTOR_SECRET_STORE", "memory")
            .envs(self.variables.iter().cloned())
            .args(args);
        command
    }

    fn run(&self, args: &[&str]) -> String {
        let ended = Running::start(&mut self.command(args)).end();
        ended.expect_code(0).stdout
    }
}

impl Drop for Mcpdo<'_> {
    fn drop(&mut self) {
        self.command(&["daemon", "stop"]).output().ok();
    }
}

/// A line that sets a shell variable.
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().strip_prefix("export ")?.split_once('=')?;
    let value = value.trim_end_matches(';').trim_matches(['\'', '"']);
    Some((name.to_owned(), value.to_owned()))
}

/// Subscribes and unsubscribes in this era.
fn subscribes(era: &str) {
    let server = Server::start();
    let mcpdo = Mcpdo::new(&server.home);
    let connection = ["--connection", "here", "--format", "json"];
    let connected =
        mcpdo.run(&[&["connect", &server.url(), "--era", era][..], &connection].concat());
    assert!(connected.contains(era), "{connected}");

    // It keeps running and prints changes until it is killed.
    let subscribe = [&["resources/subscribe", HEALTH][..], &connection].concat();
    let subscription = Running::start(&mut mcpdo.command(&subscribe));
    let output = first_object(&subscription);
    assert_eq!(output["type"], "subscribed");
    assert_eq!(output["uri"], HEALTH);
    drop(subscription);

    let ended = mcpdo.run(&[&["resources/unsubscribe", HEALTH][..], &connection].concat());
    let ended: Value = serde_json::from_str(&ended).unwrap();
    assert_eq!(ended["unsubscribed"], true);
    drop(mcpdo);
    server.stop();
}

/// The first JSON value of the output, which may span several lines.
fn first_object(process: &Running) -> Value {
    let mut text = String::new();
    while let Some(line) = process.stdout.next() {
        text.push_str(&line);
        if let Ok(value) = serde_json::from_str(&text) {
            return value;
        }
    }
    panic!("no JSON value: {text} {}", process.stderr.so_far());
}

#[test]
fn subscribes_with_a_session() {
    subscribes("legacy");
}

#[test]
fn subscribes_modern() {
    subscribes("modern");
}
