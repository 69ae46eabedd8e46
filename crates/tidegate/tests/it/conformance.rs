//! The official conformance suite against the real program, judged by `tests/conformance.txt` and
//! `tests/conformance-client.txt`.

mod client;
mod list;
mod suite;
mod through;

use std::sync::Mutex;
use std::thread;

use crate::support::Server;
use list::{CLIENT, Expectation, Row, SERVER, rows};
use suite::{Subject, Suite};

/// Scenarios at once: each is a process of its own.
const AT_ONCE: usize = 3;
/// Some scenarios wait less than a second for an event, which a busy machine may miss: what did not
/// end as it must runs again, alone.
const TRIES: usize = 3;

#[test]
fn the_list_has_every_scenario_that_the_suite_knows() {
    let known = Suite::new().known("--server");
    assert!(known.len() > 50, "the suite's list is not read: {known:?}");
    assert_eq!(differences(&rows(SERVER), known), "");
}

#[test]
fn what_is_not_run_has_a_reason() {
    for row in rows(SERVER).into_iter().chain(rows(CLIENT)) {
        match &row.expectation {
            Expectation::Pass => {}
            Expectation::NotRun { reason } => assert!(!reason.is_empty(), "{}", row.scenario),
            Expectation::Partly { but } => {
                assert!(!but.is_empty(), "{}", row.scenario);
                assert!(
                    but.iter().all(|one| !one.reason.is_empty()),
                    "{}",
                    row.scenario
                );
            }
        }
    }
}

#[test]
fn every_scenario_ends_as_the_list_says() {
    let server = Server::start();
    let subject = Subject::Server { url: server.url() };
    let problems = run(&subject, &rows(SERVER), TRIES);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    server.stop();
}

/// What is in the one list and not in the other, in words.
fn differences(rows: &[Row], mut known: Vec<(String, String)>) -> String {
    let owned = |(name, revision): (&str, &str)| (name.to_owned(), revision.to_owned());
    let mut listed: Vec<_> = rows.iter().flat_map(Row::runs).map(owned).collect();
    known.sort();
    listed.sort();
    let missing: Vec<_> = known.iter().filter(|one| !listed.contains(one)).collect();
    let stale: Vec<_> = listed.iter().filter(|one| !known.contains(one)).collect();
    match (missing.as_slice(), stale.as_slice()) {
        ([], []) if listed.len() != known.len() => "something is listed twice".to_owned(),
        ([], []) => String::new(),
        _ => format!("not in the list: {missing:?}; unknown to the suite: {stale:?}"),
    }
}

/// Runs every scenario of a list that is to be run; gives what did not end as it must.
fn run(subject: &Subject, rows: &[Row], tries: usize) -> Vec<String> {
    let suite = Suite::new();
    let runs: Vec<(&Row, &str)> = rows
        .iter()
        .filter(|row| !matches!(row.expectation, Expectation::NotRun { .. }))
        .flat_map(|row| row.runs().map(move |(_, revision)| (row, revision)))
        .collect();
    assert!(runs.len() > 10, "the list is not read: {}", runs.len());

    let judge = |row: &Row, revision: &str| suite.judge(subject, row, revision);
    let mut left = together(&runs, judge);
    for _ in 1..tries {
        left.retain_mut(|(row, revision, problem)| match judge(row, revision) {
            Ok(()) => false,
            Err(again) => {
                *problem = again;
                true
            }
        });
    }
    left.into_iter().map(|(_, _, problem)| problem).collect()
}

/// Runs a few at a time and gives those that did not end as they must.
fn together<'a>(
    runs: &[(&'a Row, &'a str)],
    judge: impl Fn(&Row, &str) -> Result<(), String> + Sync,
) -> Vec<(&'a Row, &'a str, String)> {
    let (waiting, failed) = (Mutex::new(runs.iter()), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((row, revision)) = next() {
                    if let Err(problem) = judge(row, revision) {
                        failed.lock().unwrap().push((*row, *revision, problem));
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap()
}
