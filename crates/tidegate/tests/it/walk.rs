//! Whatever is listed works: for each revision and each door, everything that is listed is read,
//! got, called and subscribed to, and all of it succeeds.

pub(crate) mod client;

use serde_json::{Value, json};

use crate::support::messages::{HEALTH, LEGACY, MODELS, STATS};
use crate::support::{Home, Server, Stdio};
use client::{Client, OldStream, Pipe, Sessions, Stateless};

/// One entry on each page, so that every list but the empty ones has several.
const SMALL_PAGES: &str = "limits: { page_size: 1 }\n";
/// Its tools cannot say whether they only read.
const OLDEST: &str = LEGACY[0];

/// Walks through everything a client can see.
fn walk(client: &mut dyn Client, tool: &str, pages: Pages) {
    let tools = list(client, "tools/list", "tools", pages);
    let resources = list(client, "resources/list", "resources", pages);
    let templates = list(
        client,
        "resources/templates/list",
        "resourceTemplates",
        pages,
    );
    let prompts = list(client, "prompts/list", "prompts", pages);
    assert_eq!(all(&tools, "name"), [tool]);
    assert_eq!(all(&resources, "uri"), [HEALTH, MODELS, STATS]);
    for template in all(&templates, "uriTemplate") {
        let uri = expanded(client, &template);
        let read = client.request("resources/read", json!({ "uri": uri }));
        assert_eq!(read["contents"][0]["uri"], uri, "{read}");
    }
    for uri in all(&resources, "uri") {
        let read = client.request("resources/read", json!({ "uri": uri }));
        let contents = &read["contents"][0];
        assert_eq!(contents["uri"], uri, "{read}");
        assert!(
            contents["text"].is_string() || contents["blob"].is_string(),
            "{read}"
        );
    }
    for name in all(&prompts, "name") {
        let got = client.request("prompts/get", json!({ "name": name }));
        assert!(got["messages"].is_array(), "{got}");
    }
    let oldest = client.revision() == OLDEST;
    for tool in tools.iter().filter(|tool| oldest || reads_only(tool)) {
        let call = json!({ "name": tool["name"], "arguments": {} });
        let called = client.request("tools/call", call);
        assert_ne!(called["isError"], true, "{called}");
        assert!(called["content"][0].is_object(), "{called}");
    }
    client.subscribe(&all(&resources, "uri"));
}

/// A template with the first completion of each of its variables.
fn expanded(client: &mut dyn Client, template: &str) -> String {
    let mut uri = template.to_owned();
    while let Some((before, rest)) = uri.clone().split_once('{') {
        let (expression, after) = rest.split_once('}').unwrap();
        let name = expression.trim_start_matches('+');
        let complete = json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": name, "value": "" },
        });
        let completed = client.request("completion/complete", complete);
        let value = &completed["completion"]["values"][0];
        let value = value.as_str().unwrap_or_else(|| panic!("{completed}"));
        uri = format!("{before}{value}{after}");
    }
    uri
}

fn reads_only(tool: &Value) -> bool {
    let reads_only = tool["annotations"]["readOnlyHint"] == true;
    assert!(reads_only, "every tool of `system` only reads: {tool}");
    reads_only
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pages {
    Large,
    /// Of one entry each.
    Small,
}

/// Everything of one list, following its cursors.
pub(crate) fn list(client: &mut dyn Client, method: &str, key: &str, pages: Pages) -> Vec<Value> {
    let (mut entries, mut params) = (Vec::new(), json!({}));
    // More pages than there can be: a cursor that leads in circles must not last for ever.
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
    panic!("{method} does not end");
}

pub(crate) fn all(entries: &[Value], key: &str) -> Vec<String> {
    let keys = entries.iter().map(|entry| entry[key].as_str().unwrap());
    keys.map(str::to_owned).collect()
}

/// Every revision, on one endpoint of one server.
fn over_http(server: Server, path: &str, tool: &str, pages: Pages) {
    for revision in LEGACY {
        walk(&mut Sessions::open(&server, path, revision), tool, pages);
    }
    walk(&mut Stateless::new(&server, path), tool, pages);
    server.stop();
}

/// Every revision, each in a process of its own.
fn over_stdio(config: &str, pages: Pages) {
    for revision in LEGACY {
        let mut stdio = Stdio::start_in(Home::with_config(config));
        stdio.initialize(revision);
        let mut client = Pipe::legacy(stdio, revision);
        walk(&mut client, "system__health", pages);
        client.end();
    }
    let mut client = Pipe::modern(Stdio::start_in(Home::with_config(config)));
    walk(&mut client, "system__health", pages);
    client.end();
}

#[test]
fn over_http_everything_listed_works() {
    over_http(Server::start(), "/mcp", "system__health", Pages::Large);
}

#[test]
fn over_http_with_small_pages_too() {
    let server = Server::with_config(SMALL_PAGES);
    over_http(server, "/mcp", "system__health", Pages::Small);
}

#[test]
fn of_one_source_under_its_own_names() {
    over_http(Server::start(), "/mcp/system", "health", Pages::Large);
}

#[test]
fn of_one_source_with_small_pages_too() {
    let server = Server::with_config(SMALL_PAGES);
    over_http(server, "/mcp/system", "health", Pages::Small);
}

#[test]
fn over_stdio_everything_listed_works() {
    over_stdio("", Pages::Large);
}

#[test]
fn over_stdio_with_small_pages_too() {
    over_stdio(SMALL_PAGES, Pages::Small);
}

/// The transport of the oldest revision, which is there when it is switched on.
#[test]
fn over_the_oldest_transport_too() {
    for config in ["", SMALL_PAGES] {
        let server = Server::with_config(&format!("legacy_sse: true\n{config}"));
        let pages = if config.is_empty() {
            Pages::Large
        } else {
            Pages::Small
        };
        walk(
            &mut OldStream::open(&server, OLDEST),
            "system__health",
            pages,
        );
        server.stop();
    }
}

/// A small page has one entry, and there are as many pages as entries.
#[test]
fn small_pages_are_small() {
    let server = Server::with_config(SMALL_PAGES);
    let first = server.modern("resources/list", json!({})).result();
    assert_eq!(first["resources"].as_array().map(Vec::len), Some(1));
    assert!(first["nextCursor"].is_string(), "{first}");
    server.stop();
}
