//! The client scenarios: the suite runs servers and checks the gateway as their client, with the
//! expectations in `tests/conformance-client.txt`. The suite starts `tidegate-driver`, which sends
//! the requests of a scenario to the gateway.

use tidegate_testkit::driver;

use super::list::{CLIENT, rows};
use super::suite::{Subject, Suite};
use super::{differences, run};
use crate::support::home::program;

/// Prefix of the authorization scenarios.
const AUTHORIZATION: &str = "auth/";

#[test]
fn list_contains_every_client_scenario() {
    let mut known = Suite::new().known("--client");
    known.retain(|(name, _)| !name.starts_with(AUTHORIZATION));
    assert!(
        known.len() > 15,
        "the suite listed too few scenarios: {known:?}"
    );
    assert_eq!(differences(&rows(CLIENT), known), "");
}

#[test]
fn client_scenarios_end_as_expected() {
    let quoted = |program: &str| format!("'{program}'");
    let driver = driver::program();
    let driver = quoted(driver.to_str().unwrap());
    let command = format!("{driver} --gateway {}", quoted(program()));
    let problems = run(&Subject::Client { command }, &rows(CLIENT), 1);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
