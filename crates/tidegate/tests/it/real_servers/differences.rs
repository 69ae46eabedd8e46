//! The differences declared in `tests/parity.txt`: removes them from the records and notes which
//! occurred.

mod treatment;

use super::recorder::Entry;
use super::server_kind::ServerKind;
use treatment::Treatment;

const TABLE: &str = include_str!("../../parity.txt");

/// A server and the endpoint used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    pub(super) server: ServerKind,
    pub(super) at: Endpoint,
}

/// The endpoint and the client of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// At `/mcp/{source}`.
    OwnPath,
    /// At `/mcp`, with all sources.
    All,
    /// At `/mcp/{source}`, by a client that answers questions.
    WithQuestions,
}

impl Endpoint {
    fn word(self) -> &'static str {
        match self {
            Self::OwnPath => "own path",
            Self::All => "all sources",
            Self::WithQuestions => "questions",
        }
    }
}

/// The declared differences of one comparison, and whether they occurred.
pub(super) struct Differences(Vec<(Difference, bool)>);

/// One line of the table.
struct Difference {
    line: &'static str,
    step: &'static str,
    at: Vec<&'static str>,
    treatment: Treatment,
    /// Whether it occurs every time.
    always: bool,
}

impl Differences {
    pub(super) fn of(comparison_run: Comparison) -> Self {
        let lines = TABLE.lines().filter(|line| line.contains(" | "));
        let rows = lines.filter(|line| !line.starts_with('#'));
        Self(
            rows.filter_map(|row| Some((read(row, comparison_run)?, false)))
                .collect(),
        )
    }

    /// Removes the declared differences from a record.
    pub(super) fn apply(&mut self, record: &mut [Entry]) {
        for entry in record {
            for (difference, seen) in &mut self.0 {
                if entry.step.starts_with(difference.step) {
                    *seen |= difference
                        .treatment
                        .apply(&mut entry.outcome, &difference.at);
                }
            }
        }
    }

    /// The lines that were declared but did not occur.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let missing = self
            .0
            .iter()
            .filter(|(difference, seen)| difference.always && !seen);
        missing.map(|(difference, _)| difference.line).collect()
    }
}

/// Parses a row; `None` if it does not apply.
#[track_caller]
fn read(line: &'static str, comparison_run: Comparison) -> Option<Difference> {
    let columns: Vec<_> = line.split(" | ").collect();
    let [servers, places, step, at, treatment] = columns[..] else {
        panic!("expected five columns: {line}");
    };
    let is_here = places == "*"
        || places
            .split(", ")
            .any(|place| place == comparison_run.at.word());
    let source = comparison_run.server.source();
    let is_meant = servers
        .split(' ')
        .any(|server| match server.strip_suffix('*') {
            Some(start) => source.starts_with(start),
            None => server == source,
        });
    let always = treatment.strip_suffix(" ?");
    (is_here && is_meant).then(|| Difference {
        line,
        step: step.trim_matches('*'),
        at: at.split(' ').collect(),
        treatment: Treatment::read(always.unwrap_or(treatment)),
        always: always.is_none(),
    })
}

#[test]
fn every_difference_has_a_reason() {
    let mut reason = None;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_suffix(':') {
            _ if line.is_empty() => reason = None,
            Some(why) => reason = Some(why),
            None => assert!(reason.is_some(), "missing reason for: {line}"),
        }
    }
}
