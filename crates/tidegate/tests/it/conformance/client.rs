//! The suite plays servers, and the gateway is the client it looks at: judged by
//! `tests/conformance-client.txt`. Who asks the gateway for what a scenario wants is
//! `tidegate-driver`, which the suite starts.

use tidegate_testkit::driver;

use super::list::{CLIENT, rows};
use super::suite::{Subject, Suite};
use super::{differences, run};
use crate::support::home::program;

/// How the names of scenarios begin that are about authorization.
const AUTHORIZATION: &str = "auth/";

#[test]
fn the_list_has_every_client_scenario_that_the_suite_knows() {
    let mut known = Suite::new().known("--client");
    known.retain(|(name, _)| !name.starts_with(AUTHORIZATION));
    assert!(known.len() > 15, "the suite's list is not read: {known:?}");
    assert_eq!(differences(&rows(CLIENT), known), "");
}

#[test]
fn every_client_scenario_ends_as_the_list_says() {
    let quoted = |program: &str| format!("'{program}'");
    let driver = driver::program();
    let driver = quoted(driver.to_str().unwrap());
    let command = format!("{driver} --gateway {}", quoted(program()));
    let problems = run(&Subject::Client { command }, &rows(CLIENT), 1);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
