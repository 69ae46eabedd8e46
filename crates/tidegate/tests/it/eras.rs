//! How the gateway finds out in which era a server speaks, and that it has become another.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, at_fixture, before, call, config, heard};
use crate::support::messages::MODERN;
use crate::support::{Home, Server};

const LEGACY: &str = "2025-11-25";
const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

/// The revision in which a gateway says it speaks to a source.
fn revision(line: &str) -> &str {
    let (_, rest) = line.split_once("revision=").unwrap();
    rest.split_whitespace().next().unwrap()
}

fn source(line: &str) -> &str {
    let (_, rest) = line.split_once("source=\"").unwrap();
    rest.split('"').next().unwrap()
}

/// Waits until as many sources are there; gives the revision of each.
fn there(gateway: &Server, count: usize) -> BTreeMap<String, String> {
    let lines = (0..count).map(|_| gateway.process.stderr.find("the source is there"));
    lines
        .map(|line| (source(&line).to_owned(), revision(&line).to_owned()))
        .collect()
}

/// §5.3: whatever a server that does not know the question does with it, it is spoken to with a
/// session then.
#[test]
fn a_server_that_does_not_know_the_question_is_legacy() {
    let over_http = ["refused", "method-not-found", "html-page", "silent"];
    let on_a_pipe = ["refused", "method-not-found", "silent", "exit"];
    let legacy = |probe: &'static str| ["--era", "legacy", "--probe-response", probe];
    let fixtures = over_http.map(|probe| (probe, Fixture::start(&legacy(probe))));
    let mut sources = serde_json::Map::new();
    for (probe, fixture) in &fixtures {
        sources.insert(format!("http-{probe}"), json!({ "url": fixture.url() }));
    }
    for probe in on_a_pipe {
        let source = json!({ "command": program(), "args": legacy(probe) });
        sources.insert(format!("pipe-{probe}"), source);
    }
    let names: Vec<_> = sources.keys().cloned().collect();
    let gateway = Server::with_config(&config(&Value::Object(sources)));
    let there = there(&gateway, names.len());
    for name in names {
        assert_eq!(there[&name], LEGACY, "{name}");
        let post = gateway.post().at(&format!("/mcp/{name}"));
        call(post, "test_simple_text", &json!({})).result();
    }
    gateway.stop();
    for (_, fixture) in fixtures {
        fixture.stop();
    }
}

/// A process that ends when it is asked is asked once: the next one is not.
#[test]
fn a_process_that_ends_when_it_is_asked_is_not_asked_again() {
    let home = Home::new();
    let starts = home.path().join("starts");
    let (starts_at, fixture) = (starts.to_str().unwrap(), program());
    let script = format!("echo start >> '{starts_at}'; exec \"$@\"");
    let fixture = fixture.to_str().unwrap();
    let args = json!([
        "-c",
        script,
        "sh",
        fixture,
        "--era",
        "legacy",
        "--probe-response",
        "exit"
    ]);
    let sources = json!({ "fixture": { "command": "/bin/sh", "args": args } });
    home.write("tidegate.yaml", &config(&sources));
    let gateway = Server::start_in(home, &[]);
    there(&gateway, 1);
    let count = || fs::read_to_string(&starts).unwrap().lines().count();
    assert_eq!(count(), 2, "one ended, one is spoken to");
    call(at_fixture(&gateway), "fault_crash", &json!({}));
    there(&gateway, 1);
    call(at_fixture(&gateway), "test_simple_text", &json!({})).result();
    assert_eq!(count(), 3);
    gateway.stop();
}

/// A server that is not awake yet when it is asked seems legacy, until it says that it is not.
#[test]
fn a_server_that_wakes_up_late_is_still_found_out_about() {
    let args = json!([
        "-c",
        "sleep 6; exec \"$@\"",
        "sh",
        program(),
        "--era",
        "modern"
    ]);
    let sources = json!({ "fixture": { "command": "/bin/sh", "args": args } });
    let gateway = Server::with_config(&config(&sources));
    assert_eq!(there(&gateway, 1)["fixture"], MODERN);
    assert_eq!(heard(at_fixture(&gateway), INITIALIZE).len(), 1);
    gateway.stop();
}

/// §5.3: an error that only the modern era has is no reason to fall back, whether or not it says
/// which request it is about.
#[test]
fn a_server_that_knows_the_question_and_refuses_it_is_asked_again() {
    for code in ["-32022", "-32020", "-32021"] {
        for more in [&[][..], &["--reject-without-id"]] {
            let complaint = ["--era", "modern", "--reject", code];
            let fixture = Fixture::start(&[&complaint, more].concat());
            let gateway = before(&fixture);
            assert_eq!(fixture.heard(DISCOVER).len(), 2, "{code} {more:?}");
            assert_eq!(fixture.heard(INITIALIZE).len(), 0, "{code} {more:?}");
            let first = &fixture.heard(DISCOVER)[0]["id"];
            assert_ne!(first, &fixture.heard(DISCOVER)[1]["id"]);
            gateway.stop();
            fixture.stop();
        }
    }
}

#[test]
fn a_server_on_a_pipe_that_knows_the_question_and_refuses_it_is_asked_again() {
    let source = json!({ "command": program(), "args": ["--reject", "-32022"] });
    let gateway = Server::with_config(&config(&json!({ "fixture": source })));
    assert_eq!(there(&gateway, 1)["fixture"], MODERN);
    assert_eq!(heard(at_fixture(&gateway), DISCOVER).len(), 2);
    gateway.stop();
}

/// §5.3: it says which revisions it speaks, and they are legacy ones.
#[test]
fn a_server_that_names_legacy_revisions_alone_is_taken_at_its_word() {
    let fixture = Fixture::start(&["--era", "legacy", "--reject", "-32022"]);
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": fixture.url() } })));
    assert_eq!(there(&gateway, 1)["fixture"], LEGACY);
    assert_eq!(heard(at_fixture(&gateway), DISCOVER).len(), 1);
    gateway.stop();
    fixture.stop();
}

#[test]
fn a_server_that_refuses_the_question_again_is_told_of_and_gets_no_other() {
    let modern = ["--era", "modern", "--reject", "-32022"];
    let always = ["--reject-times", "1000000"];
    let fixture = Fixture::start(&[modern.as_slice(), &always].concat());
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": fixture.url() } })));
    let said = gateway.process.stderr.find("cannot be reached");
    assert!(said.contains("this revision of the protocol"), "{said}");
    assert_eq!(fixture.heard(INITIALIZE).len(), 0);
    gateway.stop();
    fixture.stop();
}

/// §5.3: who wants credentials is told of, with what to configure, and not taken for legacy.
#[test]
fn a_server_that_wants_credentials_is_told_of_and_works_with_them() {
    let fixture = Fixture::start(&["--era", "modern", "--key", "opensesame"]);
    let (url, right) = (fixture.url(), "Bearer opensesame");
    let with = |value: &str| json!({ "url": url, "headers": { "Authorization": value } });
    let sources = json!({
        "none": { "url": url }, "wrong": with("Bearer please"), "right": with(right),
    });
    let gateway = Server::with_config(&config(&sources));
    call(
        gateway.post().at("/mcp/right"),
        "test_simple_text",
        &json!({}),
    )
    .result();
    let health = call(gateway.post(), "system__health", &json!({})).result();
    let alerts = health["structuredContent"]["alerts"].to_string();
    for status in ["401", "403"] {
        assert!(alerts.contains(status), "{alerts}");
    }
    assert!(alerts.contains("`headers`"), "{alerts}");
    assert_eq!(heard(gateway.post().at("/mcp/right"), INITIALIZE).len(), 0);
    let log = gateway.stop().stderr;
    assert!(
        !log.contains("opensesame") && !log.contains("please"),
        "{log}"
    );
    fixture.stop();
}

/// §5.3: who is not reached has told nothing, and is found out about when it is there.
#[test]
fn a_server_that_is_not_there_yet_is_not_taken_for_legacy() {
    let first = Fixture::start(&[]);
    let (address, url) = (first.address.to_string(), first.url());
    first.stop();
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": url } })));
    gateway.process.stderr.find("cannot be reached");
    let fixture = Fixture::start_at(&address, &["--era", "modern"]);
    assert_eq!(there(&gateway, 1)["fixture"], MODERN);
    assert_eq!(fixture.heard(INITIALIZE).len(), 0);
    gateway.stop();
    fixture.stop();
}

/// A server that comes back as another is spoken to as what it is now.
#[test]
fn a_server_that_has_become_another_is_found_out_about() {
    for (before_that, then) in [("legacy", "modern"), ("modern", "legacy")] {
        let first = Fixture::start(&["--era", before_that]);
        let (address, gateway) = (first.address.to_string(), before(&first));
        first.stop();
        let second = Fixture::start_at(&address, &["--era", then]);
        let expected = if then == "modern" { MODERN } else { LEGACY };
        assert_eq!(there(&gateway, 1)["fixture"], expected);
        call(at_fixture(&gateway), "test_simple_text", &json!({})).result();
        gateway.stop();
        second.stop();
    }
}

/// A server that went away is seen to be down, also when nobody calls it.
#[test]
fn a_server_that_went_away_is_missed() {
    for era in ["legacy", "modern"] {
        let fixture = Fixture::start(&["--era", era]);
        let gateway = before(&fixture);
        fixture.stop();
        gateway.process.stderr.find("cannot be reached");
        let health = call(gateway.post(), "system__health", &json!({})).result();
        let status = &health["structuredContent"]["overallStatus"];
        assert_eq!(status, "Critical", "{era}: {health}");
        gateway.stop();
    }
}
