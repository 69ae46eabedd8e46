//! Reports conflicts between the names of sources: each once in the log, and all current ones in the
//! health report.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::GatewayHandle;
use crate::names::NameConflict;
use crate::{ComponentHealth, GaugeValue, Health, HealthCheck};

/// Conflicts that are remembered as logged.
const MAX_LOGGED_CONFLICTS: usize = 10_000;

/// Logs each conflict once, however many views have it.
#[derive(Default)]
pub(super) struct ConflictLog(Mutex<HashSet<NameConflict>>);

impl ConflictLog {
    pub(super) fn log_new(&self, conflicts: &[NameConflict]) {
        let mut logged = self.0.lock();
        for conflict in conflicts {
            if logged.len() < MAX_LOGGED_CONFLICTS && logged.insert(conflict.clone()) {
                conflict.log();
            }
        }
    }
}

/// The health of the names at the endpoint of all sources.
pub struct NameConflictCheck(GatewayHandle);

impl NameConflictCheck {
    pub fn new(gateway: GatewayHandle) -> Self {
        Self(gateway)
    }
}

impl HealthCheck for NameConflictCheck {
    fn name(&self) -> &str {
        "names"
    }

    fn report(&self) -> ComponentHealth {
        let names = self.0.all_names().ok();
        let conflicts = names.as_ref().map(|names| names.conflicts());
        let conflicts = conflicts.unwrap_or_default();
        let gauge = |name, is_counted: fn(&NameConflict) -> bool| {
            let count = conflicts.iter().filter(|conflict| is_counted(conflict));
            GaugeValue {
                name,
                value: u64::try_from(count.count()).unwrap_or(u64::MAX),
            }
        };
        let mut problems = conflicts.iter().filter_map(NameConflict::problem);
        let problem = problems.next().map(|first| match problems.count() {
            0 => first,
            more => format!("{first}; and {more} more, see the log"),
        });
        ComponentHealth {
            health: problem.map_or(Health::Healthy, Health::Warning),
            gauges: vec![
                gauge("collisions", |conflict| {
                    matches!(conflict, NameConflict::Collision(_))
                }),
                gauge("claims", |conflict| {
                    matches!(
                        conflict,
                        NameConflict::Claim { .. } | NameConflict::ReservedName(_)
                    )
                }),
                gauge("refused_templates", |conflict| {
                    matches!(conflict, NameConflict::RefusedTemplate { .. })
                }),
                gauge("listed_twice", |conflict| {
                    matches!(conflict, NameConflict::Duplicate { .. })
                }),
            ],
            ..ComponentHealth::healthy()
        }
    }
}
