//! The pages of a list that changes between two requests.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::messages::Modern;
use crate::support::{Events, Home, Server};

/// A gateway with these files, three entries on a page.
fn start(files: &[&str]) -> Server {
    let home = Home::with_config(
        "limits: { page_size: 3 }\nsources: { docs: { kind: files, folder: docs } }\n",
    );
    fs::create_dir_all(home.path().join("docs")).unwrap();
    for name in files {
        fs::write(home.path().join("docs").join(name), name).unwrap();
    }
    Server::start_in(home, &[])
}

/// The names on one page, and the next cursor.
fn page(server: &Server, cursor: Option<&Value>) -> (Vec<String>, Option<Value>) {
    let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
    let result = server.modern("resources/list", params).result();
    let resources = result["resources"].as_array().unwrap().iter();
    let names = resources.map(|resource| resource["name"].as_str().unwrap().to_owned());
    (names.collect(), result.get("nextCursor").cloned())
}

fn remaining_pages(server: &Server, mut cursor: Option<Value>) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(position) = cursor {
        let (more, next) = page(server, Some(&position));
        names.extend(more);
        cursor = next;
    }
    names
}

/// Whatever was removed, each entry that is left is listed once: not skipped, and not repeated.
#[test]
fn the_next_page_continues_where_entries_have_vanished() {
    let files = ["a", "b", "c", "d", "e", "f", "g"];
    for removed in [
        // The last entry of the page, and all of them.
        vec!["b"],
        vec!["a", "b"],
        // Also the first entries of the next page.
        vec!["a", "b", "c"],
        vec!["b", "c", "d"],
    ] {
        let server = start(&files);
        let listen = json!({ "notifications": { "resourcesListChanged": true } });
        let listen = Modern::new("subscriptions/listen", listen);
        let mut events = Events::of(listen.open(server.post()));
        let (first, cursor) = page(&server, None);
        assert_eq!(first, ["docs/", "a", "b"]);
        for name in &removed {
            fs::remove_file(server.home.path().join("docs").join(name)).unwrap();
        }
        let is_listed = |name: &str| {
            let (first, cursor) = page(&server, None);
            let rest = remaining_pages(&server, cursor);
            first.iter().chain(&rest).any(|listed| listed == name)
        };
        while removed.iter().any(|name| is_listed(name)) {
            events.find("notifications/resources/list_changed");
        }
        let names = remaining_pages(&server, cursor);
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let left: BTreeSet<_> = ["c", "d", "e", "f", "g"].into();
        let left: Vec<_> = { left.iter().copied() }
            .filter(|name| !removed.contains(name))
            .collect();
        let files: Vec<_> = { names.iter().copied() }
            .filter(|name| files.contains(name))
            .collect();
        assert_eq!(files, left, "without {removed:?}: {names:?}");
        drop(events);
        server.stop();
    }
}
