//! The suite through the gateway: every scenario against a server behind `/mcp/{source}` that
//! offers what the scenarios call, in many server configurations.

use serde_json::json;
use tidegate_testkit::{MODERN, NEWEST_LEGACY as LEGACY, fixture};

use super::list::{Row, SERVER, rows};
use super::suite::{SECOND_NEWEST_LEGACY, Subject, Suite};
use super::{ATTEMPTS, run};
use crate::support::{Home, Running, Server};

/// The legacy scenarios, all required; and the modern ones: the required and three optional ones.
const SECOND_NEWEST_LEGACY_SCENARIOS: usize = 27;
const LEGACY_SCENARIOS: usize = 33;
const MODERN_SCENARIOS: usize = 40;

/// The retry interval is so long that the client gets an event stream too.
const SLOW_RETRY: [&str; 2] = ["--retry-ms", "1200"];

/// Scenarios of resumed streams, which stdio and HTTP+SSE do not have.
const STREAM_RESUMPTION: &str = "server-server-sse-polling";

/// Scenarios of extensions: skills and tasks.
const SKILLS: &str = "server-sep-2640-";
const TASKS: &str = "server-tasks-";
const TASK_SCENARIOS: usize = 9;
/// Not checked by the suite yet.
const TASK_NOTIFICATIONS: &str = "server-tasks-status-notifications";

#[test]
fn dual_era_server() {
    over_http(&SLOW_RETRY, &[SECOND_NEWEST_LEGACY, LEGACY, MODERN]);
}

/// Like the reference server of the suite: it names only the modern revision in `server/discover`,
/// and declares more in a session.
#[test]
fn server_with_separate_eras() {
    over_http(
        &[&SLOW_RETRY[..], &["--separate-eras"]].concat(),
        &[SECOND_NEWEST_LEGACY, LEGACY, MODERN],
    );
}

#[test]
fn legacy_server() {
    over_http(&[&SLOW_RETRY[..], &["--era", "legacy"]].concat(), &[LEGACY]);
}

#[test]
fn modern_server() {
    over_http(&["--era", "modern"], &[MODERN]);
}

#[test]
fn server_with_tasks() {
    let (home, args) = (Home::new(), ["--era", "modern", "--tasks"]);
    let (running, url) = fixture_at(&home, "/mcp", &args);
    let gateway = before(&json!({ "url": url }).to_string());
    let except = [SKILLS, TASK_NOTIFICATIONS];
    check_all(&gateway, MODERN, MODERN_SCENARIOS + TASK_SCENARIOS, &except);
    gateway.stop();
    running.stop();
}

/// The scenarios of extensions call tools by the names that the server gives them, which both
/// endpoints accept.
#[test]
fn server_with_extensions_at_both_endpoints() {
    let source = json!({ "command": fixture::program(), "args": ["--tasks", "--skills"] });
    let gateway = before(&source.to_string());
    let mut rows = rows(SERVER);
    rows.retain(Row::is_extension);
    for url in [gateway.url(), format!("{}/fixture", gateway.url())] {
        let deviations = run(&Subject::Server { url }, &rows, ATTEMPTS);
        assert!(deviations.is_empty(), "{}", deviations.join("\n"));
    }
    gateway.stop();
}

#[test]
fn server_with_event_streams() {
    over_http(
        &[&SLOW_RETRY[..], &["--format", "sse"]].concat(),
        &[LEGACY, MODERN],
    );
}

#[test]
fn server_with_json_sequences() {
    over_http(&["--format", "sequence"], &[MODERN]);
}

#[test]
fn server_with_missing_optional_members() {
    let defects = [
        "--no-result-type",
        "--no-cache-hints",
        "--no-completions-capability",
    ];
    over_http(&defects, &[MODERN]);
}

#[test]
fn server_over_http_sse() {
    over_http_at(
        "/sse",
        &["--era", "legacy"],
        &[LEGACY],
        &[STREAM_RESUMPTION],
    );
}

#[test]
fn server_over_stdio() {
    let source = json!({ "command": fixture::program() });
    check(&source.to_string(), &[LEGACY, MODERN], &[STREAM_RESUMPTION]);
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
        let least = match *revision {
            SECOND_NEWEST_LEGACY => SECOND_NEWEST_LEGACY_SCENARIOS,
            LEGACY => LEGACY_SCENARIOS,
            _ => MODERN_SCENARIOS,
        };
        let all = [except, &[SKILLS, TASKS]].concat();
        check_all(&gateway, revision, least - except.len(), &all);
    }
    gateway.stop();
}

/// A gateway in front of one source.
fn before(source: &str) -> Server {
    let limits = "limits: { startup_wait: 2m }\n";
    Server::with_config(&format!("{limits}sources:\n  fixture: {source}\n"))
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
