//! Everything listed works: for each revision and endpoint, over all built-in sources, every
//! resource is read, every template expanded, every prompt fetched, every tool called and every
//! resource subscribed to.

mod all_sources;
pub(crate) mod client;
mod completion_values;
mod reverse;

use serde_json::{Value, json};

use crate::support::messages::LEGACY;
use crate::support::{Server, Stdio};
use all_sources::{ENDPOINTS, Endpoint};
use client::{Client, ModernClient, Sessions, SseClient, StdioClient};

const OLDEST: &str = LEGACY[0];

/// Walks through everything a client sees at an endpoint.
fn walk(client: &mut dyn Client, endpoint: &Endpoint, pages: Pages) {
    all_sources::add_memory_entries(client, endpoint);
    let lists = ["tools", "prompts", "resources", "resourceTemplates"];
    let [tools, prompts, resources, templates] = lists.map(|key| {
        let method = match key {
            "resourceTemplates" => "resources/templates/list".to_owned(),
            key => format!("{key}/list"),
        };
        match endpoint.has(key) {
            true => list(client, &method, key, pages),
            false => Vec::new(),
        }
    });
    assert_eq!(all(&tools, "name"), endpoint.tools());
    let counts = [prompts.len(), resources.len(), templates.len()];
    assert_eq!(counts, endpoint.counts, "{}", endpoint.path);
    for resource in &resources {
        let uri = resource["uri"].as_str().unwrap();
        let contents = read(client, uri);
        assert_eq!(contents["mimeType"], resource["mimeType"], "{uri}");
    }
    for template in all(&templates, "uriTemplate") {
        let uri = completion_values::expanded(client, &template);
        read(client, &uri);
    }
    for prompt in &prompts {
        let arguments = completion_values::arguments(client, prompt);
        let get = json!({ "name": prompt["name"], "arguments": arguments });
        let got = client.request("prompts/get", get);
        assert!(got["messages"][0].is_object(), "{got}");
    }
    for tool in all(&tools, "name") {
        let call = json!({ "name": tool, "arguments": all_sources::arguments(&tool) });
        let called = client.request("tools/call", call);
        assert_ne!(called["isError"], true, "{tool}: {called}");
        assert!(called["content"][0].is_object(), "{called}");
    }
    client.subscribe(&all(&resources, "uri"));
}

fn read(client: &mut dyn Client, uri: &str) -> Value {
    let read = client.request("resources/read", json!({ "uri": uri }));
    let contents = &read["contents"][0];
    assert_eq!(contents["uri"], uri, "{read}");
    assert!(
        contents["text"].is_string() ^ contents["blob"].is_string(),
        "{read}"
    );
    contents.clone()
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pages {
    Large,
    /// One entry per page.
    Small,
}

impl Pages {
    fn config(self) -> &'static str {
        match self {
            Self::Large => "",
            Self::Small => "limits: { page_size: 1 }\n",
        }
    }
}

/// All entries of a list, following its cursors.
pub(crate) fn list(client: &mut dyn Client, method: &str, key: &str, pages: Pages) -> Vec<Value> {
    let (mut entries, mut params) = (Vec::new(), json!({}));
    // A limit, in case the cursors form a cycle.
    for _ in 0..100 {
        let page = client.request(method, params);
        let found = page[key]
            .as_array()
            .unwrap_or_else(|| panic!("{method}: {page}"));
        assert!(
            pages == Pages::Large || found.len() <= 1,
            "{method}: {page}"
        );
        entries.extend(found.iter().cloned());
        match page.get("nextCursor") {
            None => return entries,
            Some(cursor) => params = json!({ "cursor": cursor }),
        }
    }
    panic!("{method} has more than 100 pages");
}

pub(crate) fn all(entries: &[Value], key: &str) -> Vec<String> {
    let keys = entries.iter().map(|entry| entry[key].as_str().unwrap());
    keys.map(str::to_owned).collect()
}

/// Every revision at every endpoint of one gateway.
fn over_http(pages: Pages) {
    let server = Server::start_in(all_sources::home(pages.config()), &[]);
    for endpoint in &ENDPOINTS {
        for revision in LEGACY {
            walk(
                &mut Sessions::open(&server, endpoint.path, revision),
                endpoint,
                pages,
            );
        }
        walk(
            &mut ModernClient::new(&server, endpoint.path),
            endpoint,
            pages,
        );
    }
    server.stop();
}

#[test]
fn everything_listed_works_over_http() {
    over_http(Pages::Large);
}

#[test]
fn everything_listed_works_over_http_with_small_pages() {
    over_http(Pages::Small);
}

/// Every revision, each in its own process.
fn over_stdio(pages: Pages) {
    let endpoint = &ENDPOINTS[0];
    for revision in LEGACY {
        let mut stdio = Stdio::start_in(all_sources::home(pages.config()));
        stdio.initialize(revision);
        let mut client = StdioClient::legacy(stdio, revision);
        walk(&mut client, endpoint, pages);
        client.end();
    }
    let mut client = StdioClient::modern(Stdio::start_in(all_sources::home(pages.config())));
    walk(&mut client, endpoint, pages);
    client.end();
}

#[test]
fn everything_listed_works_over_stdio() {
    over_stdio(Pages::Large);
}

#[test]
fn everything_listed_works_over_stdio_with_small_pages() {
    over_stdio(Pages::Small);
}

/// HTTP+SSE, which must be enabled.
#[test]
fn everything_listed_works_over_http_sse() {
    for pages in [Pages::Large, Pages::Small] {
        let config = format!("legacy_sse: true\n{}", pages.config());
        let server = Server::start_in(all_sources::home(&config), &[]);
        walk(&mut SseClient::open(&server, OLDEST), &ENDPOINTS[0], pages);
        server.stop();
    }
}

/// A small page has one entry and a cursor.
#[test]
fn small_pages_have_one_entry() {
    let server = Server::with_config(Pages::Small.config());
    let first = server.modern("resources/list", json!({})).result();
    assert_eq!(first["resources"].as_array().map(Vec::len), Some(1));
    assert!(first["nextCursor"].is_string(), "{first}");
    server.stop();
}
