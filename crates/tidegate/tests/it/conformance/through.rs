//! The suite through the gateway: every scenario there is, at a server behind `/mcp/{source}` that
//! offers what the scenarios call. The server speaks in many ways; the answers are the same.

use serde_json::json;
use tidegate_testkit::fixture;

use super::ATTEMPTS;
use super::suite::Suite;
use crate::support::{Home, Running, Server};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Scenarios of the older set, all of which count; and of the newer one: those that count, and
/// three of those that do not.
const LEGACY_SCENARIOS: usize = 33;
const MODERN_SCENARIOS: usize = 40;

/// A stream that the server breaks off comes back so late that the client gets a stream too.
const SLOW: [&str; 2] = ["--retry-ms", "1200"];

/// About streams that are broken off and resumed, which a pipe and the oldest transport do not have:
/// nothing of it can be checked.
const OF_STREAMS: &str = "server-server-sse-polling";

/// About extensions: those that no server here has, and those that one has.
const SKILLS: &str = "server-sep-2640-";
const TASKS: &str = "server-tasks-";
const TASK_SCENARIOS: usize = 9;
/// The suite does not check these yet.
const TASK_NEWS: &str = "server-tasks-status-notifications";

#[test]
fn a_server_of_both_eras() {
    over_http(&SLOW, &[LEGACY, MODERN]);
}

#[test]
fn a_server_of_the_legacy_era() {
    over_http(&[&SLOW[..], &["--era", "legacy"]].concat(), &[LEGACY]);
}

#[test]
fn a_server_of_the_modern_era() {
    over_http(&["--era", "modern"], &[MODERN]);
}

#[test]
fn a_server_with_tasks() {
    let (home, args) = (Home::new(), ["--era", "modern", "--tasks"]);
    let (running, url) = fixture_at(&home, "/mcp", &args);
    let gateway = before(&json!({ "url": url }).to_string());
    let except = [SKILLS, TASK_NEWS];
    check_all(&gateway, MODERN, MODERN_SCENARIOS + TASK_SCENARIOS, &except);
    gateway.stop();
    running.stop();
}

#[test]
fn a_server_that_answers_in_events() {
    over_http(
        &[&SLOW[..], &["--format", "sse"]].concat(),
        &[LEGACY, MODERN],
    );
}

#[test]
fn a_server_that_answers_in_a_sequence_of_values() {
    over_http(&["--format", "sequence"], &[MODERN]);
}

#[test]
fn a_server_that_forgets_what_careless_servers_forget() {
    let flaws = [
        "--no-result-type",
        "--no-cache-hints",
        "--no-completions-capability",
    ];
    over_http(&flaws, &[MODERN]);
}

#[test]
fn a_server_of_the_oldest_transport() {
    over_http_at("/sse", &["--era", "legacy"], &[LEGACY], &[OF_STREAMS]);
}

#[test]
fn a_server_on_a_pipe() {
    let source = json!({ "command": fixture::program() });
    check(&source.to_string(), &[LEGACY, MODERN], &[OF_STREAMS]);
}

fn over_http(args: &[&str], revisions: &[&str]) {
    over_http_at("/mcp", args, revisions, &[]);
}

fn over_http_at(path: &str, args: &[&str], revisions: &[&str], except: &[&str]) {
    let home = Home::new();
    let (running, url) = fixture_at(&home, path, args);
    check(&json!({ "url": url }).to_string(), revisions, except);
    running.stop();
}

fn fixture_at(home: &Home, path: &str, args: &[&str]) -> (Running, String) {
    let mut command = home.command(fixture::program());
    command.args(["--listen", "127.0.0.1:0"]).args(args);
    let running = Running::start(&mut command);
    let url = running.stdout.find("http://").replace("/mcp", path);
    (running, url)
}

fn check(source: &str, revisions: &[&str], except: &[&str]) {
    let gateway = before(source);
    for revision in revisions {
        let least = if *revision == LEGACY {
            LEGACY_SCENARIOS
        } else {
            MODERN_SCENARIOS
        };
        let all = [except, &[SKILLS, TASKS]].concat();
        check_all(&gateway, revision, least - except.len(), &all);
    }
    gateway.stop();
}

/// A gateway before one source.
fn before(source: &str) -> Server {
    let patient = "limits: { startup_wait: 2m }\n";
    Server::with_config(&format!("{patient}sources:\n  fixture: {source}\n"))
}

fn check_all(gateway: &Server, revision: &str, least: usize, except: &[&str]) {
    let (suite, url) = (Suite::new(), format!("{}/fixture", gateway.url()));
    let mut deviations = String::new();
    for _ in 0..ATTEMPTS {
        deviations = suite.run_all_scenarios(&url, revision, least, except);
        if deviations.is_empty() {
            break;
        }
    }
    assert!(deviations.is_empty(), "{revision}: {deviations}");
}
