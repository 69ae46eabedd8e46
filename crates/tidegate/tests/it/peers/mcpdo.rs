//! The Inspector's other program, which holds a connection and can subscribe.

use std::process::Command;

use serde_json::Value;

use crate::support::messages::HEALTH;
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server};

/// The program with a background process of its own, which ends with the value.
struct Mcpdo<'a> {
    home: &'a Home,
    /// What ties its commands to that process.
    variables: Vec<(String, String)>,
}

impl<'a> Mcpdo<'a> {
    fn new(home: &'a Home) -> Self {
        let mut one = Self {
            home,
            variables: Vec::new(),
        };
        let told = one.run(&["private"]);
        one.variables = told.lines().filter_map(variable).collect();
        assert!(!one.variables.is_empty(), "{told}");
        one
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

/// A line that sets a variable for a shell.
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().strip_prefix("export ")?.split_once('=')?;
    let value = value.trim_end_matches(';').trim_matches(['\'', '"']);
    Some((name.to_owned(), value.to_owned()))
}

/// A connection in this era subscribes, and ends its subscription.
fn subscribes(era: &str) {
    let server = Server::start();
    let mcpdo = Mcpdo::new(&server.home);
    let here = ["--connection", "here", "--format", "json"];
    let connected = mcpdo.run(&[&["connect", &server.url(), "--era", era][..], &here].concat());
    assert!(connected.contains(era), "{connected}");

    // It stays and prints changes, until it is ended.
    let subscribe = [&["resources/subscribe", HEALTH][..], &here].concat();
    let subscription = Running::start(&mut mcpdo.command(&subscribe));
    let told = first_object(&subscription);
    assert_eq!(told["type"], "subscribed");
    assert_eq!(told["uri"], HEALTH);
    drop(subscription);

    let ended = mcpdo.run(&[&["resources/unsubscribe", HEALTH][..], &here].concat());
    let ended: Value = serde_json::from_str(&ended).unwrap();
    assert_eq!(ended["unsubscribed"], true);
    drop(mcpdo);
    server.stop();
}

/// The first JSON value on its output, which may take several lines.
fn first_object(process: &Running) -> Value {
    let mut text = String::new();
    while let Some(line) = process.stdout.next() {
        text.push_str(&line);
        if let Ok(value) = serde_json::from_str(&text) {
            return value;
        }
    }
    panic!("no object: {text} {}", process.stderr.so_far());
}

#[test]
fn subscribes_with_a_session() {
    subscribes("legacy");
}

#[test]
fn subscribes_stateless() {
    subscribes("modern");
}
