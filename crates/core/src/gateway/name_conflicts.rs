//! What is odd about the names that sources give: said once in the log, counted, and shown in the
//! health report for as long as it is so.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::view::Finding;
use crate::{ComponentHealth, GaugeValue, Health, HealthCheck, truncate_for_message};

/// NameConflicts that are remembered as said.
const MOST_KNOWN: usize = 10_000;

/// What was found in the newest merged catalog of all sources.
#[derive(Debug, Default)]
pub struct NameConflicts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    now: Vec<Finding>,
    said: HashSet<Finding>,
}

impl NameConflicts {
    /// Takes the name_conflicts of a newly merged catalog; what is new among them goes to the log.
    pub(super) fn replace(&self, found: &[Finding]) {
        let mut state = self.0.lock();
        for finding in found {
            if state.said.len() < MOST_KNOWN && state.said.insert(finding.clone()) {
                log(finding);
            }
        }
        state.now = found.to_vec();
    }
}

fn log(finding: &Finding) {
    match finding {
        Finding::Collision {
            list,
            name,
            kept_by,
            lost_by,
            listed_as,
        } => tracing::info!(
            list = list.member(),
            name = truncate_for_message(name),
            %kept_by,
            source = %lost_by,
            listed_as = truncate_for_message(listed_as),
            "two sources have the same name"
        ),
        Finding::Claim {
            uri,
            owner,
            claimed_by,
        } => tracing::warn!(
            uri = truncate_for_message(uri),
            %owner,
            source = %claimed_by,
            "a source claims what is another's own; it is not listed"
        ),
        Finding::Twice { list, name, source } => tracing::warn!(
            list = list.member(),
            name = truncate_for_message(name),
            %source,
            "a source lists a name twice; the second is not listed"
        ),
    }
}

impl HealthCheck for NameConflicts {
    fn name(&self) -> &str {
        "names"
    }

    fn report(&self) -> ComponentHealth {
        let state = self.0.lock();
        let count = |is: fn(&Finding) -> bool| {
            let count = state.now.iter().filter(|one| is(one)).count();
            u64::try_from(count).unwrap_or(u64::MAX)
        };
        let vital = |name, value| GaugeValue { name, value };
        let first = state.now.iter().find_map(complaint);
        ComponentHealth {
            health: first.map_or(Health::Good, Health::Degraded),
            gauges: vec![
                vital(
                    "collisions",
                    count(|one| matches!(one, Finding::Collision { .. })),
                ),
                vital("claims", count(|one| matches!(one, Finding::Claim { .. }))),
                vital(
                    "listed_twice",
                    count(|one| matches!(one, Finding::Twice { .. })),
                ),
            ],
            ..ComponentHealth::good()
        }
    }
}

/// What someone should do something about. A collision has been dealt with.
fn complaint(finding: &Finding) -> Option<String> {
    match finding {
        Finding::Claim {
            uri,
            owner,
            claimed_by,
        } => Some(format!(
            "`{claimed_by}` lists `{}`, which belongs to `{owner}` alone; it is not listed",
            truncate_for_message(uri)
        )),
        Finding::Collision { .. } | Finding::Twice { .. } => None,
    }
}
