//! MCP Inspector's command line.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::program;
use crate::support::messages::{HEALTH, MODELS, STATS, and_own_tools};
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server};

/// What the Inspector talks to.
enum Target<'a> {
    Http(&'a Server),
    Stdio(Home),
}

impl Target<'_> {
    /// Asks for a method and gives the result.
    #[track_caller]
    fn ask(&self, era: &str, method: &str, more: &[&str]) -> Value {
        let mut command = self.inspector();
        command.args(["--method", method, "--protocol-era", era]);
        command.args(["--format", "json", "-q"]).args(more);
        if let Self::Stdio(_) = self {
            command.args(["--", program(), "stdio", "--log-level", "warn"]);
        }
        let ended = Running::start(&mut command).end().expect_code(0);
        let mut said: Value = serde_json::from_str(&ended.stdout).unwrap();
        said["result"].take()
    }

    fn inspector(&self) -> Command {
        let home = match self {
            Self::Http(server) => &server.home,
            Self::Stdio(home) => home,
        };
        let mut command = Tools::find().script(home, "inspector/clients/launcher/build/index.js");
        // Without these it would look for a keychain, or for a browser.
        command.env("MCP_INSPECTOR_SECRET_STORE", "memory");
        command.arg("--cli");
        if let Self::Http(server) = self {
            command.arg(server.url()).arg("--stored-auth-only");
        }
        command
    }

    /// Everything it can ask for here.
    #[track_caller]
    fn walk(&self, era: &str, protocol: &str) {
        let hello = self.ask(era, "initialize", &[]);
        assert_eq!(hello["protocolVersion"], protocol);
        assert_eq!(hello["serverInfo"]["name"], "tidegate");

        let tools = self.ask(era, "tools/list", &[]);
        assert_eq!(
            names(&tools["tools"], "name"),
            and_own_tools(&["system__health"])
        );
        let called = self.ask(era, "tools/call", &["--tool-name", "system__health"]);
        assert_eq!(called["structuredContent"]["overallStatus"], "Healthy");

        let resources = self.ask(era, "resources/list", &[]);
        let uris = names(&resources["resources"], "uri");
        assert_eq!(uris, [HEALTH, MODELS, STATS]);
        for uri in uris {
            let read = self.ask(era, "resources/read", &["--uri", &uri]);
            assert_eq!(read["contents"][0]["uri"], uri);
            assert_eq!(read["contents"][0]["mimeType"], "application/json");
        }
        let templates = self.ask(era, "resources/templates/list", &[]);
        assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 1);
        let prompts = self.ask(era, "prompts/list", &[]);
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
fn over_http_stateless() {
    let server = Server::start();
    Target::Http(&server).walk("modern", "2026-07-28");
    server.stop();
}

#[test]
fn over_http_finding_out_by_itself() {
    let server = Server::start();
    let hello = Target::Http(&server).ask("auto", "initialize", &[]);
    assert_eq!(hello["protocolVersion"], "2026-07-28");
    server.stop();
}

#[test]
fn over_stdio_with_a_session() {
    Target::Stdio(Home::with_config("")).walk("legacy", "2025-11-25");
}

#[test]
fn over_stdio_stateless() {
    Target::Stdio(Home::with_config("")).walk("modern", "2026-07-28");
}

/// A tool whose schema some client could not use would fail this.
#[test]
fn every_schema_is_portable() {
    let server = Server::start();
    let tools = Target::Http(&server).ask("modern", "tools/list", &["--strict"]);
    assert_eq!(
        names(&tools["tools"], "name"),
        and_own_tools(&["system__health"])
    );
    server.stop();
}
