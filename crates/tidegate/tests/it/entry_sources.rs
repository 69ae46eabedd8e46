//! Every entry at `/mcp` names its source (S1.11, X8); at `/mcp/{source}` entries stay as they are.

use serde_json::{Value, json};

use crate::support::fixture::{Fixture, config};
use crate::support::messages::Modern;
use crate::support::{Post, Server, Session};

const SOURCE: &str = "dev.tidegate/source";

const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    (
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
    ),
];

fn sources_of<'a>(result: &'a Value, member: &str, key: &str) -> Vec<(&'a str, &'a str)> {
    let entries = result[member].as_array().unwrap().iter();
    let source = |entry: &'a Value| {
        let source = entry["_meta"][SOURCE].as_str();
        let source = source.unwrap_or_else(|| panic!("no source: {entry}"));
        (entry[key].as_str().unwrap(), source)
    };
    entries.map(source).collect()
}

fn assert_every_entry_names_its_source(method: &str, listed: &[(&str, &str)]) {
    for source in ["first", "second", "memory"] {
        let has_entries = listed.iter().any(|(_, of)| *of == source);
        assert!(has_entries, "{method}: no entries of {source}");
    }
    for (name, source) in listed {
        let prefix = match method {
            "tools/list" => format!("{source}__"),
            "prompts/list" => format!("{source}/"),
            // The second source lost all of its URIs to the first.
            _ if *source == "second" => "gateway://second/".to_owned(),
            _ => String::new(),
        };
        let is_page = name.starts_with("ui://");
        assert!(is_page || name.starts_with(&prefix), "{name} of {source}");
    }
}

#[test]
fn entries_name_their_source_where_all_sources_are_listed() {
    let fixture = Fixture::start(&["--apps", "--claim", "test://claimed"]);
    let sources = json!({
        "first": { "url": fixture.url() },
        "second": { "url": fixture.url() },
        "memory": { "kind": "memory" },
    });
    let gateway = Server::with_config(&config(&sources));
    let session = Session::open(gateway.address, "/mcp", "2025-11-25");
    for (method, member, key) in LISTS {
        let modern = gateway.modern(method, json!({})).result();
        let legacy = session.request(method, &json!({})).result();
        for listed in [modern, legacy] {
            assert_every_entry_names_its_source(method, &sources_of(&listed, member, key));
        }
    }
    gateway.stop();
    fixture.stop();
}

/// The endpoint of one source shows what the server itself lists.
#[test]
fn entries_are_unchanged_at_the_endpoint_of_one_source() {
    let fixture = Fixture::start(&["--apps"]);
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": fixture.url() } })));
    let list = |post: Post, method: &str, member: &str| {
        let mut listed = Modern::new(method, json!({})).post(post).result();
        listed[member].take()
    };
    for (method, member, _) in LISTS {
        let through = list(gateway.post().at("/mcp/fixture"), method, member);
        let direct = list(Post::to(fixture.address, "/mcp"), method, member);
        assert!(!through.to_string().contains(SOURCE), "{through}");
        if method != "tools/list" {
            assert_eq!(through, direct, "{method}");
        }
    }
    gateway.stop();
    fixture.stop();
}
