//! The official conformance suite against the fixture: it offers what the gateway must relay.

use std::net::SocketAddr;

use tidegate_testkit::fixture::{Fixture, ResponseFormat};
use tidegate_testkit::{MODERN, NEWEST_LEGACY};

use crate::support::Suite;

/// Some scenarios wait less than a second for an event, which a busy machine can miss.
const ATTEMPTS: usize = 3;

/// Optional scenarios that the fixture passes too.
const OPTIONAL: [&str; 3] = [
    "http-header-validation",
    "http-custom-header-server-validation",
    "json-schema-2020-12",
];

/// Scenarios of extensions that the fixture does not support in this configuration.
fn is_extension(scenario: &str) -> bool {
    scenario.starts_with("tasks-") || scenario.starts_with("sep-2640-")
}

/// Runs all scenarios; panics if one fails, otherwise returns their names.
async fn run_all(fixture: Fixture, revision: &str) -> Vec<String> {
    // The suite accepts only this loopback address.
    let here = SocketAddr::from(([127, 0, 0, 1], 0));
    let running = fixture.start_at(here).await.expect("a port is free");
    let suite = Suite::find();
    let mut failures = Vec::new();
    for _ in 0..ATTEMPTS {
        let mut results = suite.run(&running.url(), revision).await;
        results.retain(|scenario, _| !is_extension(scenario));
        failures = results
            .iter()
            .filter(|(_, failures)| !failures.is_empty())
            .map(|(scenario, failures)| format!("{scenario}: {failures}"))
            .collect();
        if failures.is_empty() {
            return results.into_keys().collect();
        }
    }
    panic!("{}", failures.join("\n"));
}

#[tokio::test]
async fn legacy_fixture_passes_every_legacy_scenario() {
    let fixture = Fixture::legacy(NEWEST_LEGACY);
    assert_eq!(run_all(fixture, NEWEST_LEGACY).await.len(), 33);
}

#[tokio::test]
async fn modern_fixture_passes_every_modern_scenario() {
    let ran = run_all(Fixture::modern(), MODERN).await;
    assert_eq!(ran.len(), 37 + OPTIONAL.len(), "{ran:?}");
    for scenario in OPTIONAL {
        assert!(ran.iter().any(|name| name == scenario), "{scenario}");
    }
}

#[tokio::test]
async fn dual_era_fixture_with_event_streams_passes_both_eras() {
    let fixture = Fixture::new().format(ResponseFormat::Sse);
    assert_eq!(run_all(fixture.clone(), NEWEST_LEGACY).await.len(), 33);
    assert_eq!(run_all(fixture, MODERN).await.len(), 37 + OPTIONAL.len());
}
