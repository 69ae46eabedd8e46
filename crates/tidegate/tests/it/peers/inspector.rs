//! The command line of MCP Inspector.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::program;
use crate::support::messages::{HEALTH, MODELS, STATS, and_gateway_tools};
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server};

/// What the Inspector connects to.
enum Target<'a> {
    Http(&'a Server),
    Stdio(Home),
}

impl Target<'_> {
    /// Sends a request and returns the result.
    #[track_caller]
    fn request(&self, era: &str, method: &str, more: &[&str]) -> Value {
        let mut command = self.inspector();
        command.args(["--method", method, "--protocol-era", era]);
        command.args(["--format", "json", "-q"]).args(more);
        if let Self::Stdio(_) = self {
            command.args(["--", program(), "stdio", "--log-level", "warn"]);
        }
        let ended = Running::start(&mut command).end().expect_code(0);
        let mut output: Value = serde_json::from_str(&ended.stdout).unwrap();
        output["result"].take()
    }

    fn inspector(&self) -> Command {
        let home = match self {
            Self::Http(server) => &server.home,
            Self::Stdio(home) => home,
        };
        let mut command = Tools::find().script(home, "inspector/clients/launcher/build/index.js");
        // Without these it looks for a keychain or a browser.
        command.env("MCP_INSPECTOR_SECRET_STORE", "memory");
        command.arg("--cli");
        if let Self::Http(server) = self {
            command.arg(server.url()).arg("--stored-auth-only");
        }
        command
    }

    /// Everything that can be requested here.
    #[track_caller]
    fn walk(&self, era: &str, protocol: &str) {
        let initialized = self.request(era, "initialize", &[]);
        assert_eq!(initialized["protocolVersion"], protocol);
        assert_eq!(initialized["serverInfo"]["name"], "tidegate");

        let tools = self.request(era, "tools/list", &[]);
        assert_eq!(
            names(&tools["tools"], "name"),
            and_gateway_tools(&["system__health"])
        );
        let called = self.request(era, "tools/call", &["--tool-name", "system__health"]);
        assert_eq!(called["structuredContent"]["overallStatus"], "Healthy");

        let resources = self.request(era, "resources/list", &[]);
        let uris = names(&resources["resources"], "uri");
        assert_eq!(uris, [HEALTH, MODELS, STATS]);
        for uri in uris {
            let read = self.request(era, "resources/read", &["--uri", &uri]);
            assert_eq!(read["contents"][0]["uri"], uri);
            assert_eq!(read["contents"][0]["mimeType"], "application/json");
        }
        let templates = self.request(era, "resources/templates/list", &[]);
        assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 1);
        let prompts = self.request(era, "prompts/list", &[]);
        assert_eq!(prompts["prompts"], json!([]));
    }
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let entries = list.as_array().into_iter().flatten();
    entries
        .filter_map(|entry| entry[key].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn over_http_with_a_session() {
    let server = Server::start();
    Target::Http(&server).walk("legacy", "2025-11-25");
    server.stop();
}

#[test]
fn over_http_modern() {
    let server = Server::start();
    Target::Http(&server).walk("modern", "2026-07-28");
    server.stop();
}

#[test]
fn over_http_with_era_detection() {
    let server = Server::start();
    let initialized = Target::Http(&server).request("auto", "initialize", &[]);
    assert_eq!(initialized["protocolVersion"], "2026-07-28");
    server.stop();
}

#[test]
fn over_stdio_with_a_session() {
    Target::Stdio(Home::with_config("sources: {}\n")).walk("legacy", "2025-11-25");
}

#[test]
fn over_stdio_modern() {
    Target::Stdio(Home::with_config("sources: {}\n")).walk("modern", "2026-07-28");
}

/// Fails for a tool schema that some client could not use.
#[test]
fn every_schema_is_portable() {
    let server = Server::start();
    let tools = Target::Http(&server).request("modern", "tools/list", &["--strict"]);
    assert_eq!(
        names(&tools["tools"], "name"),
        and_gateway_tools(&["system__health"])
    );
    server.stop();
}
