//! The differences declared in `tests/parity.txt`: removes them from the records and notes which
//! occurred.

mod treatment;

use super::comparison::count_differing;
use super::recorder::Entry;
use super::server_kind::ServerKind;
use treatment::Treatment;

pub(super) use treatment::is_for_apps;

const TABLE: &str = include_str!("../../parity.txt");

/// A server and the endpoint used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    pub(super) server: ServerKind,
    pub(super) at: Endpoint,
}

/// What decides which lines apply to a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) source: &'static str,
    pub(super) at: Endpoint,
    /// Whether the server is one of `servers.txt`.
    pub(super) is_listed: bool,
    /// Whether a client of the modern era is compared with a direct client of the legacy era.
    pub(super) is_bridged: bool,
    /// Whether two clients use the server at the same time.
    pub(super) has_two_clients: bool,
}

impl Scope {
    fn is_at(&self, place: &str) -> bool {
        match place {
            "bridged" => self.is_bridged,
            "two clients" => self.has_two_clients,
            _ => place == self.at.word(),
        }
    }
}

impl From<Comparison> for Scope {
    fn from(Comparison { server, at }: Comparison) -> Self {
        Self {
            source: server.source(),
            at,
            is_listed: false,
            is_bridged: false,
            has_two_clients: false,
        }
    }
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
    /// Whether it names this server, rather than a group of servers.
    names_server: bool,
    step: &'static str,
    at: Vec<&'static str>,
    treatment: Treatment,
    /// Whether it occurs every time.
    always: bool,
}

impl Differences {
    pub(super) fn of(scope: impl Into<Scope>) -> Self {
        let scope = scope.into();
        let lines = TABLE.lines().filter(|line| line.contains(" | "));
        let rows = lines.filter(|line| !line.starts_with('#'));
        Self(
            rows.filter_map(|row| Some((read(row, scope)?, false)))
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

    /// Removes the declared differences from two records. Only those count as occurred without
    /// which the records would differ.
    pub(super) fn apply_to_pair(&mut self, direct: &mut [Entry], through: &mut [Entry]) {
        for (direct, through) in direct.iter_mut().zip(through) {
            for (difference, seen) in &mut self.0 {
                if !direct.step.starts_with(difference.step) {
                    continue;
                }
                let before = count_differing(&direct.outcome, &through.outcome);
                for outcome in [&mut direct.outcome, &mut through.outcome] {
                    difference.treatment.apply(outcome, &difference.at);
                }
                *seen |= count_differing(&direct.outcome, &through.outcome) < before;
            }
        }
    }

    /// The lines that must occur: whether they name the server, and whether they occurred.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'static str, bool, bool)> {
        let required = self.0.iter().filter(|(one, _)| one.always);
        required.map(|(one, seen)| (one.line, one.names_server, *seen))
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
fn read(line: &'static str, scope: Scope) -> Option<Difference> {
    let columns: Vec<_> = line.split(" | ").collect();
    let [servers, places, step, at, treatment] = columns[..] else {
        panic!("expected five columns: {line}");
    };
    let is_here = places == "*" || places.split(", ").any(|place| scope.is_at(place));
    let mut servers = servers.split(' ');
    let names_server = servers.clone().any(|server| server == scope.source);
    let is_meant = servers.any(|server| match server.strip_suffix('*') {
        Some(start) => scope.source.starts_with(start),
        None => server == scope.source || (server == "table" && scope.is_listed),
    });
    let always = treatment.strip_suffix(" ?");
    (is_here && is_meant).then(|| Difference {
        line,
        names_server,
        step: step.trim_matches('*'),
        at: at.split(' ').filter(|member| *member != "-").collect(),
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
