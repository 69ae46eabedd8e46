//! Whatever is listed works: for each revision and each transport, everything that is listed is read,
//! expanded, got, called and subscribed to, over all built-in sources, and all of it succeeds.

pub(crate) mod client;
mod filling;
mod house;
mod reverse;

use serde_json::{Value, json};

use crate::support::messages::LEGACY;
use crate::support::{Server, Stdio};
use client::{Client, OldStream, Pipe, Sessions, Stateless};
use house::{Door, HOUSE};

const OLDEST: &str = LEGACY[0];

/// Walks through everything a client can see behind a transport.
fn walk(client: &mut dyn Client, transport: &Door, pages: Pages) {
    house::settle(client, transport);
    let lists = ["tools", "prompts", "resources", "resourceTemplates"];
    let [tools, prompts, resources, templates] = lists.map(|key| {
        let method = match key {
            "resourceTemplates" => "resources/templates/list".to_owned(),
            key => format!("{key}/list"),
        };
        match transport.has(key) {
            true => list(client, &method, key, pages),
            false => Vec::new(),
        }
    });
    assert_eq!(all(&tools, "name"), transport.tools());
    let counts = [prompts.len(), resources.len(), templates.len()];
    assert_eq!(counts, transport.counts, "{}", transport.path);
    for resource in &resources {
        let uri = resource["uri"].as_str().unwrap();
        let contents = read(client, uri);
        assert_eq!(contents["mimeType"], resource["mimeType"], "{uri}");
    }
    for template in all(&templates, "uriTemplate") {
        let uri = filling::expanded(client, &template);
        read(client, &uri);
    }
    for prompt in &prompts {
        let arguments = filling::arguments(client, prompt);
        let get = json!({ "name": prompt["name"], "arguments": arguments });
        let got = client.request("prompts/get", get);
        assert!(got["messages"][0].is_object(), "{got}");
    }
    for tool in all(&tools, "name") {
        let call = json!({ "name": tool, "arguments": house::arguments(&tool) });
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
    /// Of one entry each.
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

/// Every revision, at every endpoint of one gateway.
fn over_http(pages: Pages) {
    let server = Server::start_in(house::home(pages.config()), &[]);
    for transport in &HOUSE {
        for revision in LEGACY {
            walk(
                &mut Sessions::open(&server, transport.path, revision),
                transport,
                pages,
            );
        }
        walk(
            &mut Stateless::new(&server, transport.path),
            transport,
            pages,
        );
    }
    server.stop();
}

#[test]
fn over_http_everything_listed_works() {
    over_http(Pages::Large);
}

#[test]
fn over_http_with_small_pages_too() {
    over_http(Pages::Small);
}

/// Every revision, each in a process of its own.
fn over_stdio(pages: Pages) {
    let transport = &HOUSE[0];
    for revision in LEGACY {
        let mut stdio = Stdio::start_in(house::home(pages.config()));
        stdio.initialize(revision);
        let mut client = Pipe::legacy(stdio, revision);
        walk(&mut client, transport, pages);
        client.end();
    }
    let mut client = Pipe::modern(Stdio::start_in(house::home(pages.config())));
    walk(&mut client, transport, pages);
    client.end();
}

#[test]
fn over_stdio_everything_listed_works() {
    over_stdio(Pages::Large);
}

#[test]
fn over_stdio_with_small_pages_too() {
    over_stdio(Pages::Small);
}

/// The transport of the oldest revision, which is there when it is switched on.
#[test]
fn over_the_oldest_transport_too() {
    for pages in [Pages::Large, Pages::Small] {
        let config = format!("legacy_sse: true\n{}", pages.config());
        let server = Server::start_in(house::home(&config), &[]);
        walk(&mut OldStream::open(&server, OLDEST), &HOUSE[0], pages);
        server.stop();
    }
}

/// A small page has one entry, and there are as many pages as entries.
#[test]
fn small_pages_are_small() {
    let server = Server::with_config(Pages::Small.config());
    let first = server.modern("resources/list", json!({})).result();
    assert_eq!(first["resources"].as_array().map(Vec::len), Some(1));
    assert!(first["nextCursor"].is_string(), "{first}");
    server.stop();
}
