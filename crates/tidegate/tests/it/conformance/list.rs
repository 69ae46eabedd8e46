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
    /// Every check succeeds.
    Pass,
    /// Every check succeeds except these.
    Partly { exceptions: Vec<Exception> },
    /// Not supported.
    NotRun { reason: &'static str },
}

/// A check that is expected not to succeed.
pub(super) struct Exception {
    pub(super) check: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
}

impl Row {
    /// A scenario of an extension, of which every check succeeds.
    pub(super) fn extension(scenario: &'static str) -> Self {
        Self {
            scenario,
            revisions: EXTENSION,
            expectation: Expectation::Pass,
        }
    }

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
    let mut rows: Vec<Row> = Vec::new();
    for line in list.lines() {
        let (first, second, third, rest) = columns(line);
        if first.is_empty() || first.starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            rows.push(Row {
                scenario: first,
                revisions: second,
                expectation: expectation(third, rest),
            });
            continue;
        }
        match rows.last_mut().map(|row| &mut row.expectation) {
            Some(Expectation::Partly { exceptions }) => exceptions.push(Exception {
                check: first,
                status: second,
                reason: line.split_once(second).map_or("", |(_, rest)| rest.trim()),
            }),
            _ => panic!("a check must follow a scenario with `partly`: {line}"),
        }
    }
    rows
}

fn expectation(column: &str, rest: &'static str) -> Expectation {
    match column {
        "pass" => Expectation::Pass,
        "partly" => Expectation::Partly {
            exceptions: Vec::new(),
        },
        "not-run" => Expectation::NotRun { reason: rest },
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
