//! What can be read can be subscribed to, and nothing else: at built-in sources and at servers of both
//! eras, for clients of both eras.

use std::fs;

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::Fixture;
use crate::support::messages::{Modern, watching};
use crate::support::{Events, Home, Post, Server, Session};

const REVISION: &str = "2025-11-25";
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

const SKILL: &str = "---\nname: tides\ndescription: Explains tides.\n---\nThe moon.\n";

/// An endpoint of a gateway, used by clients of both eras.
struct Endpoint {
    server: Server,
    path: String,
}

impl Endpoint {
    fn post(&self) -> Post {
        self.server.post().at(&self.path)
    }

    fn can_be_read(&self, uri: &str) -> bool {
        let read = Modern::new("resources/read", json!({ "uri": uri })).post(self.post());
        read.json()["result"].is_object()
    }

    /// The URIs that a modern client can subscribe to.
    fn acknowledged(&self, uris: &[&str]) -> Vec<String> {
        let listen = Modern::new("subscriptions/listen", watching(uris));
        let mut events = Events::of(listen.open(self.post()));
        let acknowledged = events.find(ACKNOWLEDGED);
        let uris = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
        let uris = uris.as_array().into_iter().flatten();
        uris.map(|uri| uri.as_str().unwrap().to_owned()).collect()
    }

    /// Checks that exactly the readable URIs can be subscribed to.
    #[track_caller]
    fn expect(&self, readable: &[&str], unreadable: &[&str]) {
        let all = [readable, unreadable].concat();
        let acknowledged = self.acknowledged(&all);
        let session = Session::open(self.server.address, &self.path, REVISION);
        for uri in all {
            let expected = readable.contains(&uri);
            assert_eq!(self.can_be_read(uri), expected, "read {uri}");
            let is_acknowledged = acknowledged.iter().any(|known| known == uri);
            assert_eq!(is_acknowledged, expected, "modern {uri}");
            let answer = session.request("resources/subscribe", &json!({ "uri": uri }));
            let answer = answer.json();
            assert_eq!(answer["result"] == json!({}), expected, "{uri}: {answer}");
            if !expected {
                assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
            }
        }
        session.end();
    }
}

fn store(server: &Server, key: &str, value: &str) {
    let arguments = json!({ "key": key, "value": value });
    let call = json!({ "name": "memory__store", "arguments": arguments });
    let result = server.modern("tools/call", call).result();
    assert_eq!(result["isError"], false, "{result}");
}

#[test]
fn what_a_built_in_source_can_read_can_be_subscribed_to() {
    let home = Home::with_config(
        "sources:\n  memory: { kind: memory }\n  docs: { kind: files, folder: docs, max_file_bytes: 100B }\n  \
         words: { kind: prompts, folder: words }\n  index: { kind: capability-index, enabled: true }\n",
    );
    for (name, text) in [
        ("docs/a.txt", "a"),
        ("docs/deep/b.txt", "b"),
        ("docs/.hidden", "x"),
        ("docs/large.txt", &"x".repeat(101)),
        ("words/tides/SKILL.md", SKILL),
    ] {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let server = Server::start_in(home, &[]);
    store(&server, "a?b", "1");
    let file = |path: &str| format!("file://{}/{path}", server.home.path().display());
    let files = ["docs/", "docs", "docs/a.txt", "docs/deep", "docs/deep/"].map(file);
    let qualified = format!("gateway://docs/{}", file("docs/a.txt"));
    let no_files = [
        "docs/.hidden",
        "docs/large.txt",
        "docs/none",
        "docs/../tidegate.yaml",
    ]
    .map(file);
    let readable = [
        "resource://system/health",
        "plugin://memory/memory_stats",
        "plugin://memory/entries/a?b",
        "plugin://memory/entries/a%3Fb",
        "plugin://memory/namespaces/default/entries/a%3fb",
        "gateway://memory/plugin://memory/stats",
        "capability-index://summary",
        "capability-index://elements/tools",
        "skill://tides/SKILL.md",
        "skill://tides/",
        "gateway://gateway/explain/resource://system/health",
        &qualified,
    ];
    let unreadable = [
        "resource://system",
        "resource://system/",
        "resource://system/none",
        "plugin://memory",
        "plugin://memory/entries",
        "plugin://memory/entries/none",
        "capability-index://elements",
        "capability-index://elements/tools/none",
        "capability-index://",
        "skill://tides/none.md",
        "skill://none/SKILL.md",
        "gateway://gateway/explain/",
        "gateway://gateway/none",
        "gateway://memory",
        "nobody://x",
    ];
    let readable: Vec<_> = { readable.into_iter() }
        .chain(files.iter().map(String::as_str))
        .collect();
    let unreadable: Vec<_> = { unreadable.into_iter() }
        .chain(no_files.iter().map(String::as_str))
        .collect();
    let endpoint = Endpoint {
        server,
        path: "/mcp".to_owned(),
    };
    endpoint.expect(&readable, &unreadable);
    endpoint.server.stop();
}

/// A server decides which subscriptions it accepts.
#[test]
fn what_a_server_accepts_can_be_subscribed_to() {
    for (era, is_process) in [
        ("legacy", true),
        ("legacy", false),
        ("modern", true),
        ("modern", false),
    ] {
        let flags = ["--era", era, "--refuse-unknown-subscriptions"];
        let fixture = (!is_process).then(|| Fixture::start(&flags));
        let source = match &fixture {
            Some(fixture) => json!({ "url": fixture.url() }),
            None => json!({ "command": program(), "args": flags }),
        };
        let config = json!({
            "limits": { "startup_wait": "2m" },
            "sources": { "fixture": source },
        });
        let mut endpoint = Endpoint {
            server: Server::with_config(&config.to_string()),
            path: "/mcp".to_owned(),
        };
        let readable = ["test://static-text", "test://template/7/data"];
        let unreadable = ["test://none", "test://template/7"];
        endpoint.expect(&readable, &unreadable);
        let qualify = |uri: &str| format!("gateway://fixture/{uri}");
        endpoint.expect(
            &readable.map(qualify).each_ref().map(String::as_str),
            &unreadable.map(qualify).each_ref().map(String::as_str),
        );
        endpoint.path = "/mcp/fixture".to_owned();
        endpoint.expect(&readable, &unreadable);
        if era == "legacy" {
            let session = Session::open(endpoint.server.address, &endpoint.path, REVISION);
            let refused = session.request("resources/subscribe", &json!({ "uri": "test://none" }));
            let error = refused.error();
            assert_eq!(error["message"], "unknown resource", "{error}");
        }
        endpoint.server.stop();
        if let Some(fixture) = fixture {
            fixture.stop();
        }
    }
}

#[test]
fn an_update_has_the_uri_that_was_subscribed_to() {
    let server = Server::with_config("sources: { memory: { kind: memory } }\n");
    let uri = "plugin://memory/entries/a?b";
    store(&server, "a?b", "1");
    let session = Session::open(server.address, "/mcp", REVISION);
    session.subscribe(uri);
    let mut legacy = session.listen();
    let listen = Modern::new("subscriptions/listen", watching(&[uri]));
    let mut modern = Events::of(listen.open(server.post()));
    modern.find(ACKNOWLEDGED);
    store(&server, "a?b", "2");
    for events in [&mut legacy, &mut modern] {
        assert_eq!(events.find(UPDATED)["params"]["uri"], uri);
    }
    let read = server.modern("resources/read", json!({ "uri": uri }));
    assert_eq!(read.result()["contents"][0]["text"], "2");
    drop((legacy, modern));
    server.stop();
}

/// The resource that explains a URI changes with the lists of resources.
#[test]
fn explanations_are_updated_when_resources_change() {
    let home = Home::with_config("sources: { docs: { kind: files, folder: docs } }\n");
    fs::create_dir_all(home.path().join("docs")).unwrap();
    fs::write(home.path().join("docs/a.txt"), "a").unwrap();
    let server = Server::start_in(home, &[]);
    let file = server.home.path().join("docs/b.txt");
    let uri = format!("gateway://gateway/explain/file://{}", file.display());
    let listen = Modern::new("subscriptions/listen", watching(&[&uri]));
    let mut events = Events::of(listen.open(server.post()));
    events.find(ACKNOWLEDGED);
    let explained = || -> Value {
        let read = server.modern("resources/read", json!({ "uri": uri }));
        let text = read.result()["contents"][0]["text"].clone();
        serde_json::from_str(text.as_str().unwrap()).unwrap()
    };
    let before = explained();
    fs::write(&file, "b").unwrap();
    while explained() == before {
        assert_eq!(events.find(UPDATED)["params"]["uri"], *uri);
    }
    drop(events);
    server.stop();
}
