//! The result of one server and its line in the report.

use super::super::comparison::differing_steps;
use super::super::recorder::Entry;
use super::table::Row;

/// Maximum number of differing steps that are described for a comparison.
const DESCRIBED_STEPS: usize = 12;

/// The comparisons of one server.
pub(super) struct Outcome {
    name: &'static str,
    sdk: &'static str,
    eras: &'static str,
    steps: usize,
    differing_steps: usize,
    /// Descriptions of the unexplained differences.
    pub(super) problems: Vec<String>,
}

impl Outcome {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            name: row.name,
            sdk: row.sdk,
            eras: if row.is_modern { "both" } else { "legacy" },
            steps: 0,
            differing_steps: 0,
            problems: Vec::new(),
        }
    }

    /// Adds a comparison whose declared differences are already removed.
    pub(super) fn add(&mut self, what: &str, direct: &[Entry], through: &[Entry]) {
        self.steps += through.len();
        let differing: Vec<_> = differing_steps(direct, through).collect();
        self.differing_steps += differing.len();
        for (step, how) in differing.iter().take(DESCRIBED_STEPS) {
            let name = self.name;
            self.problems.push(format!("{name}, {what}: {step}\n{how}"));
        }
    }

    pub(super) fn heading() -> String {
        row_of("server", "SDK", "eras", "steps", "differences")
    }

    pub(super) fn line(&self) -> String {
        let (steps, differences) = (self.steps.to_string(), self.differing_steps.to_string());
        row_of(self.name, self.sdk, self.eras, &steps, &differences)
    }

    pub(super) fn failed_line(row: &Row) -> String {
        row_of(row.name, row.sdk, "", "", "failed")
    }
}

fn row_of(name: &str, sdk: &str, eras: &str, steps: &str, differences: &str) -> String {
    format!("{name:<24} {sdk:<20} {eras:<7} {steps:>6} {differences:>12}")
}
