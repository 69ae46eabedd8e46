//! The official conformance suite against the fixture itself: what the gateway must carry is there.

use std::net::SocketAddr;

use tidegate_testkit::fixture::{Fixture, ResponseFormat};
use tidegate_testkit::{MODERN, NEWEST_LEGACY};

use crate::support::Suite;

/// Some scenarios wait less than a second for an event, which a busy machine may miss.
const TRIES: usize = 3;

/// Not required of anybody, and required here.
const MORE: [&str; 3] = [
    "http-header-validation",
    "http-custom-header-server-validation",
    "json-schema-2020-12",
];

/// The extensions, which the fixture does not have.
fn is_extension(scenario: &str) -> bool {
    scenario.starts_with("tasks-") || scenario.starts_with("sep-2640-")
}

/// Runs everything and gives the scenarios, of which none may have failed.
async fn passes(fixture: Fixture, revision: &str) -> Vec<String> {
    // The suite takes only this address for one of this machine.
    let here = SocketAddr::from(([127, 0, 0, 1], 0));
    let running = fixture.start_at(here).await.expect("a port is free");
    let suite = Suite::find();
    let mut wrong = Vec::new();
    for _ in 0..TRIES {
        let mut results = suite.run(&running.url(), revision).await;
        results.retain(|scenario, _| !is_extension(scenario));
        wrong = results
            .iter()
            .filter(|(_, wrong)| !wrong.is_empty())
            .map(|(scenario, wrong)| format!("{scenario}: {wrong}"))
            .collect();
        if wrong.is_empty() {
            return results.into_keys().collect();
        }
    }
    panic!("{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_legacy_fixture_passes_every_scenario_of_its_era() {
    let fixture = Fixture::legacy(NEWEST_LEGACY);
    assert_eq!(passes(fixture, NEWEST_LEGACY).await.len(), 33);
}

#[tokio::test]
async fn a_modern_fixture_passes_every_scenario_of_its_era() {
    let ran = passes(Fixture::modern(), MODERN).await;
    assert_eq!(ran.len(), 37 + MORE.len(), "{ran:?}");
    for scenario in MORE {
        assert!(ran.iter().any(|one| one == scenario), "{scenario}");
    }
}

#[tokio::test]
async fn a_fixture_of_both_eras_that_answers_in_events_passes_both() {
    let fixture = Fixture::new().format(ResponseFormat::Sse);
    assert_eq!(passes(fixture.clone(), NEWEST_LEGACY).await.len(), 33);
    assert_eq!(passes(fixture, MODERN).await.len(), 37 + MORE.len());
}
