//! Parses `tests/conformance.txt` and `tests/conformance-client.txt`.

/// The gateway as a server.
pub(super) const SERVER: &str = include_str!("../../conformance.txt");

/// The gateway as a client.
pub(super) const CLIENT: &str = include_str!("../../conformance-client.txt");

/// What the suite names instead of revisions for scenarios of extensions.
const EXTENSION: &str = "extension";

/// A scenario and its expected outcome.
pub(super) struct Row {
    pub(super) scenario: &'static str,
    revisions: &'static str,
    pub(super) expectation: Expectation,
}

pub(super) enum Expectation {
    /// It succeeds with the gateway alone.
    Pass,
    /// It succeeds with a server that offers what it uses.
    WithServer {
        reason: &'static str,
    },
    NotRun {
        reason: &'static str,
    },
}

impl Row {
    /// Whether the scenario belongs to an extension, which has no revisions of the protocol.
    pub(super) fn is_extension(&self) -> bool {
        self.revisions == EXTENSION
    }

    /// The scenario with each of its revisions.
    pub(super) fn runs(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let scenario = self.scenario;
        self.revisions
            .split(',')
            .map(move |revision| (scenario, revision))
    }
}

pub(super) fn rows(list: &'static str) -> Vec<Row> {
    let is_row = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let rows = list.lines().filter(is_row).map(|line| {
        let (scenario, revisions, expected, reason) = columns(line);
        Row {
            scenario,
            revisions,
            expectation: expectation(expected, reason),
        }
    });
    rows.collect()
}

fn expectation(column: &str, reason: &'static str) -> Expectation {
    match column {
        "pass" => Expectation::Pass,
        "server" => Expectation::WithServer { reason },
        "not-run" => Expectation::NotRun { reason },
        other => panic!("unknown expectation: {other}"),
    }
}

/// Three columns and the rest of the line.
fn columns(line: &'static str) -> (&'static str, &'static str, &'static str, &'static str) {
    let column = |text: &'static str| {
        let text = text.trim_start();
        text.split_at(text.find(' ').unwrap_or(text.len()))
    };
    let (first, rest) = column(line);
    let (second, rest) = column(rest);
    let (third, rest) = column(rest);
    (first, second, third, rest.trim())
}
