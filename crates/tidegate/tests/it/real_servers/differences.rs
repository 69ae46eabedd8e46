//! The differences that are declared in `tests/parity.txt`: takes them out of what is compared, and
//! notes which of them were there.

mod how;

use super::actor::Entry;
use super::real::Real;
use how::How;

const TABLE: &str = include_str!("../../parity.txt");

/// What is played, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Played {
    pub(super) real: Real,
    pub(super) at: At,
}

/// Where a script is played that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// At `/mcp/{source}`.
    ItsOwnPath,
    /// At `/mcp`, among all others.
    All,
    /// At `/mcp/{source}`, by a client that can be asked something, and is.
    Asking,
}

impl At {
    fn word(self) -> &'static str {
        match self {
            Self::ItsOwnPath => "alone",
            Self::All => "among all",
            Self::Asking => "asking",
        }
    }
}

/// The differences that one play may have, and those it had.
pub(super) struct Differences(Vec<(Difference, bool)>);

/// One line of the table.
struct Difference {
    line: &'static str,
    step: &'static str,
    at: Vec<&'static str>,
    how: How,
    /// Whether it is there each time.
    always: bool,
}

impl Differences {
    pub(super) fn of(played: Played) -> Self {
        let lines = TABLE.lines().filter(|line| line.contains(" | "));
        let rows = lines.filter(|line| !line.starts_with('#'));
        Self(
            rows.filter_map(|row| Some((read(row, played)?, false)))
                .collect(),
        )
    }

    /// Makes a record comparable.
    pub(super) fn level(&mut self, record: &mut [Entry]) {
        for entry in record {
            for (difference, seen) in &mut self.0 {
                if entry.step.starts_with(difference.step) {
                    *seen |= difference.how.level(&mut entry.came, &difference.at);
                }
            }
        }
    }

    /// Those that were declared and never seen.
    pub(super) fn unseen(&self) -> Vec<&'static str> {
        let unseen = self.0.iter().filter(|(one, seen)| one.always && !seen);
        unseen.map(|(difference, _)| difference.line).collect()
    }
}

/// Reads a row; none if it is not about this.
#[track_caller]
fn read(line: &'static str, played: Played) -> Option<Difference> {
    let columns: Vec<_> = line.split(" | ").collect();
    let [servers, places, step, at, how] = columns[..] else {
        panic!("five columns, not this: {line}");
    };
    let is_here = places == "*" || places.split(", ").any(|place| place == played.at.word());
    let source = played.real.source();
    let is_meant = servers
        .split(' ')
        .any(|server| match server.strip_suffix('*') {
            Some(start) => source.starts_with(start),
            None => server == source,
        });
    let always = how.strip_suffix(" ?");
    (is_here && is_meant).then(|| Difference {
        line,
        step: step.trim_matches('*'),
        at: at.split(' ').collect(),
        how: How::read(always.unwrap_or(how)),
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
            None => assert!(reason.is_some(), "no reason is given for: {line}"),
        }
    }
}
