//! A host made with the official package for MCP Apps shows the apps of example servers, and uses them:
//! each click in an app is a tool call through the gateway.

use std::net::TcpListener;

use serde_json::{Value, json};
use tidegate_testkit::unique_loopback_address;

use crate::support::tools::Tools;
use crate::support::{Running, Server};

/// Shows and uses all apps of these sources, at these endpoints. Returns the tools with apps by endpoint.
fn use_apps(sources: &[(&str, &str)], endpoints: &[&str], era: &str) -> Value {
    let tools = Tools::find();
    // The gateway has to know the origin of the page before the page is served.
    let listener = TcpListener::bind(unique_loopback_address()).unwrap();
    let host = listener.local_addr().unwrap();
    drop(listener);
    let source = |package: &str| {
        let script = format!("@modelcontextprotocol/server-{package}/dist/index.js");
        let command = tools.program("node", &script);
        json!({ "command": command[0], "args": [command[1], "--stdio"] })
    };
    let sources = sources
        .iter()
        .map(|(id, package)| ((*id).to_owned(), source(package)));
    let config = json!({
        "limits": { "startup_wait": "2m" },
        "allowed_origins": [format!("http://{host}")],
        "sources": sources.collect::<serde_json::Map<_, _>>(),
    });
    let gateway = Server::with_config(&config.to_string());
    let mut peer = tools.node_peer(&gateway.home, "apps_host.mjs");
    peer.args(["--url", &gateway.url(), "--era", era])
        .env("HOST_ADDRESS", host.to_string())
        .env("CHROMIUM", tools.chromium())
        .env("ENDPOINTS", endpoints.join(" "));
    let ended = Running::start(&mut peer).end().expect_code(0);
    gateway.stop();
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

#[test]
fn two_apps_of_one_page_use_the_endpoint_of_all_sources() {
    let sources = [("clock", "basic-vanillajs"), ("cohorts", "cohort-heatmap")];
    for era in ["legacy", "modern"] {
        let used = use_apps(&sources, &["/mcp"], era);
        let tools = ["clock__get-time", "cohorts__get-cohort-data"];
        assert_eq!(used, json!({ "/mcp": tools }));
    }
}

#[test]
fn two_apps_with_equal_names_use_the_endpoints_of_their_sources() {
    let sources = [("plain", "basic-vanillajs"), ("react", "basic-react")];
    let used = use_apps(&sources, &["/mcp/plain", "/mcp/react"], "modern");
    let tools = json!({ "/mcp/plain": ["get-time"], "/mcp/react": ["get-time"] });
    assert_eq!(used, tools);
}
