//! Whatever the servers list works, for clients of every revision: every resource is read, every
//! template expanded, every prompt got, and everything that can be watched is watched.

mod fill;

use serde_json::json;

use super::client::{Can, Era};
use super::real::Real;
use super::world::World;
use crate::support::messages::{LEGACY, watching};
use crate::walk::client::{Client, Sessions, Stateless};
use crate::walk::{Pages, all, list};
use fill::Filling;

/// How URIs begin that can be watched: those of servers that say so, and the gateway's own.
const WATCHABLE: [&str; 3] = ["demo://", "memory://", "resource://system/"];

/// Walks through everything a client can see.
fn walk(client: &mut dyn Client, filling: &Filling) {
    let tools = list(client, "tools/list", "tools", Pages::Large);
    for real in Real::ALL {
        let prefix = format!("{}__", real.source());
        let found = all(&tools, "name")
            .iter()
            .any(|one| one.starts_with(&prefix));
        assert!(found, "no tool of {}", real.source());
    }
    let resources = list(client, "resources/list", "resources", Pages::Large);
    for real in [
        Real::Everything,
        Real::EverythingSse,
        Real::Memory,
        Real::FastMcpHttp,
    ] {
        let mut of_this = resources.clone();
        real.names_of_all().own("resources", &mut of_this);
        assert!(!of_this.is_empty(), "no resource of {}", real.source());
    }
    let mut uris = all(&resources, "uri");
    let templates = list(
        client,
        "resources/templates/list",
        "resourceTemplates",
        Pages::Large,
    );
    for template in all(&templates, "uriTemplate") {
        uris.push(filling.expand(client, &template));
    }
    for uri in &uris {
        read(client, uri);
    }
    let prompts = list(client, "prompts/list", "prompts", Pages::Large);
    for prompt in &prompts {
        let arguments = filling.arguments(client, prompt);
        let get = json!({ "name": prompt["name"], "arguments": arguments });
        let got = client.request("prompts/get", get);
        assert!(got["messages"][0].is_object(), "{prompt}: {got}");
    }
    assert_eq!(prompts.len(), 4 + 4 + 4 + 1 + 2 + 2, "{prompts:?}");
    uris.retain(|uri| is_watchable(uri));
    client.subscribe(&uris);
}

/// What its server does not tell about is said to be so, and not taken silently.
#[test]
fn what_cannot_be_watched_is_refused() {
    let (world, uri) = (World::shared(), "harbour://ports");
    let mut client = world.through("/mcp", Era::Legacy, Can::Nothing);
    client.greet();
    let refused = client
        .request("resources/subscribe", json!({ "uri": uri }))
        .answer;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(refused["error"]["data"]["uri"], uri, "{refused}");
    client.end();
    let mut client = world.through("/mcp", Era::Modern, Can::Nothing);
    client.say(
        "subscriptions/listen",
        watching(&[uri, "memory://knowledge-graph"]),
    );
    let agreed = client.hear("notifications/subscriptions/acknowledged");
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

/// A client of the whole gateway.
fn over_all(open: impl FnOnce(&World) -> Box<dyn Client>) {
    let world = World::shared();
    let _turns = world.turns();
    walk(open(&world).as_mut(), &Filling::at(&world));
}

fn with_a_session(revision: &'static str) {
    over_all(|world| Box::new(Sessions::open(world.gateway(), "/mcp", revision)));
}

#[test]
fn in_the_oldest_revision() {
    with_a_session(LEGACY[0]);
}

#[test]
fn in_the_second_revision() {
    with_a_session(LEGACY[1]);
}

#[test]
fn in_the_third_revision() {
    with_a_session(LEGACY[2]);
}

#[test]
fn in_the_newest_revision_with_sessions() {
    with_a_session(LEGACY[3]);
}

#[test]
fn in_the_revision_without() {
    over_all(|world| Box::new(Stateless::new(world.gateway(), "/mcp")));
}
