//! Everything that is left out of a list is reported in its `_meta` and in the health report.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, config};
use crate::support::messages::{HEALTH, Modern};
use crate::support::{Events, Home, Server};

/// Why the list of a source is incomplete, at an endpoint.
fn missing(server: &Server, path: &str, method: &str, source: &str) -> String {
    let list = Modern::new(method, json!({})).post(server.post().at(path));
    let list = list.result();
    let reason = &list["_meta"]["dev.tidegate/missing"][source];
    reason.as_str().unwrap_or_default().to_owned()
}

fn component(server: &Server, name: &str) -> Value {
    let read = server.modern("resources/read", json!({ "uri": HEALTH }));
    let text = read.result()["contents"][0]["text"].clone();
    let report: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    let mut components = report["components"].as_array().unwrap().iter();
    let component = components.find(|component| component["name"] == name);
    component.unwrap().clone()
}

#[track_caller]
fn expect_warning(server: &Server, name: &str, part: &str) {
    let component = component(server, name);
    assert_eq!(component["status"], "Warning", "{component}");
    let message = component["message"].as_str().unwrap();
    assert!(message.contains(part), "{part}: {message}");
}

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

#[test]
fn entries_that_a_server_lists_twice() {
    let source = json!({ "command": program(), "args": ["--duplicate-entries"] });
    let server = Server::with_config(&config(&json!({ "fixture": source })));
    for path in ["/mcp", "/mcp/fixture"] {
        for (method, member) in LISTS {
            let reason = missing(&server, path, method, "fixture");
            let expected = format!("1 of its {member} are not listed");
            assert!(reason.contains(&expected), "{path} {method}: {reason}");
        }
    }
    expect_warning(&server, "names", "`fixture` lists the tool `");
    expect_warning(&server, "names", "3 more");
    server.stop();
}

#[test]
fn tools_with_invalid_header_annotations() {
    let fixture = Fixture::start(&["--era", "modern", "--invalid-header-annotations"]);
    let source = json!({ "url": fixture.url() });
    let server = Server::with_config(&config(&json!({ "fixture": source })));
    for path in ["/mcp", "/mcp/fixture"] {
        let reason = missing(&server, path, "tools/list", "fixture");
        let part = "have invalid header annotations and are left out";
        assert!(reason.contains(part), "{path}: {reason}");
    }
    expect_warning(&server, "fixture", "invalid header annotations");
    server.stop();
    fixture.stop();
}

#[test]
fn files_that_cannot_be_opened() {
    let home = Home::with_config("sources: { docs: { kind: files, folder: docs } }\n");
    fs::create_dir_all(home.path().join("docs")).unwrap();
    let file = home.path().join("docs/locked.txt");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        // Nothing is locked for the superuser.
        return;
    }
    let server = Server::start_in(home, &[]);
    let reason = missing(&server, "/mcp", "resources/list", "docs");
    assert!(reason.contains("`locked.txt`"), "{reason}");
    expect_warning(&server, "docs", "`locked.txt`");
    server.stop();
}

/// A file that grows over the limit leaves the list, and one that shrinks returns.
#[test]
fn files_that_cross_the_size_limit() {
    let home = Home::with_config(
        "sources: { docs: { kind: files, folder: docs, max_file_bytes: 10B } }\n",
    );
    fs::create_dir_all(home.path().join("docs")).unwrap();
    let file = home.path().join("docs/a.txt");
    fs::write(&file, "small").unwrap();
    let server = Server::start_in(home, &[]);
    let listen = json!({ "notifications": { "resourcesListChanged": true } });
    let listen = Modern::new("subscriptions/listen", listen);
    let mut events = Events::of(listen.open(server.post()));
    let is_listed = || {
        let list = server.modern("resources/list", json!({})).result();
        list["resources"].to_string().contains("docs/a.txt")
    };
    assert!(is_listed());
    for (text, expected) in [("larger than ten bytes", false), ("small", true)] {
        fs::write(&file, text).unwrap();
        // Announced, so that a client that has listed before lists again.
        loop {
            events.find("notifications/resources/list_changed");
            if is_listed() == expected {
                break;
            }
        }
        let reason = missing(&server, "/mcp", "resources/list", "docs");
        assert_eq!(reason.contains("`a.txt`"), !expected, "{reason}");
    }
    assert_eq!(component(&server, "docs")["status"], "Healthy");
    drop(events);
    server.stop();
}

/// Each reason is reported, not only the first.
#[test]
fn prompts_that_are_invalid_and_files_of_skills_that_are_too_large() {
    let home = Home::with_config("sources: { words: { kind: prompts, folder: words } }\n");
    fs::create_dir_all(home.path().join("words/tides")).unwrap();
    let write = |name: &str, text: &str| fs::write(home.path().join("words").join(name), text);
    write("broken.md", "---\narguments: [\n---\nx\n").unwrap();
    write(
        "tides/SKILL.md",
        "---\nname: tides\ndescription: Tides.\n---\nx\n",
    )
    .unwrap();
    write("tides/large.txt", &"x".repeat(4 * 1024 * 1024 + 1)).unwrap();
    let server = Server::start_in(home, &[]);
    for part in ["broken.md:", "`tides/large.txt`"] {
        let reason = missing(&server, "/mcp", "resources/list", "words");
        assert!(reason.contains(part), "{part}: {reason}");
        expect_warning(&server, "words", part);
    }
    server.stop();
}
