//! Everything the servers list works for clients of every revision: every resource is read, every
//! template expanded, every prompt fetched, and every subscribable resource subscribed to.

mod completion_values;

use serde_json::json;

use super::client::{ClientCapabilities, Era};
use super::deployment::Deployment;
use super::server_kind::ServerKind;
use crate::support::messages::{LEGACY, watching};
use crate::walk::client::{Client, ModernClient, Sessions};
use crate::walk::{Pages, all, list};
use completion_values::CompletionValues;

/// URI prefixes of subscribable resources: those of servers that declare it, and the gateway's own.
const WATCHABLE: [&str; 3] = ["demo://", "memory://", "resource://system/"];

/// Walks through everything a client sees.
fn walk(client: &mut dyn Client, values: &CompletionValues) {
    let tools = list(client, "tools/list", "tools", Pages::Large);
    for server in ServerKind::ALL {
        let prefix = format!("{}__", server.source());
        let found = all(&tools, "name")
            .iter()
            .any(|name| name.starts_with(&prefix));
        assert!(found, "no tool of {}", server.source());
    }
    let resources = list(client, "resources/list", "resources", Pages::Large);
    for server in [
        ServerKind::Everything,
        ServerKind::EverythingSse,
        ServerKind::Memory,
        ServerKind::FastMcpHttp,
    ] {
        let mut of_this = resources.clone();
        server.names_at_all_sources().own("resources", &mut of_this);
        assert!(!of_this.is_empty(), "no resource of {}", server.source());
    }
    let mut uris = all(&resources, "uri");
    let templates = list(
        client,
        "resources/templates/list",
        "resourceTemplates",
        Pages::Large,
    );
    for template in all(&templates, "uriTemplate") {
        uris.push(values.expand(client, &template));
    }
    for uri in &uris {
        read(client, uri);
    }
    let prompts = list(client, "prompts/list", "prompts", Pages::Large);
    for prompt in &prompts {
        let arguments = values.arguments(client, prompt);
        let get = json!({ "name": prompt["name"], "arguments": arguments });
        let got = client.request("prompts/get", get);
        assert!(got["messages"][0].is_object(), "{prompt}: {got}");
    }
    assert_eq!(prompts.len(), 4 + 4 + 4 + 1 + 2 + 2, "{prompts:?}");
    uris.retain(|uri| is_watchable(uri));
    client.subscribe(&uris);
}

/// A subscription that the server does not support is rejected explicitly.
#[test]
fn unsupported_subscription_is_rejected() {
    let (deployment, uri) = (Deployment::shared(), "harbour://ports");
    let mut client = deployment.through("/mcp", Era::Legacy, ClientCapabilities::None);
    client.open();
    let refused = client
        .request("resources/subscribe", json!({ "uri": uri }))
        .answer;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(refused["error"]["data"]["uri"], uri, "{refused}");
    client.end();
    let mut client = deployment.through("/mcp", Era::Modern, ClientCapabilities::None);
    client.send_request(
        "subscriptions/listen",
        watching(&[uri, "memory://knowledge-graph"]),
    );
    let agreed = client.notification("notifications/subscriptions/acknowledged");
    let agreed = &agreed["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*agreed, json!(["memory://knowledge-graph"]));
}

fn read(client: &mut dyn Client, uri: &str) {
    let read = client.request("resources/read", json!({ "uri": uri }));
    let contents = &read["contents"][0];
    assert_eq!(contents["uri"], uri, "{read}");
    let has = |what: &str| contents[what].is_string();
    assert!(has("text") || has("blob"), "{read}");
}

fn is_watchable(uri: &str) -> bool {
    let native = match uri.strip_prefix("gateway://") {
        Some(qualified) => qualified.split_once('/').unwrap().1,
        None => uri,
    };
    WATCHABLE.iter().any(|start| native.starts_with(start))
}

/// A client of the endpoint of all sources.
fn over_all(open: impl FnOnce(&Deployment) -> Box<dyn Client>) {
    let deployment = Deployment::shared();
    let _turns = deployment.lock_all();
    walk(
        open(&deployment).as_mut(),
        &CompletionValues::at(&deployment),
    );
}

fn with_a_session(revision: &'static str) {
    over_all(|deployment| Box::new(Sessions::open(deployment.gateway(), "/mcp", revision)));
}

#[test]
fn in_2024_11_05() {
    with_a_session(LEGACY[0]);
}

#[test]
fn in_2025_03_26() {
    with_a_session(LEGACY[1]);
}

#[test]
fn in_2025_06_18() {
    with_a_session(LEGACY[2]);
}

#[test]
fn in_2025_11_25() {
    with_a_session(LEGACY[3]);
}

#[test]
fn in_2026_07_28() {
    over_all(|deployment| Box::new(ModernClient::new(deployment.gateway(), "/mcp")));
}
