//! Detection of a server's era, and of a change of it.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, at_fixture, before, call, config, received_for};
use crate::support::messages::MODERN;
use crate::support::{Home, Server};

const LEGACY: &str = "2025-11-25";
const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

/// The revision in a log line of a connected source.
fn revision(line: &str) -> &str {
    let (_, rest) = line.split_once("revision=").unwrap();
    rest.split_whitespace().next().unwrap()
}

fn source(line: &str) -> &str {
    let (_, rest) = line.split_once("source=\"").unwrap();
    rest.split('"').next().unwrap()
}

/// Waits until this many sources are connected; returns the revision of each.
fn wait_for_sources(gateway: &Server, count: usize) -> BTreeMap<String, String> {
    let lines = (0..count).map(|_| gateway.process.stderr.find("source connected"));
    lines
        .map(|line| (source(&line).to_owned(), revision(&line).to_owned()))
        .collect()
}

/// §5.3: however a server responds to an unknown `server/discover`, the gateway opens a session.
#[test]
fn server_without_discover_is_legacy() {
    let over_http = ["refused", "method-not-found", "html-page", "silent"];
    let over_stdio = ["refused", "method-not-found", "silent", "exit"];
    let legacy = |probe: &'static str| ["--era", "legacy", "--probe-response", probe];
    let fixtures = over_http.map(|probe| (probe, Fixture::start(&legacy(probe))));
    let mut sources = serde_json::Map::new();
    for (probe, fixture) in &fixtures {
        sources.insert(format!("http-{probe}"), json!({ "url": fixture.url() }));
    }
    for probe in over_stdio {
        let source = json!({ "command": program(), "args": legacy(probe) });
        sources.insert(format!("pipe-{probe}"), source);
    }
    let names: Vec<_> = sources.keys().cloned().collect();
    let gateway = Server::with_config(&config(&Value::Object(sources)));
    let there = wait_for_sources(&gateway, names.len());
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

/// A process that exits on `server/discover` gets it once: the next process does not.
#[test]
fn process_that_exits_on_discover_is_not_probed_again() {
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
    wait_for_sources(&gateway, 1);
    let count = || fs::read_to_string(&starts).unwrap().lines().count();
    assert_eq!(count(), 2, "one exited, one is used");
    call(at_fixture(&gateway), "fault_crash", &json!({}));
    wait_for_sources(&gateway, 1);
    call(at_fixture(&gateway), "test_simple_text", &json!({})).result();
    // The process of the client, that of the catalog again if there was time, and the next one of the
    // client. Each probed process would have been started twice.
    assert!((4..=5).contains(&count()), "{}", count());
    gateway.stop();
}

/// The time that a process needs to start does not count against its response to the probe.
#[test]
fn slow_starting_modern_server_is_detected() {
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
    assert_eq!(wait_for_sources(&gateway, 1)["fixture"], MODERN);
    let handshakes = received_for(at_fixture(&gateway), INITIALIZE);
    assert!(
        handshakes.is_empty(),
        "it had time to start: {handshakes:?}"
    );
    gateway.stop();
}

/// §5.3: an error that only the modern era has is no reason to fall back, with or without the id of
/// the request.
#[test]
fn modern_error_to_discover_is_retried() {
    for code in ["-32022", "-32020", "-32021"] {
        for more in [&[][..], &["--reject-without-id"]] {
            let rejection = ["--era", "modern", "--reject", code];
            let fixture = Fixture::start(&[&rejection, more].concat());
            let gateway = before(&fixture);
            assert_eq!(fixture.received_for(DISCOVER).len(), 2, "{code} {more:?}");
            assert_eq!(fixture.received_for(INITIALIZE).len(), 0, "{code} {more:?}");
            let first = &fixture.received_for(DISCOVER)[0]["id"];
            assert_ne!(first, &fixture.received_for(DISCOVER)[1]["id"]);
            gateway.stop();
            fixture.stop();
        }
    }
}

#[test]
fn modern_error_to_discover_is_retried_over_stdio() {
    let source = json!({ "command": program(), "args": ["--reject", "-32022"] });
    let gateway = Server::with_config(&config(&json!({ "fixture": source })));
    assert_eq!(wait_for_sources(&gateway, 1)["fixture"], MODERN);
    assert_eq!(received_for(at_fixture(&gateway), DISCOVER).len(), 2);
    gateway.stop();
}

/// §5.3: the server lists its revisions, which are legacy ones.
#[test]
fn server_with_only_legacy_revisions_is_legacy() {
    let fixture = Fixture::start(&["--era", "legacy", "--reject", "-32022"]);
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": fixture.url() } })));
    assert_eq!(wait_for_sources(&gateway, 1)["fixture"], LEGACY);
    assert_eq!(received_for(at_fixture(&gateway), DISCOVER).len(), 1);
    gateway.stop();
    fixture.stop();
}

#[test]
fn repeated_modern_error_is_reported_without_fallback() {
    let modern = ["--era", "modern", "--reject", "-32022"];
    let always = ["--reject-times", "1000000"];
    let fixture = Fixture::start(&[modern.as_slice(), &always].concat());
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": fixture.url() } })));
    let line = gateway.process.stderr.find("cannot connect to source");
    assert!(line.contains("unsupported protocol revision"), "{line}");
    assert_eq!(fixture.received_for(INITIALIZE).len(), 0);
    gateway.stop();
    fixture.stop();
}

/// §5.3: a server that requires credentials is reported with what to configure, and not taken for
/// legacy.
#[test]
fn missing_credentials_are_reported() {
    let fixture = Fixture::start(&["--era", "modern", "--key", "opensesame"]);
    let (url, right) = (fixture.url(), "Bearer opensesame");
    let with_header = |value: &str| json!({ "url": url, "headers": { "Authorization": value } });
    let sources = json!({
        "none": { "url": url }, "wrong": with_header("Bearer please"), "right": with_header(right),
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
    assert_eq!(
        received_for(gateway.post().at("/mcp/right"), INITIALIZE).len(),
        0
    );
    let log = gateway.stop().stderr;
    assert!(
        !log.contains("opensesame") && !log.contains("please"),
        "{log}"
    );
    fixture.stop();
}

/// §5.3: a server that cannot be reached is probed when it can.
#[test]
fn unreachable_server_is_not_taken_for_legacy() {
    let first = Fixture::start(&[]);
    let (address, url) = (first.address.to_string(), first.url());
    first.stop();
    let gateway = Server::with_config(&config(&json!({ "fixture": { "url": url } })));
    gateway.process.stderr.find("cannot connect to source");
    let fixture = Fixture::start_at(&address, &["--era", "modern"]);
    assert_eq!(wait_for_sources(&gateway, 1)["fixture"], MODERN);
    assert_eq!(fixture.received_for(INITIALIZE).len(), 0);
    gateway.stop();
    fixture.stop();
}

/// A restarted server is used in its new era.
#[test]
fn changed_era_is_detected() {
    for (first_era, second_era) in [("legacy", "modern"), ("modern", "legacy")] {
        let first = Fixture::start(&["--era", first_era]);
        let (address, gateway) = (first.address.to_string(), before(&first));
        first.stop();
        let second = Fixture::start_at(&address, &["--era", second_era]);
        let expected = if second_era == "modern" {
            MODERN
        } else {
            LEGACY
        };
        assert_eq!(wait_for_sources(&gateway, 1)["fixture"], expected);
        call(at_fixture(&gateway), "test_simple_text", &json!({})).result();
        gateway.stop();
        second.stop();
    }
}

/// A server that disappears is reported as down, even without calls.
#[test]
fn disappeared_server_is_reported() {
    for era in ["legacy", "modern"] {
        let fixture = Fixture::start(&["--era", era]);
        let gateway = before(&fixture);
        fixture.stop();
        gateway.process.stderr.find("cannot connect to source");
        let health = call(gateway.post(), "system__health", &json!({})).result();
        let status = &health["structuredContent"]["overallStatus"];
        assert_eq!(status, "Critical", "{era}: {health}");
        gateway.stop();
    }
}
