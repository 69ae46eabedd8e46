//! The official conformance suite against the real program, judged by `tests/conformance.txt`.

mod list;
mod suite;
mod through;

use std::sync::Mutex;
use std::thread;

use crate::support::Server;
use list::{Expectation, Row, rows};
use suite::Suite;

/// Scenarios at once: each is a process of its own.
const AT_ONCE: usize = 3;
/// Some scenarios wait less than a second for an event, which a busy machine may miss: what did not
/// end as it must runs again, alone.
const TRIES: usize = 3;

#[test]
fn the_list_has_every_scenario_that_the_suite_knows() {
    let suite = Suite::new();
    let mut known = suite.known();
    let mut listed: Vec<_> = rows()
        .iter()
        .flat_map(|row| {
            row.runs()
                .map(|(name, revision)| (name.to_owned(), revision.to_owned()))
        })
        .collect();
    known.sort();
    listed.sort();
    let missing: Vec<_> = known.iter().filter(|one| !listed.contains(one)).collect();
    let stale: Vec<_> = listed.iter().filter(|one| !known.contains(one)).collect();
    assert!(missing.is_empty(), "not in the list: {missing:?}");
    assert!(stale.is_empty(), "unknown to the suite: {stale:?}");
    assert_eq!(listed.len(), known.len(), "something is listed twice");
}

#[test]
fn what_is_not_run_has_a_reason() {
    for row in rows() {
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
    let (server, suite, rows) = (Server::start(), Suite::new(), rows());
    let url = server.url();
    let runs: Vec<(&Row, &str)> = rows
        .iter()
        .filter(|row| !matches!(row.expectation, Expectation::NotRun { .. }))
        .flat_map(|row| row.runs().map(move |(_, revision)| (row, revision)))
        .collect();
    assert!(runs.len() > 20, "the list is not read: {}", runs.len());

    let mut left = together(&runs, |row, revision| suite.judge(&url, row, revision));
    for _ in 1..TRIES {
        left.retain_mut(
            |(row, revision, problem)| match suite.judge(&url, row, revision) {
                Ok(()) => false,
                Err(again) => {
                    *problem = again;
                    true
                }
            },
        );
    }
    let problems: Vec<_> = left.into_iter().map(|(_, _, problem)| problem).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    server.stop();
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
