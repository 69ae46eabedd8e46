//! Log messages that a server sends outside of calls reach the sessions that asked for them (S1.37, X7),
//! and nobody else.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, config};
use crate::support::messages::request;
use crate::support::{Events, Home, PATIENCE, Running, Server, Session, Stdio};

const FIXTURE: [&str; 3] = ["--era", "legacy", "--logs-outside-calls"];
const ENDPOINT: &str = "/mcp/fixture";
const REVISION: &str = "2025-11-25";
const WATCHED: &str = "test://watched-resource";

fn set_level(session: &Session, level: &str) {
    let answer = session.request("logging/setLevel", &json!({ "level": level }));
    assert_eq!(answer.result(), json!({}));
}

/// A call, so that the session has a connection to the server.
fn call(session: &Session) {
    let params = json!({ "name": "test_simple_text", "arguments": {} });
    session.request("tools/call", &params).result();
}

/// The data and the levels of the next log messages.
#[track_caller]
fn next_levels(events: &mut Events, count: usize) -> (Value, Vec<String>) {
    let messages = (0..count).map(|_| events.find("notifications/message")["params"].take());
    let messages: Vec<Value> = messages.collect();
    let levels = messages
        .iter()
        .map(|message| message["level"].as_str().unwrap().to_owned());
    (messages[0]["data"].clone(), levels.collect())
}

/// Each session has its own connection to the server, over stdio or HTTP, and its own level.
#[test]
fn a_session_gets_the_messages_of_its_own_connection_from_its_level_on() {
    let over_http = Fixture::start(&FIXTURE);
    for source in [
        json!({ "command": program(), "args": FIXTURE }),
        json!({ "url": over_http.url() }),
    ] {
        let gateway = Server::with_config(&config(&json!({ "fixture": source })));
        let sessions = [ENDPOINT, "/mcp"].map(|path| {
            let session = Session::open(gateway.address, path, REVISION);
            let events = session.listen();
            (session, events)
        });
        let [(first, mut first_events), (second, mut second_events)] = sessions;
        call(&first);
        let params = json!({ "name": "fixture__test_simple_text", "arguments": {} });
        second.request("tools/call", &params).result();
        set_level(&first, "error");
        let (_, levels) = next_levels(&mut first_events, 4);
        assert_eq!(
            levels,
            ["error", "critical", "alert", "emergency"],
            "{source}"
        );
        // A message of the first session's connection would be among these.
        set_level(&second, "emergency");
        let (_, levels) = next_levels(&mut second_events, 1);
        assert_eq!(levels, ["emergency"], "{source}");
        set_level(&second, "alert");
        let (data, levels) = next_levels(&mut second_events, 2);
        assert_eq!(levels, ["alert", "emergency"], "{source}");
        assert_eq!(data["burst"], 2, "{source}");
        gateway.stop();
    }
    over_http.stop();
}

/// A client that never set a level gets what the server sends, as it would directly.
#[test]
fn a_session_without_a_level_gets_every_message() {
    let source = json!({ "command": program(), "args": FIXTURE });
    let gateway = Server::with_config(&config(&json!({ "fixture": source })));
    let session = Session::open(gateway.address, ENDPOINT, REVISION);
    let mut events = session.listen();
    session.subscribe(WATCHED);
    let (_, levels) = next_levels(&mut events, 8);
    assert_eq!(
        (levels[0].as_str(), levels[7].as_str()),
        ("debug", "emergency")
    );
    gateway.stop();
}

#[test]
fn a_client_over_stdio_gets_the_messages_of_its_server() {
    let source = json!({ "command": program(), "args": FIXTURE });
    let home = Home::with_config(&config(&json!({ "fixture": source })));
    let mut client = Stdio::start_in(home);
    client.initialize(REVISION);
    client.request("logging/setLevel", &json!({ "level": "critical" }));
    client.send(&request(
        7,
        "resources/subscribe",
        &json!({ "uri": WATCHED }),
    ));
    let (mut levels, mut is_subscribed) = (Vec::new(), false);
    while levels.len() < 3 || !is_subscribed {
        let message = client.receive();
        is_subscribed |= message["id"] == 7;
        if message["method"] == "notifications/message" {
            levels.push(message["params"]["level"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(levels, ["critical", "alert", "emergency"]);
    client.process.end().expect_code(0);
}

fn with_keys(fixture: &Fixture, sharing: &str) -> Server {
    let config = json!({
        "limits": { "startup_wait": "2m" },
        "auth": { "keys": { "ada": "${env:ADA}", "bob": "${env:BOB}" }, "admins": ["ada"] },
        "sources": { "fixture": { "url": fixture.url(), "sharing": sharing } },
    });
    let home = Home::with_config(&config.to_string());
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("ADA", key_of("ada")).env("BOB", key_of("bob"));
    let process = Running::start(&mut command);
    Server::of(home, process)
}

fn key_of(principal: &str) -> String {
    principal.repeat(12)
}

fn open_as(gateway: &Server, principal: &str) -> (Session, Events) {
    let key = key_of(principal);
    let session = Session::open_as(gateway.address, ENDPOINT, REVISION, Some(&key));
    let events = session.listen();
    (session, events)
}

/// The sessions of one principal share a connection: those that set a level get its messages.
#[test]
fn sessions_that_share_a_connection_get_messages_of_their_principal_if_they_set_a_level() {
    let fixture = Fixture::start(&FIXTURE);
    let gateway = with_keys(&fixture, "principal");
    let (asking, mut asking_events) = open_as(&gateway, "ada");
    let (silent, mut silent_events) = open_as(&gateway, "ada");
    let (other, mut other_events) = open_as(&gateway, "bob");
    set_level(&asking, "alert");
    set_level(&other, "debug");
    asking.subscribe(WATCHED);
    let (of_ada, levels) = next_levels(&mut asking_events, 2);
    assert_eq!(levels, ["alert", "emergency"]);
    // Other messages would precede these.
    set_level(&silent, "emergency");
    silent.subscribe("test://static-text");
    let (later, levels) = next_levels(&mut silent_events, 1);
    assert_eq!(levels, ["emergency"]);
    assert_eq!(
        (&later["session"], later["burst"].as_u64()),
        (&of_ada["session"], Some(2))
    );
    other.subscribe(WATCHED);
    let (of_bob, levels) = next_levels(&mut other_events, 8);
    assert_eq!(levels[0], "debug");
    assert_ne!(of_bob["session"], of_ada["session"]);
    gateway.stop();
    fixture.stop();
}

/// The number of dropped messages in the metrics.
fn dropped_messages(gateway: &Server) -> Option<f64> {
    let get = gateway.post().method("GET").at("/metrics");
    let get = get.header("Authorization", &format!("Bearer {}", key_of("ada")));
    let metrics = get.send(b"").body;
    let name = "tidegate_component_dropped_log_messages{";
    let line = metrics.lines().find(|line| line.starts_with(name))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Where principals share a connection, nobody knows whose a message is: it is dropped and counted.
#[test]
fn messages_of_a_connection_that_principals_share_are_dropped_and_counted() {
    let fixture = Fixture::start(&FIXTURE);
    let gateway = with_keys(&fixture, "shared");
    let (session, mut events) = open_as(&gateway, "ada");
    set_level(&session, "debug");
    session.subscribe(WATCHED);
    let deadline = Instant::now() + PATIENCE;
    while dropped_messages(&gateway) != Some(8.0) {
        assert!(
            Instant::now() < deadline,
            "{:?}",
            dropped_messages(&gateway)
        );
        sleep(Duration::from_millis(20));
    }
    let update = json!({ "name": "update_resource", "arguments": { "uri": WATCHED } });
    session.request("tools/call", &update).result();
    loop {
        let message = events.next().unwrap();
        assert_ne!(message["method"], "notifications/message", "{message}");
        if message["method"] == "notifications/resources/updated" {
            break;
        }
    }
    gateway.stop();
    fixture.stop();
}
