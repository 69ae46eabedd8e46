//! The official conformance suite against the real program, with the expectations in
//! `tests/conformance.txt` and `tests/conformance-client.txt`.

mod client;
mod list;
mod suite;
mod through;

use std::sync::Mutex;
use std::thread;

use crate::support::Server;
use list::{CLIENT, Expectation, Row, SERVER, rows};
use suite::{Subject, Suite};

/// Scenarios that run concurrently; each is a process.
const CONCURRENCY: usize = 3;
/// Some scenarios wait less than a second for an event, which a busy machine can miss: a failed
/// scenario is repeated alone.
const ATTEMPTS: usize = 3;

#[test]
fn list_contains_every_server_scenario() {
    let known = Suite::new().known("--server");
    assert!(
        known.len() > 50,
        "the suite listed too few scenarios: {known:?}"
    );
    assert_eq!(differences(&rows(SERVER), known), "");
}

#[test]
fn exceptions_have_a_reason() {
    for row in rows(SERVER).into_iter().chain(rows(CLIENT)) {
        match row.expectation {
            Expectation::Pass => {}
            Expectation::WithServer { reason } | Expectation::NotRun { reason } => {
                assert!(!reason.is_empty(), "{}", row.scenario);
            }
        }
    }
}

#[test]
fn server_scenarios_pass_with_the_gateway_alone() {
    let server = Server::start();
    let subject = Subject::Server { url: server.url() };
    let mut rows = rows(SERVER);
    rows.retain(|row| matches!(row.expectation, Expectation::Pass));
    let problems = run(&subject, &rows, ATTEMPTS);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    server.stop();
}

/// The differences between the two lists, as text; empty if there are none.
fn differences(rows: &[Row], mut known: Vec<(String, String)>) -> String {
    let owned = |(name, revision): (&str, &str)| (name.to_owned(), revision.to_owned());
    let mut listed: Vec<_> = rows.iter().flat_map(Row::runs).map(owned).collect();
    known.sort();
    listed.sort();
    let missing: Vec<_> = known
        .iter()
        .filter(|exception| !listed.contains(exception))
        .collect();
    let stale: Vec<_> = listed
        .iter()
        .filter(|exception| !known.contains(exception))
        .collect();
    match (missing.as_slice(), stale.as_slice()) {
        ([], []) if listed.len() != known.len() => "a scenario is listed twice".to_owned(),
        ([], []) => String::new(),
        _ => format!("missing in the list: {missing:?}; unknown to the suite: {stale:?}"),
    }
}

/// Runs every scenario of a list; returns the checks that did not succeed.
fn run(subject: &Subject, rows: &[Row], attempts: usize) -> Vec<String> {
    let suite = Suite::new();
    let runs: Vec<(&Row, &str)> = rows
        .iter()
        .filter(|row| !matches!(row.expectation, Expectation::NotRun { .. }))
        .flat_map(|row| row.runs().map(move |(_, revision)| (row, revision)))
        .collect();
    assert!(
        runs.len() > 10,
        "the list has too few scenarios: {}",
        runs.len()
    );

    let run_scenario = |row: &Row, revision: &str| suite.run_scenario(subject, row, revision);
    let mut deviations = run_concurrently(&runs, run_scenario);
    for _ in 1..attempts {
        deviations.retain_mut(
            |(row, revision, problem)| match run_scenario(row, revision) {
                Ok(()) => false,
                Err(repeated) => {
                    *problem = repeated;
                    true
                }
            },
        );
    }
    deviations
        .into_iter()
        .map(|(_, _, problem)| problem)
        .collect()
}

/// Runs a few scenarios concurrently; returns the deviations.
fn run_concurrently<'a>(
    runs: &[(&'a Row, &'a str)],
    run_scenario: impl Fn(&Row, &str) -> Result<(), String> + Sync,
) -> Vec<(&'a Row, &'a str, String)> {
    let (waiting, failed) = (Mutex::new(runs.iter()), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..CONCURRENCY {
            scope.spawn(|| {
                while let Some((row, revision)) = next() {
                    if let Err(problem) = run_scenario(row, revision) {
                        failed.lock().unwrap().push((*row, *revision, problem));
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap()
}
